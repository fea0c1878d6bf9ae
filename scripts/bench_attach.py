#!/usr/bin/python3
"""Measures how long an attach takes and how long the program stands still, and what a detach leaves behind.

Runs tests/workloads/bench/ManyClasses.java, which has many classes loaded, attaches to it and detaches. One line for
each run says: after how long threads were sampled, after how long `locus attach` and `locus detach` returned, the
longest pause of a batch of classes as the profile has it, the longest time that a thread of the program did not run,
without Locus and during the attach, and the speed of the program's work after the detach as a part of that before. A
last line has the medians, with quartiles in brackets. Run it on an idle machine.

    scripts/bench_attach.py --runs 5 [--jdk HOME] [--classes 20000] [--options="--interval=5ms"]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOCUS = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")) / "locus"
SOURCE = ROOT / "tests/workloads/bench/ManyClasses.java"
WARM_UP_S = 12  # until the work is compiled
STEADY_S = 8  # whose speed is measured
COLUMNS = ("sampling", "attach", "detach", "batch pause", "gap bare", "gap attach", "gap detach", "speed after")


class Program:
    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("bench_attach: the program has not started")
        self.pid = self.process.pid

    def ask(self):
        """Since the last call: the longest gap in ms, and turns a second."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        gap, turns, ns = map(int, self.process.stdout.readline().split())
        return gap / 1e3, turns * 1e9 / ns

    def end(self):
        self.process.stdin.write("end\n")
        self.process.stdin.close()
        self.process.wait()


def locus(*words):
    done = subprocess.run([LOCUS, *map(str, words)], check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit("bench_attach: locus %s: %s" % (" ".join(map(str, words)), done.stderr))
    return done


def timed(*words):
    begin = time.monotonic()
    locus(*words)
    return (time.monotonic() - begin) * 1e3


def run(java, directory, options):
    p = Program(java)
    time.sleep(WARM_UP_S)
    p.ask()
    time.sleep(STEADY_S)
    gap_bare, before = p.ask()
    begin = time.monotonic_ns()
    attach = timed("attach", p.pid, "-o", directory, *options)
    gap_attach = p.ask()[0]
    time.sleep(2)
    p.ask()
    detach = timed("detach", p.pid)
    gap_detach = p.ask()[0]
    time.sleep(WARM_UP_S)
    p.ask()
    time.sleep(STEADY_S)
    after = p.ask()[1]
    p.end()
    process = json.loads((directory / "manifest.json").read_text())["processes"][0]
    return ((process["start_monotonic_ns"] - begin) / 1e6, attach, detach,
            process["counters"]["class_pause_max_us"] / 1e3, gap_bare, gap_attach, gap_detach, after / before)


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return "%.3g [%.3g to %.3g]" % (middle, low, high)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jdk", action="append", default=[])
    parser.add_argument("--classes", type=int, default=20000)
    parser.add_argument("--options", default="")
    arguments = parser.parse_args()

    for jdk in arguments.jdk or ["/usr/lib/jvm/java-17-openjdk-amd64"]:
        rows = []
        with tempfile.TemporaryDirectory() as work:
            work = pathlib.Path(work)
            subprocess.run([jdk + "/bin/javac", "-d", work, SOURCE], check=True)
            java = [jdk + "/bin/java", "-Xmx512m", "-cp", str(work), "ManyClasses", str(arguments.classes)]
            print("%s, %d classes; ms, and the speed as a part of 1" % (jdk, arguments.classes))
            for i in range(arguments.runs):
                rows.append(run(java, work / ("p%d" % i), arguments.options.split()))
                print("  " + ", ".join("%s %.4g" % pair for pair in zip(COLUMNS, rows[-1])), flush=True)
        print("  medians: " + ", ".join("%s %s" % (name, spread(list(column)))
                                        for name, column in zip(COLUMNS, zip(*rows))), flush=True)


if __name__ == "__main__":
    main()
