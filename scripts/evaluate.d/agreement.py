# SPDX-License-Identifier: Apache-2.0
"""Have `locus agree` run programs under several profilers, also with delays of known length, and make tables of what it says.

The runs are made in parts (--resume): each call of the evaluation adds rounds, first to the programs that have fewest. The paper has
30 runs of each of 14 kernels."""

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
STEPS = (2, 5, 10, 30)  # rounds that all programs have before one of them gets more


SEEN = """The part that was found is the growth of the method's share by the expected growth. A delay is seen if the interval of the growth, over
five rounds or more and corrected for the number of the profiler's methods (Bonferroni), is above zero."""


@dataclasses.dataclass
class Asked:
    """A question to `locus agree` about each program of some kinds."""

    name: str
    options: str
    file: str  # its result's, with the program's name
    seconds: int  # that are kept for all programs
    rounds: dict  # of each kind of program

    def path(self, directory, program):
        return directory / (self.file % results.slug(program.name))

    @property
    def command(self):
        """The same for the page, with N in place of numbers of columns."""
        return "locus agree -n N %s" % self.options


METHODS = Asked("agreement", "--any-stderr", "agree-%s.json", 2_400, {"kernel": 30, "program": 10})
DELAYS = Asked("delays", "--truth --any-stderr", "delays-%s.json", 1_500, {"kernel": 10})


def rounds_done(file):
    """The rounds of a result in which each profiler, with each delay, had its run."""
    if not file.exists():
        return 0
    told = json.loads(file.read_text(encoding="utf-8"))
    delays_of = [None] + ([0] if told["delays"] else []) + [i for i, d in enumerate(told["delays"], 1) if d["why"] is None]
    runs = {(run["profiler"], run["delay"], run["round"]) for run in told["runs"]}
    names = [p["name"] for p in told["profilers"] if p["absent"] is None]
    return min(sum((name, delay, r) in runs for r in range(1, told["rounds"] + 1)) for name in names for delay in delays_of)


def drop_profiles(runs):
    """`locus agree` needs only the methods of the runs, which take less room than what the profilers wrote."""
    for file in runs.glob("round-*/profile-*"):
        if not file.is_dir():
            file.unlink()


def run_one(asked, program, home, target, rounds, limit):
    """Adds runs of a program under the profilers; what they say of it is in the file, unless there was no time or it failed."""
    runs = (target.parent / "runs" / target.stem).resolve()
    runs.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="locus-evaluate-") as work:
        words = [costs.LOCUS, "agree", "-n", str(rounds), *asked.options.split(), "--resume", "-o", str(runs), "-f", work + "/result.json", "--",
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
            drop_profiles(runs)
        result = pathlib.Path(work) / "result.json"
        if process.returncode in (0, LEFT_OUT) and result.exists():
            target.write_text(result.read_text(encoding="utf-8"), encoding="utf-8")
        else:
            print("evaluate: %s: %s is left out: %s" % (asked.name, program.name, told.strip()), file=sys.stderr)


def measure(asked, chosen, home, directory, seconds):
    """Runs the programs that have too few rounds yet, step by step, until the time is over."""
    start = time.monotonic()
    programs.build(home, chosen)
    for program, rounds in [(p, n) for n in STEPS for p in chosen if n <= asked.rounds.get(p.kind, 0)]:
        left, target = seconds - (time.monotonic() - start), asked.path(directory, program)
        if left > 0 and rounds_done(target) < rounds:
            print("%s  %s  %s, %d rounds" % (time.strftime("%H:%M:%S"), asked.name, program.name, rounds), file=sys.stderr, flush=True)
            run_one(asked, program, home, target, rounds, left)


def read(asked, directory, all_programs):
    """{name: what `locus agree` says of the program} of those that were run."""
    files = {p.name: asked.path(directory, p) for p in all_programs}
    return {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.exists()}


def profilers(told):
    """The profilers of a program by name, without the run that has none and those that could not be run."""
    return {p["name"]: p for p in told["profilers"] if p["name"] != "bare" and p["absent"] is None and p["counted"]}


def overlap(pair):
    """With half of its interval, where there is one."""
    width = pair.get("overlap_width")
    return "%.0f%%" % (100 * pair["overlap"]) + (" ± %.0f" % (100 * width) if width is not None else "")


def methods_row(name, told, columns):
    have = profilers(told)
    least = min(told["pairs"], key=lambda pair: pair["overlap"], default=None)
    differences = [tables.points(have[c]["largest_difference"]) if c in have else "" for c in columns]
    counted = [p["counted"] for p in have.values()]
    return [name, min(counted), told["union_1"], told["union_1_of_runs"], told["union_5"],
            "%s (%s, %s)" % (overlap(least), least["a"], least["b"]) if least else "", *differences]


def seen_cell(seen):
    """A profiler's view of a delay: its error in points, and the part of the added time that it found."""
    if not seen or seen["error"] is None:
        return ""
    width, saw = seen.get("error_width"), {True: ", seen", False: ", not seen"}.get(seen.get("saw"), "")
    error = "%+.1f" % (100 * seen["error"]) + (" ± %.1f" % (100 * width) if saw and width is not None else "")
    return "%s (%.0f%%%s)" % (error, 100 * seen["found"], saw) if seen["found"] is not None else error


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
        rows.append([name, told[name]["rounds"], delay["method"], "%.1f%%" % (100 * delay["added"]["mean"]), *(seen_cell(seen.get(c)) for c in columns)])
    table = tables.markdown(["program", "rounds", "method", "added", *columns], rows) if rows else ""
    return table + "\n\n" + SEEN if any("saw" in s for *_, seen in delays(told) for s in seen.values()) else table


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
