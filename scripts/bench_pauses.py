#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much longer the collector's pauses are with Locus.

Runs tests/workloads/bench/Pauses.java in turn without Locus and with it, by each collector, and reads the pauses
from the log of -Xlog:gc. For each collector one line says: the ratio of the mean pause and of the median pause
(medians of the pairs, quartiles in brackets), and whether both runs had as many collections with as much in the heap
after each; only then is it the pause that is compared. Run it on an idle machine.

With Z, Shenandoah and GenShen (Shenandoah with generations) a collection has several short pauses, and the JVM stops
the threads for other work in between. So the pause is the time for which the threads stood still, by the log of
-Xlog:safepoint, of each safepoint that the collector asked for. One line says for each: the longest pause of a run and
the 99th percentile, in microseconds (medians of the runs, quartiles in brackets), and what Locus adds (of the pairs).

    scripts/bench_pauses.py --pairs 10 [--jdk HOME] [--collectors Serial,Parallel,G1,Z] [--other NAME=BUILD ...]
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build"))
SOURCE = ROOT / "tests/workloads/bench/Pauses.java"
# Sizes that do not adapt: the pauses of both runs then have the same work to do.
HEAP = ["-Xms256m", "-Xmx256m", "-Xmn48m", "-XX:-UseAdaptiveSizePolicy"]
WARM_UP = 10  # collections that are not counted
CONCURRENT = {"Z": ["-XX:+UseZGC"], "Shenandoah": ["-XX:+UseShenandoahGC"],
              "GenShen": ["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"]}
CONCURRENT_HEAP = ["-Xms512m", "-Xmx512m"]
# ZMarkStart, XMarkEnd, ZRelocateStartYoung, ...; ShenandoahInitMark, ... of Shenandoah.
STOPPED = re.compile(r'Safepoint "((?:[XZ](?:Mark|Relocate)|Shenandoah)\w*)".* At safepoint: +(\d+) ns')
PAUSE = re.compile(r"Pause Young.* (\d+)M->(\d+)M\(\d+M\) ([0-9.]+)ms$", re.M)


def run_logged(words, log):
    """Runs the command; returns what it logged."""
    log.unlink(missing_ok=True)
    ended = subprocess.run(words, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        sys.exit("bench_pauses: %s\n%s" % (" ".join(words), ended.stderr[-2000:]))
    return log.read_text()


def run(words, log):
    """The young pauses of a run in ms, and the megabytes that each left."""
    found = PAUSE.findall(run_logged(words, log))[WARM_UP:]
    return [float(ms) for _, _, ms in found], [int(after) for _, after, _ in found]


def run_concurrent(words, log):
    """The longest pause of a run, the 99th percentile and the number of pauses; times in microseconds."""
    found = sorted(int(ns) / 1000 for _, ns in STOPPED.findall(run_logged(words, log))[WARM_UP:])
    if not found:
        sys.exit("bench_pauses: no pause in the log of %s" % " ".join(words))
    return found[-1], found[len(found) * 99 // 100], len(found)


def spread_us(values):
    if len(values) < 2:
        return "%.0f" % values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return "%.0f [%.0f to %.0f]" % (middle, low, high)


def show_concurrent(collector, got):
    """`got`: for each name, the runs as run_concurrent() returns them."""
    bare = got["bare"]
    for name, runs in got.items():
        text = "longest %s us, p99 %s us, %.0f pauses" % (
            spread_us([r[0] for r in runs]), spread_us([r[1] for r in runs]), statistics.median(r[2] for r in runs))
        if name != "bare":
            text += "; more than bare: longest %s us, p99 %s us" % tuple(
                spread_us([a[i] - b[i] for a, b in zip(runs, bare)]) for i in (0, 1))
        print("%s: %-10s %s" % (collector, name, text), flush=True)


def spread(ratios):
    if len(ratios) < 2:
        return "%.3f" % ratios[0]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return "%.3f [%.3f to %.3f]" % (middle, low, high)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--jdk", default="/usr/lib/jvm/java-17-openjdk-amd64")
    parser.add_argument("--collectors", default="Serial,Parallel,G1")
    parser.add_argument("--trees", type=int, default=30000)
    parser.add_argument("--other", action="append", default=[], metavar="NAME=BUILD", help="another build to measure")
    parser.add_argument("--options", default="", help="options of `locus run`")
    arguments = parser.parse_args()

    builds = {"locus": BUILD, **{o.split("=")[0]: pathlib.Path(o.split("=")[1]) for o in arguments.other}}
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        log = work / "gc.log"
        subprocess.run([arguments.jdk + "/bin/javac", "-d", work, SOURCE], check=True)
        for collector in arguments.collectors.split(","):
            concurrent = collector in CONCURRENT
            java = [arguments.jdk + "/bin/java", *(CONCURRENT_HEAP if concurrent else HEAP),
                    *CONCURRENT.get(collector, ["-XX:+Use%sGC" % collector]),
                    "-Xlog:%s:file=%s" % ("safepoint" if concurrent else "gc", log), "-cp", str(work), "Pauses",
                    str(arguments.trees)]
            got = {name: [] for name in ["bare", *builds]}
            for pair in range(arguments.pairs):
                order = list(got)
                for name in order[pair % len(order):] + order[:pair % len(order)]:
                    own = [] if name == "bare" else [
                        str(builds[name] / "locus"), "run", "-o", str(work / ("profile-%s-%d-%s" % (collector, pair, name))),
                        *arguments.options.split(), "--"]
                    got[name].append((run_concurrent if concurrent else run)(own + java, log))
            if concurrent:
                show_concurrent(collector, got)
                continue
            bare = got.pop("bare")
            print("%s: bare %d pauses, mean %.2f ms, median %.2f ms, %.1f MB left after each" % (
                collector, statistics.median(len(ms) for ms, _ in bare),
                statistics.median(statistics.mean(ms) for ms, _ in bare),
                statistics.median(statistics.median(ms) for ms, _ in bare),
                statistics.median(statistics.mean(left) for _, left in bare)))
            for name, runs in got.items():
                print("  %-10s mean %s, median %s, pauses x%.3f, left x%.3f" % (
                    name,
                    spread([statistics.mean(a) / statistics.mean(b) for (a, _), (b, _) in zip(runs, bare)]),
                    spread([statistics.median(a) / statistics.median(b) for (a, _), (b, _) in zip(runs, bare)]),
                    statistics.median(len(a) / len(b) for (a, _), (b, _) in zip(runs, bare)),
                    statistics.median(statistics.mean(a) / statistics.mean(b) for (_, a), (_, b) in zip(runs, bare))),
                    flush=True)


if __name__ == "__main__":
    main()
