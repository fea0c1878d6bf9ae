# SPDX-License-Identifier: Apache-2.0
"""What the CPU time of a process went into, against the clocks of its threads as the kernel shows them."""

import json
import os
import pathlib
import threading
import time
import uuid

import helpers
import pytest

TICK = os.sysconf("SC_CLK_TCK")
GC = ("GC Thread", "G1 ", "ParGC", "PS ")
JIT = ("C1 Compiler", "C2 Compiler")
POINTS = 0.06  # of the process's CPU time


def kind(name):
    if name.startswith(JIT):
        return "jit"
    if name.startswith(GC):
        return "gc"
    return "vm" if name == "VM Thread" else "rest"


def read(path):
    try:
        return path.read_text()
    except OSError:
        return ""


class Clocks(threading.Thread):
    """The last that was seen of each thread of the JVM with that word in its command line."""

    def __init__(self, word):
        super().__init__()
        self.word, self.seen, self.done = word, {}, False

    def look(self):
        for command in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            words = read(command).split("\0")
            if self.word in words and words[0].endswith("java"):
                for task in (command.parent / "task").glob("*"):
                    stat = read(task / "stat").rsplit(")", 1)
                    if len(stat) == 2:
                        used = stat[1].split()
                        self.seen[task.name] = read(task / "comm").strip(), (int(used[11]) + int(used[12])) / TICK

    def run(self):
        while not self.done:
            self.look()
            time.sleep(0.02)

    def sums(self):
        found = dict.fromkeys(("gc", "jit", "vm", "rest"), 0)
        for name, seconds in self.seen.values():
            found[kind(name)] += seconds
        return found


@pytest.mark.quiet  # the kernel's clocks of a process are gone when it ends: the last look must be near
@pytest.mark.parametrize("mode,java", [("gc", ["-XX:+UseParallelGC"]), ("gc", ["-XX:+UseG1GC"]),
                                       ("gc", ["-XX:+UseSerialGC"]), ("jit", ["-Xcomp"])],
                         ids=("Parallel", "G1", "Serial", "jit"))
def test_the_parts_are_those_of_the_kernel_s_clocks(workload, profile, locus, jdk, mode, java):
    word = "-Dbill=" + uuid.uuid4().hex
    clocks = Clocks(word)
    clocks.start()
    try:
        run = profile(helpers.command(workload, jdk, "Bill", mode, 2, java=["-Xmx256m", word, *java]))
    finally:
        clocks.done = True
        clocks.join()
    found = json.loads(locus("report", "--format=json", run.directory).stdout)
    bill = found["bill"]
    parts = {name: bill[name]["ns"] for name in ("application", "gc", "jit", "jvm", "locus")}
    assert sum(parts.values()) == bill["process_ns"]
    true, whole = clocks.sums(), bill["process_ns"] / 1e9
    assert abs(sum(true.values()) - whole) < 0.1 * whole, (true, bill)
    # Serial collects in the VM Thread, which does little else; elsewhere the VM Thread is not the collector.
    gc = true["gc"] + (true["vm"] if "-XX:+UseSerialGC" in java else 0)
    assert abs(parts["gc"] / 1e9 - gc) < POINTS * whole, (true, bill)
    assert abs(parts["jit"] / 1e9 - true["jit"]) < POINTS * whole, (true, bill)
    assert (gc if mode == "gc" else true["jit"]) > 0.05 * whole, "it does not do what it is for: %s" % true
    share = 100 * bill["gc"]["share"]
    text = locus("report", run.directory).stdout.splitlines()[1]
    assert text.startswith("CPU ") and (", GC %.*f%%" % (0.05 <= share < 0.95, share)) in text
    assert sum(r["gc_model_ns"] for r in found["ranking"]["rows"]) == pytest.approx(parts["gc"])
