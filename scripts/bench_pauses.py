#!/usr/bin/python3
"""Measures how much longer the collector's young pauses are with Locus.

Runs tests/workloads/bench/Pauses.java in turn without Locus and with it, by each collector, and reads the pauses
from the log of -Xlog:gc. For each collector one line says: the ratio of the mean pause and of the median pause
(medians of the pairs, quartiles in brackets), and whether both runs had as many collections with as much in the heap
after each; only then is it the pause that is compared. Run it on an idle machine.

    scripts/bench_pauses.py --pairs 10 [--jdk HOME] [--collectors Serial,Parallel,G1] [--other NAME=BUILD ...]
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
PAUSE = re.compile(r"Pause Young.* (\d+)M->(\d+)M\(\d+M\) ([0-9.]+)ms$", re.M)


def run(words, log):
    """The young pauses of a run in ms, and the megabytes that each left."""
    log.unlink(missing_ok=True)
    ended = subprocess.run(words, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        sys.exit("bench_pauses: %s\n%s" % (" ".join(words), ended.stderr[-2000:]))
    found = PAUSE.findall(log.read_text())[WARM_UP:]
    return [float(ms) for _, _, ms in found], [int(after) for _, after, _ in found]


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
            java = [arguments.jdk + "/bin/java", *HEAP, "-XX:+Use%sGC" % collector,
                    "-Xlog:gc:file=%s" % log, "-cp", str(work), "Pauses", str(arguments.trees)]
            got = {name: [] for name in ["bare", *builds]}
            for pair in range(arguments.pairs):
                order = list(got)
                for name in order[pair % len(order):] + order[:pair % len(order)]:
                    own = [] if name == "bare" else [
                        str(builds[name] / "locus"), "run", "-o", str(work / ("profile-%s-%d-%s" % (collector, pair, name))),
                        *arguments.options.split(), "--"]
                    got[name].append(run(own + java, log))
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
