#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long an attach takes and how long the program stands still, and what a detach leaves behind.

Runs tests/workloads/bench/ManyClasses.java, which has many classes loaded, attaches to it and detaches. One line for
each run says: after how long threads were sampled, after how long `locus attach` and `locus detach` returned, the
longest pause of a batch of classes as the profile has it, and the longest time that a thread of the program did not
run, without Locus and during the attach and the detach. A last line has the medians, with quartiles in brackets.

The last columns are speeds after the detach, as parts of the speed before. Three JVMs run the same program: one is left
alone ("bare"), one is attached to and detached from ("locus"), and in one a Java agent of the JDK's own interface has
all classes transformed two times without a change ("java agent"): what that loses, HotSpot loses. Speed is turns in
a second of CPU time of the working thread, in short slices in which the two other JVMs are stopped. "bare" says how
much the machine has drifted, and how far speeds can be trusted; "locus" and "java agent" are compared with the bare
JVM slice by slice. JVMs differ by some percent in what their compilers make of the same program, so it takes ten runs
or more to see one percent. Run it on an idle machine.

HotSpot never compiles the code that an activation of a redefined method goes on with, so a loop that was entered before
stays in the interpreter until it returns. All is measured two times: where the loop that makes the turns, of 6 us each,
returns after 1000 of them, and where it never returns (--work).

    scripts/bench_attach.py --runs 5 [--jdk HOME] [--classes 20000] [--options="--interval=5ms"]
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOCUS = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")) / "locus"
SOURCES = [ROOT / "tests/workloads/bench" / name for name in ("ManyClasses.java", "RetransformTwice.java")]
AGENT = "Agent-Class: RetransformTwice\nCan-Retransform-Classes: true\n"
WARM_UP_S = 6  # until the work is compiled
SLICES, SLICE_S, SETTLE_S = 16, 0.25, 0.03
WORK = ("returning", "endless")
COLUMNS = ("sampling", "attach", "detach", "batch pause", "gap bare", "gap attach", "gap detach", "speed bare",
           "speed locus", "speed java agent")


class Program:
    def __init__(self, words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        if self.process.stdout.readline() != "ready\n":
            sys.exit("bench_attach: the program has not started")
        self.pid = self.process.pid

    def ask(self):
        """Since the last call: the longest gap in ms, and turns in a second of the working thread's CPU time."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        gap, turns, cpu_ns = map(int, self.process.stdout.readline().split())
        return gap / 1e3, turns * 1e9 / cpu_ns

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self, seconds=0.0):
        self.process.send_signal(signal.SIGCONT)
        time.sleep(seconds)

    def slice(self):
        """The speed, in a slice of time of which the program has the machine."""
        self.go_on(SETTLE_S)
        self.ask()
        time.sleep(SLICE_S)
        speed = self.ask()[1]
        self.stop()
        return speed

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


def speeds(programs):
    return list(zip(*([p.slice() for p in programs] for _ in range(SLICES))))


def attach_and_detach(program, directory, options):
    """The columns up to "gap detach"."""
    program.go_on(1)
    program.ask()
    time.sleep(2)
    gap_bare = program.ask()[0]
    begin = time.monotonic_ns()
    attach = timed("attach", program.pid, "-o", directory, *options)
    gap_attach = program.ask()[0]
    time.sleep(2)
    program.ask()
    detach = timed("detach", program.pid)
    gap_detach = program.ask()[0]
    process = json.loads((directory / "manifest.json").read_text())["processes"][0]
    return ((process["start_monotonic_ns"] - begin) / 1e6, attach, detach,
            process["counters"]["class_pause_max_us"] / 1e3, gap_bare, gap_attach, gap_detach)


def transform_twice(program, jdk, agent):
    program.go_on()
    subprocess.run([jdk + "/bin/jcmd", str(program.pid), "JVMTI.agent_load", str(agent)], check=True,
                   stdout=subprocess.DEVNULL)


def relative(ours, bare):
    return statistics.median(a / b for a, b in zip(ours, bare))


def run(java, jdk, agent, directory, options):
    programs = []
    for _ in range(3):
        programs.append(Program(java))
        programs[-1].go_on(WARM_UP_S)
        programs[-1].stop()
    bare, ours, others = programs
    before = speeds(programs)
    row = attach_and_detach(ours, directory, options)
    ours.go_on(WARM_UP_S)
    ours.stop()
    transform_twice(others, jdk, agent)
    others.go_on(WARM_UP_S)
    others.stop()
    bare.go_on(WARM_UP_S)
    bare.stop()
    after = speeds(programs)
    for p in programs:
        p.go_on()
        p.end()
    return row + (statistics.median(after[0]) / statistics.median(before[0]),
                  *(relative(after[i], after[0]) / relative(before[i], before[0]) for i in (1, 2)))


def spread(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return "%.3g [%.3g to %.3g]" % (middle, low, high)


def measure(jdk, work, arguments):
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        agent = directory / "agent.jar"
        subprocess.run([jdk + "/bin/javac", "-nowarn", "-d", directory, *SOURCES], check=True)
        (directory / "manifest").write_text(AGENT)
        subprocess.run([jdk + "/bin/jar", "cfm", agent, directory / "manifest", "-C", directory,
                        "RetransformTwice.class", "-C", directory, "RetransformTwice$1.class"], check=True)
        java = [jdk + "/bin/java", "-Xmx512m", "-cp", str(directory), "ManyClasses", str(arguments.classes)]
        java += [work] if work == "returning" else []
        print("%s, %d classes, %s loop; ms, and speeds after as parts of those before" % (jdk, arguments.classes, work))
        for i in range(arguments.runs):
            rows.append(run(java, jdk, agent, directory / ("p%d" % i), arguments.options.split()))
            print("  " + ", ".join("%s %.4g" % pair for pair in zip(COLUMNS, rows[-1])), flush=True)
    print("  medians: " + ", ".join("%s %s" % (name, spread(list(column)))
                                    for name, column in zip(COLUMNS, zip(*rows))), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jdk", action="append", default=[])
    parser.add_argument("--classes", type=int, default=20000)
    parser.add_argument("--options", default="")
    parser.add_argument("--work", action="append", choices=WORK, help="the loop of the program (both)")
    arguments = parser.parse_args()

    for jdk in arguments.jdk or ["/usr/lib/jvm/java-17-openjdk-amd64"]:
        for work in arguments.work or WORK:
            measure(jdk, work, arguments)


if __name__ == "__main__":
    main()
