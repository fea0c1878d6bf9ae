#!/usr/bin/env python3
"""Measure what cycle spans cost and how true they are: run programs in turn without Locus and with it.

bench_spans.py [--pairs N] [--only NAME]... [--jdk DIR] [--locus=OPTION]...

Each program measures itself after its warm-up, so that starting Locus is not counted. A figure is the
median of the pairs' ratios, with the range in which the middle half of them lies. How true the compensated
cycles are is their sum, for a program that runs nothing but streams, divided by the CPU time that it
takes without Locus. The matrix `accuracy` does so for streams of tens to thousands of cycles; what it calls accuracy
is 1 - |compensated - true| / true.
"""

import argparse
import json
import math
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

# name, class and arguments, what is recorded, what the ratio is of, largest ratio that is wanted
WORKLOADS = (
    ("queries", ["SpanQueries", "400"], "streams", "queries", 1.05),
    ("small streams", ["SpanSmall", "8", "450"], "streams", "nanoseconds", 1.20),
    ("task flood, fork join", ["SpanFlood", "10000", "fork", "64"], "tasks", "nanoseconds", 1.15),
    ("task flood, fixed pool", ["SpanFlood", "10000", "fixed", "64"], "tasks", "nanoseconds", 1.15),
    ("task programs", ["SpanTasksMix", "10"], "tasks", "programs", 1.02),
)
# class and arguments: kind of query, elements, millions of streams
ACCURACY = (
    ["SpanTiny", "match", "8", "12"], ["SpanTiny", "sum", "8", "12"], ["SpanTiny", "boxed", "8", "10"],
    ["SpanTiny", "collect", "8", "10"], ["SpanTiny", "words", "40", "8"], ["SpanTiny", "count", "16", "10"],
    ["SpanTiny", "flat", "4", "2"], ["SpanTiny", "sorted", "8", "4"], ["SpanTiny", "collect", "30", "5"],
    ["SpanTiny", "boxed", "100", "2"], ["SpanPhone", "1.5"],
)
# What else Locus does costs programs that allocate much more than spans are meant to be true to.
SPANS_ALONE = ["--sample-interval=0", "--min-size=1000000k", "--interval=1s"]
MEANS = ("queries", "programs")  # programs: of CPU time


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("bench_spans: %s\nended with %d\n%s" % (command, done.returncode, done.stderr))
    return json.loads(done.stdout.splitlines()[-1])


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return middle, low, high


def show(name, values, form, target, met):
    print("%-24s " % name + "%s [%s .. %s]" % tuple(form % v for v in quartiles(values))
          + "  target %s, %s" % (target, "met" if met else "NOT met"), flush=True)


def ratios(kind, pairs):
    if kind in MEANS:  # the geometric mean over the queries or programs, of each pair
        return [math.exp(statistics.fmean(math.log(b[q] / a[q]) for q in a)) for a, b in pairs]
    return [b[kind] / a[kind] for a, b in pairs]


def compensated(spans):
    rows = [row for row in spans["streams"] if row["class"] == "SpanSmall"]
    return sum(r["compensated_cycles"] for r in rows), sum(r["executions"] for r in rows if r["level"])


def accuracy(jdk, args, classes, profile):
    """Each program in turn without Locus and with it; all its code runs in streams."""
    for arguments in ACCURACY:
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
            truths.append(sum(r["compensated_cycles"] for r in spans["streams"]) / true)
            cycles.append(true / sum(r["executions"] for r in spans["streams"]))
        wanted = 0.97 if statistics.median(cycles) >= 500 else 0.93
        reached = 1 - abs(1 - statistics.median(truths))
        print("%-24s %6.0f cycles  compensated / true %.3f [%.3f .. %.3f]  accuracy %.1f%%, target %.0f%%, %s" % (
            " ".join(arguments), statistics.median(cycles), *quartiles(truths), 100 * reached, 100 * wanted,
            "met" if reached >= wanted else "NOT met"), flush=True)


def main():
    parser = argparse.ArgumentParser(description="what cycle spans cost, and how true they are")
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--only", action="append", choices=[w[0] for w in WORKLOADS] + ["accuracy"])
    parser.add_argument("--jdk")
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
        if not args.only or "accuracy" in args.only:
            accuracy(jdk, args, str(work / "classes"), work / "profile")
        for name, arguments, what, kind, limit in WORKLOADS:
            if args.only and name not in args.only:
                continue
            plain = [jdk + "/bin/java", *HEAP, "-cp", str(work / "classes"), *arguments]
            profile = work / "profile"
            pairs, truths = [], []
            for i in range(args.pairs + 1):
                shutil.rmtree(profile, ignore_errors=True)
                with_locus = [LOCUS, "run", "-o", profile, "--spans=" + what, *args.locus, "--", *plain]
                first, second = (plain, with_locus) if i % 2 else (with_locus, plain)
                results = run(first), run(second)
                a, b = results if i % 2 else results[::-1]
                if not i:
                    continue  # files read, calibration made
                pairs.append((a, b))
                if kind == "nanoseconds" and what == "streams":
                    done = subprocess.run([LOCUS, "spans", profile, "--format=json"], check=True,
                                          stdout=subprocess.PIPE, text=True)
                    spans = json.loads(done.stdout)
                    cycles, executions = compensated(spans)
                    truths.append(cycles / (a["total_cpu"] * spans["clock"]["hz"] / 1e9))
                    assert executions == a["streams"], (executions, a)
            values = ratios(kind, pairs)
            show(name, values, "%.3f", "<= %.2f" % limit, statistics.median(values) <= limit)
            if kind not in MEANS:
                show("  CPU time", ratios("cpu", pairs), "%.3f", "<= %.2f" % limit,
                     statistics.median(ratios("cpu", pairs)) <= limit)
            if truths:
                print("%24s %.0f cycles a stream without Locus" % (
                    "", statistics.median(p[0]["cpu"] for p in pairs) * spans["clock"]["hz"] / 1e9
                    / (pairs[0][0]["streams"] / 2)))
                show("  compensated / true", truths, "%.3f", "0.97 .. 1.03",
                     abs(1 - statistics.median(truths)) <= 0.03)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
