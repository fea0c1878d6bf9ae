# SPDX-License-Identifier: Apache-2.0
"""The use of a process's CPU time, against the clocks of its threads as the kernel shows them."""

import json
import os
import pathlib
import subprocess

import helpers
import pytest
from conftest import BUILD

GC = ("GC Thread", "G1 ", "ParGC", "PS ")
JIT = ("C1 Compiler", "C2 Compiler")
POINTS = 0.06  # of the process's CPU time


def kind(name):
    if name.startswith(JIT):
        return "jit"
    if name.startswith(GC):
        return "gc"
    return "vm" if name == "VM Thread" else "rest"


def clocks(pid):
    """The name, the CPU time in seconds and the state of each thread of the process, and the process's own time."""
    threads = []
    for task in pathlib.Path("/proc/%d/task" % pid).iterdir():
        try:
            name, state = (task / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            threads.append((name, int((task / "schedstat").read_text().split()[0]) / 1e9, state.split()[0]))
        except OSError:
            pass  # ended meanwhile
    used = pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()
    return threads, (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def at_rest(pid):
    """The same once no thread but Locus's runs, or waits for a CPU: the program waits for a line."""
    seen = []

    def rests():
        threads, process = clocks(pid)
        seen.append((threads, process))
        others = [[t for t in look[0] if t[0] != "locus"] for look in seen[-2:]]
        return len(seen) > 1 and others[0] == others[1] and all(state == "S" for _, _, state in others[1])

    helpers.wait_until("at rest", rests)
    return seen[-1]


def java_of(pid):
    """The process that `locus run` has started."""
    return int(pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()[0])


@pytest.mark.parametrize("mode,java", [("gc", ["-XX:+UseParallelGC"]), ("gc", ["-XX:+UseG1GC"]),
                                       ("gc", ["-XX:+UseSerialGC"]), ("jit", [])],
                         ids=("Parallel", "G1", "Serial", "jit"))
def test_the_parts_are_those_of_the_kernel_s_clocks(workload, locus, tmp_path, jdk, mode, java):
    # Compiler threads that end would take their clocks with them.
    line = helpers.command(workload, jdk, "Bill", mode, java=["-Xmx256m", "-XX:-UseDynamicNumberOfCompilerThreads", *java])
    with subprocess.Popen([BUILD / "locus", "run", "-q", "-o", tmp_path / "p", "--", *line],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "done\n"
            threads, process = at_rest(java_of(run.pid))
            run.communicate("\n", timeout=300)
        finally:
            run.kill()
    assert run.returncode == 0
    true = dict.fromkeys(("gc", "jit", "vm", "rest"), 0)
    for name, seconds, _ in threads:
        true[kind(name)] += seconds
    true["rest"] += process - sum(true.values())  # of threads that have ended
    found = json.loads(locus("report", "--format=json", tmp_path / "p").stdout)
    bill = found["bill"]
    parts = {name: bill[name]["ns"] for name in ("application", "gc", "jit", "jvm", "locus")}
    assert sum(parts.values()) == bill["process_ns"]
    whole = bill["process_ns"] / 1e9
    assert abs(sum(true.values()) - whole) < 0.1 * whole, (true, bill)
    # Serial collects in the VM Thread, which does little else; elsewhere the VM Thread is not the collector.
    gc = true["gc"] + (true["vm"] if "-XX:+UseSerialGC" in java else 0)
    assert abs(parts["gc"] / 1e9 - gc) < POINTS * whole, (true, bill)
    assert abs(parts["jit"] / 1e9 - true["jit"]) < POINTS * whole, (true, bill)
    assert (gc if mode == "gc" else true["jit"]) > 0.05 * whole, "it does not do what it is for: %s" % true
    share = 100 * bill["gc"]["share"]
    # On a busy machine the line before it may be longer than the screen is wide, and notes come before it.
    (line,) = [line for line in locus("report", tmp_path / "p").stdout.splitlines() if line.startswith("CPU ")]
    assert (", GC %.*f%%" % (0.05 <= share < 0.95, share)) in line
    assert sum(r["gc_model_ns"] for r in found["ranking"]["rows"]) == pytest.approx(parts["gc"])
