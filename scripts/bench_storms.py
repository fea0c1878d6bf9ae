#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what Locus costs in storms of call paths: deep stacks, and stacks that do not come again.

Runs tests/workloads/WalkStorms.java in turn without Locus and with `locus run`, each once with its times and once with
next to nothing to do. For each storm one line says: CPU seconds of both (user and system; medians), what starting takes
of them, and the ratio of the rest (median of the pairs, and the extremes). Counts follow: allocations, walks by
the JVM, frames that Locus looked at, paths that were cut. "per array" is the ratio of the CPU time for each array: the
JIT makes frames of other sizes from run to run, so as many overflows of a stack make more arrays or fewer.

    scripts/bench_storms.py --pairs 5 [--jdk HOME] [--storms overflow,trees] [--other BUILD]
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build"))
SOURCE = ROOT / "tests/workloads/WalkStorms.java"
TIMES = {"overflow": 150, "exceptions": 150_000, "lambdas": 12_000, "trees": 40_000, "classes": 5000, "loaders": 100}
COUNTED = ("jvm_walks", "alloc_walked_frames", "paths_cut")


def cpu_of(words):
    """Runs the command; returns its CPU time in seconds and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(words, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode:
        sys.exit("bench_storms: %s\n%s" % (" ".join(map(str, words)), ended.stderr[-2000:]))
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, sum(json.loads(ended.stdout).values())


def pair(java, build, mode, times, directory):
    """(CPU bare, CPU with Locus, arrays bare, arrays with Locus, counters) of one run each."""
    line = [*java, "WalkStorms", mode, str(times)]
    profile = directory / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    bare, bare_arrays = cpu_of(line)
    under, arrays = cpu_of([build / "locus", "run", "-o", profile, "--", *line])
    manifest = json.loads((profile / "manifest.json").read_text())
    return bare, under, bare_arrays, arrays, manifest["processes"][0]["counters"]


def measure(java, build, mode, pairs, directory):
    starts = [pair(java, build, "exceptions", 1, directory)[:2] for _ in range(pairs)]
    start, start_under = (statistics.median(s[i] for s in starts) for i in (0, 1))
    runs = [pair(java, build, mode, TIMES[mode], directory) for _ in range(pairs)]
    ratios = sorted((under - start_under) / (bare - start) for bare, under, *_ in runs)
    each = statistics.median((under - start_under) / n / ((bare - start) / bare_n) for bare, under, bare_n, n, _ in runs)
    counters = runs[-1][4]
    print("%-10s bare %.2f s, Locus %.2f s (starting %.2f and %.2f): ratio %.2f (%.2f to %.2f), per array %.2f; %d arrays; %s" % (
        mode, statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs), start, start_under,
        statistics.median(ratios), ratios[0], ratios[-1], each, runs[-1][3],
        ", ".join("%s %d" % (name, counters.get(name, -1)) for name in COUNTED)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--jdk", default=os.environ.get("JAVA_HOME", ""), help="home of the JDK; that of PATH")
    parser.add_argument("--storms", default=",".join(TIMES))
    parser.add_argument("--other", type=pathlib.Path, default=BUILD, help="directory of another build")
    options = parser.parse_args()
    tools = pathlib.Path(options.jdk) / "bin" if options.jdk else pathlib.Path()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        subprocess.run([tools / "javac", "-d", directory, SOURCE], check=True)
        java = [str(tools / "java"), "-Xmx64m", "-cp", name]
        for mode in options.storms.split(","):
            measure(java, options.other, mode, options.pairs, directory)


if __name__ == "__main__":
    main()
