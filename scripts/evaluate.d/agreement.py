# SPDX-License-Identifier: Apache-2.0
"""Have `locus agree` run programs under several profilers, also with delays of known length, and make tables of what it says."""

import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import costs
import programs
import results
import tables
from figures import verdict

LEFT_OUT = 3  # the exit status where runs do not count, and the others do
DELAY_TARGET = 0.02  # of the error of Locus


@dataclasses.dataclass
class Asked:
    """What `locus agree` is asked of each program of some kinds."""

    name: str
    command: str
    file: str  # its result's, with the program's name
    seconds: int  # that are kept for all programs
    kinds: tuple

    def path(self, directory, program):
        return directory / (self.file % results.slug(program.name))


METHODS = Asked("agreement", "locus agree -n 2 -p locus,async,jfr --any-stderr", "agree-%s.json", 2_400, ("kernel", "program"))
DELAYS = Asked("delays", "locus agree -n 5 -p locus,async --truth --any-stderr", "delays-%s.json", 1_500, ("kernel",))


def run_one(asked, program, home, target, limit):
    """Runs a program under the profilers; what they say of it is in the file, unless there was no time or it failed."""
    with tempfile.TemporaryDirectory(prefix="locus-evaluate-") as work:
        words = [costs.LOCUS, *asked.command.split()[1:], "-o", work + "/runs", "-f", work + "/result.json", "--",
                 *programs.command(program, "full", home)]
        process = subprocess.Popen(words, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            told = process.communicate(timeout=limit)[1]
        except subprocess.TimeoutExpired:
            told = "its time is over"
        finally:
            if process.poll() is None:
                process.terminate()  # it ends the run that runs
                process.wait()
        result = pathlib.Path(work) / "result.json"
        if process.returncode in (0, LEFT_OUT) and result.exists():
            target.write_text(result.read_text(encoding="utf-8"), encoding="utf-8")
        else:
            print("evaluate: %s: %s is left out: %s" % (asked.name, program.name, told.strip()), file=sys.stderr)


def measure(asked, chosen, home, directory, seconds):
    """Runs the programs that have no result yet, one after the other, until the time is over."""
    start = time.monotonic()
    programs.build(home, chosen)
    for program in chosen:
        left, target = seconds - (time.monotonic() - start), asked.path(directory, program)
        if left > 0 and program.kind in asked.kinds and not target.exists():
            print("%s  %s  %s" % (time.strftime("%H:%M:%S"), asked.name, program.name), file=sys.stderr, flush=True)
            run_one(asked, program, home, target, left)


def read(asked, directory, all_programs):
    """{name: what `locus agree` says of the program} of those that were run."""
    files = {p.name: asked.path(directory, p) for p in all_programs}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.exists()}


def profilers(told):
    """The profilers of a program by name, without the run that has none and those that could not be run."""
    return {p["name"]: p for p in told["profilers"] if p["name"] != "bare" and p["absent"] is None and p["counted"]}


def methods_row(name, told, columns):
    have = profilers(told)
    least = min(told["pairs"], key=lambda pair: pair["overlap"], default=None)
    differences = [tables.points(have[c]["largest_difference"]) if c in have else "" for c in columns]
    counted = [p["counted"] for p in have.values()]
    return [name, min(counted), told["union_1"], told["union_1_of_runs"], told["union_5"],
            "%.0f%% (%s, %s)" % (100 * least["overlap"], least["a"], least["b"]) if least else "", *differences]


def seen_cell(seen):
    """What a profiler sees of a delay: its error in points, and the part of the added time that it found."""
    if not seen or seen["error"] is None:
        return ""
    return "%+.1f (%.0f%%)" % (100 * seen["error"], 100 * seen["found"]) if seen["found"] is not None else "%+.1f" % (100 * seen["error"])


def delays(told):
    """(program, delay, {profiler: what it sees of it}) of the delays that could be put in, by program."""
    return [(name, delay, {s["profiler"]: s for s in delay["seen"]}) for name, one in told.items()
            for delay in one.get("delays", ()) if delay["why"] is None and delay["added"]]


def columns_of(told):
    return sorted({name for one in told.values() for name in profilers(one)}, key=lambda name: (name != "locus", name))


def markdown(told):
    """The tables; "" where no program was run."""
    told = {name: one for name, one in told.items() if profilers(one)}
    columns = columns_of(told)
    if not columns:
        return ""
    head = ["program", "runs of each profiler, at least", "different hottest methods", "of single runs", "different methods in the top fives",
            "least overlap of two", *("self-difference of %s, points" % c for c in columns)]
    one_hottest = sum(one["union_1"] == 1 for one in told.values())
    return "\n\n".join([tables.markdown(head, [methods_row(name, one, columns) for name, one in told.items()]),
                        "All profilers have the same hottest method in %d of %d." % (one_hottest, len(told))])


def delays_markdown(told):
    """The table of delays; "" where there are none."""
    columns, rows = columns_of(told), []
    for name, delay, seen in delays(told):
        rows.append([name, delay["method"], "%.1f%%" % (100 * delay["added"]["mean"]), *(seen_cell(seen.get(c)) for c in columns)])
    return tables.markdown(["program", "method", "added", *columns], rows) if rows else ""


def delays_target(told):
    """The row of the targets: is each delay found at its method by Locus? [] where there are none."""
    errors = [(abs(seen["locus"]["error"]), "%s of %s" % (delay["method"], name)) for name, delay, seen in delays(told)
              if seen.get("locus") and seen["locus"]["error"] is not None]
    if not errors:
        return []
    worst, where = max(errors)
    return [["delays of known length (programs: %d), at their method" % len({name for name, *_ in delays(told)}),
             "within %.0f points" % (100 * DELAY_TARGET),
             "%d of %d; %.1f points at worst (%s)" % (sum(e <= DELAY_TARGET for e, _ in errors), len(errors), 100 * worst, where),
             verdict(worst <= DELAY_TARGET)]]
