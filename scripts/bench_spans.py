#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure how true the cycles of spans are: run programs in turn without Locus and with it.

bench_spans.py [--pairs N] [--only CLASS]... [--jdk DIR] [--json FILE] [--locus=OPTION]...

How true the compensated cycles are is their sum, for a program that runs nothing but streams, divided by the CPU
time that it takes without Locus: the median of the pairs, with the range in which the middle half of them lies. The
programs' streams take tens to thousands of cycles; accuracy is 1 - |compensated - true| / true. bench.py
measures the cost of spans.
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
ACCURACY = (
    ["SpanTiny", "match", "8", "12"], ["SpanTiny", "sum", "8", "12"], ["SpanTiny", "boxed", "8", "10"],
    ["SpanTiny", "collect", "8", "10"], ["SpanTiny", "words", "40", "8"], ["SpanTiny", "count", "16", "10"],
    ["SpanTiny", "flat", "4", "2"], ["SpanTiny", "sorted", "8", "4"], ["SpanTiny", "collect", "30", "5"],
    ["SpanTiny", "boxed", "100", "2"], ["SpanPhone", "1.5"], ["SpanSmall", "8", "450"],
)
# Locus's other parts cost programs that allocate much more than the accuracy that spans aim at.
SPANS_ALONE = ["--sample-interval=0", "--min-size=1000000k", "--interval=1s"]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("bench_spans: %s\nended with %d\n%s" % (command, done.returncode, done.stderr))
    return json.loads(done.stdout.splitlines()[-1])


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, low, high


def accuracy(jdk, args, classes, profile):
    """Each program in turn without Locus and with it; all its code runs in streams. Returns a row of figures for each."""
    rows = []
    for arguments in ACCURACY:
        if args.only and arguments[0] not in args.only:
            continue
        plain = [jdk + "/bin/java", *HEAP, "-cp", classes, *arguments]
        truths, cycles = [], []
        for i in range(args.pairs + 1):
            shutil.rmtree(profile, ignore_errors=True)
            with_locus = [LOCUS, "run", "-o", profile, "--spans=streams", *SPANS_ALONE, *args.locus, "--",
                          *plain]
            first, second = (plain, with_locus) if i % 2 else (with_locus, plain)
            results = run(first), run(second)
            if not i:
                continue  # files read, calibration made
            true_ns = results[0 if i % 2 else 1]["total_cpu"]
            done = subprocess.run([LOCUS, "spans", profile, "--format=json"], check=True,
                                  stdout=subprocess.PIPE, text=True)
            spans = json.loads(done.stdout)
            true = true_ns * spans["clock"]["hz"] / 1e9
            if "streams" in results[0]:  # the program counts its own
                mine = [r for r in spans["streams"] if r["class"] == arguments[0] and r["level"] == 1]
                assert sum(r["executions"] for r in mine) == results[0]["streams"], (mine, results[0])
            truths.append(sum(r["compensated_cycles"] for r in spans["streams"]) / true)
            cycles.append(true / sum(r["executions"] for r in spans["streams"]))
        wanted = 0.97 if statistics.median(cycles) >= 500 else 0.93
        reached = 1 - abs(1 - statistics.median(truths))
        print("%-24s %6.0f cycles  compensated / true %.3f [%.3f .. %.3f]  accuracy %.1f%%, target %.0f%%, %s" % (
            " ".join(arguments), statistics.median(cycles), *quartiles(truths), 100 * reached, 100 * wanted,
            "met" if reached >= wanted else "NOT met"), flush=True)
        rows.append({"program": " ".join(arguments), "pairs": args.pairs, "cycles": statistics.median(cycles),
                     "ratio": quartiles(truths), "accuracy": reached, "target": wanted})
    return rows


def main():
    parser = argparse.ArgumentParser(description="how true the cycles of spans are")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--only", action="append", choices=sorted({a[0] for a in ACCURACY}))
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
        rows = accuracy(jdk, args, str(work / "classes"), work / "profile")
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1) + "\n")
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
