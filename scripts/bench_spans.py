#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure how true the cycles of spans are: run programs in turn without Locus and with it.

bench_spans.py [--pairs N] [--only CLASS]... [--jdk DIR] [--json FILE] [--locus=OPTION]...

The truth is CPU time without Locus. Programs that run nothing but streams, or nothing but tasks, have the sum of the
compensated cycles compared with it. SpanKnown has streams and tasks of known lengths: each place and class is compared.
A figure is the median of the pairs, with the range in which the middle half of them lies. Accuracy is
1 - |compensated - true| / true; perturbation is measured / true, with the cost of recording. The cost of a span is by how
much the program's own CPU time grows with Locus. Locus should take off as much; else the calibration does not fit the
program. bench.py measures the cost of programs.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
LOCUS = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")) / "locus"
HEAP = ["-Xms1g", "-Xmx1g", "-XX:+UseParallelGC"]

# class and arguments: kind of query, elements, millions of streams
STREAMS = (
    ["SpanTiny", "match", "8", "12"], ["SpanTiny", "sum", "8", "12"], ["SpanTiny", "boxed", "8", "10"],
    ["SpanTiny", "collect", "8", "10"], ["SpanTiny", "words", "40", "8"], ["SpanTiny", "count", "16", "10"],
    ["SpanTiny", "flat", "4", "2"], ["SpanTiny", "sorted", "8", "4"], ["SpanTiny", "collect", "30", "5"],
    ["SpanTiny", "boxed", "100", "2"], ["SpanPhone", "1.5"], ["SpanSmall", "8", "450"],
)
# Many, so that the code which the JIT has not compiled yet takes a small part of the time.
FORKS = (["SpanForks", "500", "2000", "10"], ["SpanForks", "4000", "300", "10"])  # steps of a task, trees, depth
KNOWN = ["SpanKnown", "24"]  # rounds
CLASSES = sorted({p[0] for p in (*STREAMS, *FORKS, KNOWN)})
# Locus's other parts cost programs that allocate much more than the accuracy that spans aim at.
SPANS_ALONE = ["--sample-interval=0", "--min-size=1000000k", "--interval=1s"]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("bench_spans: %s\nended with %d\n%s" % (command, done.returncode, done.stderr))
    return json.loads(done.stdout.splitlines()[-1])


class Bench:
    """How programs are run: with which JDK, and how often."""

    def __init__(self, args, jdk, work):
        self.java = [jdk + "/bin/java", *HEAP, "-cp", str(work / "classes")]
        self.pairs, self.options, self.profile = args.pairs, args.locus, work / "profile"

    def results(self, arguments, kinds):
        """(what it prints without Locus, the same with it, the report on its spans) of each pair. The first pair reads
        files, and may calibrate: it is left out."""
        for i in range(self.pairs + 1):
            shutil.rmtree(self.profile, ignore_errors=True)
            bare = [*self.java, *arguments]
            with_locus = [LOCUS, "run", "-o", self.profile, "--spans=" + kinds, *SPANS_ALONE, *self.options, "--", *bare]
            first, second = (bare, with_locus) if i % 2 else (with_locus, bare)
            told = run(first), run(second)
            if i:
                done = subprocess.run([LOCUS, "spans", self.profile, "--format=json", "--top=1000"], check=True,
                                      stdout=subprocess.PIPE, text=True)
                yield told[1 - i % 2], told[i % 2], json.loads(done.stdout)


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, low, high


def row(kind, program, target, found):
    """A row of figures; `found`: for each pair the true cycles, the compensated and the measured ones (or None), the spans,
    and the true ones with Locus (or None)."""
    ratios = [compensated / true for true, compensated, *_ in found]
    cycles = statistics.median(true / spans for true, _, _, spans, _ in found)
    reached = 1 - abs(1 - statistics.median(ratios))
    wanted = target or (0.97 if cycles >= 500 else 0.93)
    perturbed = [measured / true for true, _, measured, *_ in found if measured is not None]
    costs = [((slow - true) / spans, (slow - compensated) / spans) for true, compensated, _, spans, slow in found if slow is not None]
    cost, taken = (statistics.median(c) for c in zip(*costs)) if costs else (None, None)
    made = {"kind": kind, "program": program, "pairs": len(found), "cycles": cycles, "ratio": quartiles(ratios), "accuracy": reached,
            "perturbation": statistics.median(perturbed) if perturbed else None, "target": wanted, "cost": cost, "taken_off": taken}
    print("%-8s%-24s %7.0f cycles  compensated / true %.3f [%.3f .. %.3f]  measured / true %s  accuracy %.1f%%, target %.0f%%, %s%s" % (
        kind, program, cycles, *made["ratio"], "%.3f" % made["perturbation"] if perturbed else "-", 100 * reached, 100 * wanted,
        "met" if reached >= wanted else "NOT met",
        "; a span costs %.0f cycles, %.0f taken off" % (cost, taken) if costs else ""), flush=True)
    return made


