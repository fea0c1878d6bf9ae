"""Have `locus agree` run each program under several profilers, and make tables of how far they agree."""

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

ROUNDS = 2
PROFILERS = "locus,async,jfr"
COMMAND = "locus agree -n %d -p %s --any-stderr" % (ROUNDS, PROFILERS)
LEFT_OUT = 3  # the exit status where runs do not count, and the others do


def file_of(directory, program):
    return directory / ("agree-%s.json" % results.slug(program.name))


def run_one(program, home, target, limit):
    """Runs a program under the profilers; what they say of it is in the file, unless there was no time or it failed."""
    with tempfile.TemporaryDirectory(prefix="locus-evaluate-") as work:
        words = [costs.LOCUS, *COMMAND.split()[1:], "-o", work + "/runs", "-f", work + "/result.json", "--",
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
            print("evaluate: agreement: %s is left out: %s" % (program.name, told.strip()), file=sys.stderr)


def measure(chosen, home, directory, seconds):
    """Runs the programs that have no result yet, one after the other, until the time is over."""
    start = time.monotonic()
    programs.build(home, chosen)
    for program in chosen:
        left, target = seconds - (time.monotonic() - start), file_of(directory, program)
        if left > 0 and not target.exists():
            print("%s  agreement  %s" % (time.strftime("%H:%M:%S"), program.name), file=sys.stderr, flush=True)
            run_one(program, home, target, left)


def read(directory, all_programs):
    """{name: what `locus agree` says of the program} of those that were run."""
    files = {p.name: file_of(directory, p) for p in all_programs}
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


def delays(told, columns):
    """Rows of the delays of all programs; of those that were run with --truth."""
    rows = []
    for name, one in told.items():
        for delay in one.get("delays", ()):
            if delay["why"] is None and delay["added"]:
                seen = {s["profiler"]: s for s in delay["seen"]}
                rows.append([name, delay["method"], "%.1f%%" % (100 * delay["added"]["mean"]), *(seen_cell(seen.get(c)) for c in columns)])
    return rows


def markdown(told):
    """The tables; "" where no program was run."""
    told = {name: one for name, one in told.items() if profilers(one)}
    columns = sorted({name for one in told.values() for name in profilers(one)}, key=lambda name: (name != "locus", name))
    if not columns:
        return ""
    head = ["program", "runs of each profiler, at least", "different hottest methods", "of single runs", "different methods in the top fives",
            "least overlap of two", *("self-difference of %s, points" % c for c in columns)]
    body = [tables.markdown(head, [methods_row(name, one, columns) for name, one in told.items()])]
    one_hottest = sum(one["union_1"] == 1 for one in told.values())
    body.append("All profilers have the same hottest method in %d of %d." % (one_hottest, len(told)))
    rows = delays(told, columns)
    if rows:
        body.append("Delays of known length in hot methods (`--truth`): the part of the program's time that a delay added, and for each "
                    "profiler the share that it gives the method less the expected one, in points, and what part of the added time it found.")
        body.append(tables.markdown(["program", "method", "added", *columns], rows))
    return "\n\n".join(body)