def summed(rows, name):
    return sum(r[name] for r in rows)


def of_program(bare, locus, report, spans):
    """The figures that row() takes of a pair, for a program that runs nothing but these spans."""
    true, slow = (run["total_cpu"] * report["clock"]["hz"] / 1e9 for run in (bare, locus))
    return (true, *(summed(spans, name) for name in ("compensated_cycles", "cycles", "executions")), slow)


def streams(bench, arguments):
    """A program whose code all runs in streams."""
    found = []
    for bare, locus, report in bench.results(arguments, "streams"):
        spans = report["streams"]
        if "streams" in locus:  # the program counts its own
            mine = [r for r in spans if r["class"] == arguments[0] and r["level"] == 1]
            assert summed(mine, "executions") == locus["streams"], (mine, locus)
        found.append(of_program(bare, locus, report, spans))
    return [row("streams", " ".join(arguments), None, found)]


def forks(bench, arguments):
    """A program whose code all runs in tasks."""
    found = []
    for bare, locus, report in bench.results(arguments, "tasks"):
        mine = [r for r in report["types"] if r["type"].startswith(arguments[0] + "$Tree")]
        assert summed(mine, "executions") == locus["tasks"], (mine, locus)
        found.append(of_program(bare, locus, report, mine))
    return [row("tasks", " ".join(arguments), 0.97, found)]


def known(bench, arguments):
    """Streams and tasks of known lengths, with the spans inside them."""
    found = {}
    for bare, locus, report in bench.results(arguments, "streams,tasks"):
        spans = {r["method"]: r for r in report["streams"] if r["class"] == arguments[0] and r["level"] == 0}
        spans.update({r["type"].rpartition("$")[2]: r for r in report["types"]})
        for name, told in bare.items():
            assert spans[name]["executions"] == locus[name]["executions"] == told["executions"], (name, spans[name], locus[name])
            measured = None if name.endswith("round10") else spans[name]["cycles"]  # those of spans inside are not in it
            found.setdefault(name, []).append((told["cpu"] * report["clock"]["hz"] / 1e9, spans[name]["total_cycles"], measured,
                                               told["executions"], None))
    # The others are compared with a task that does nothing.
    return [row("task" if name.startswith("Task") else "stream", name, None, pairs) for name, pairs in found.items() if name != "Task0"]


def main():
    parser = argparse.ArgumentParser(description="how true the cycles of spans are")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--only", action="append", choices=CLASSES)
    parser.add_argument("--jdk")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    parser.add_argument("--locus", action="append", default=[], help="an option for locus run")
    args = parser.parse_args()
    if args.pairs < 2:
        parser.error("--pairs: at least 2")

    jdk = args.jdk or subprocess.run(
        [ROOT / "scripts" / "find-jdk"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    work = pathlib.Path(tempfile.mkdtemp(prefix="locus-bench-"))
    try:
        sources = sorted(str(p) for p in (ROOT / "tests/workloads/bench").glob("Span*.java"))
        subprocess.run([jdk + "/bin/javac", "-d", work / "classes", *sources], check=True)
        print("%s, %d CPUs, load %.2f, %d pairs" % (jdk, os.cpu_count(), os.getloadavg()[0], args.pairs))
        bench, rows = Bench(args, jdk, work), []
        for measure, programs in ((known, [KNOWN]), (forks, FORKS), (streams, STREAMS)):
            for arguments in programs:
                if not args.only or arguments[0] in args.only:
                    rows += measure(bench, arguments)
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1) + "\n")
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
