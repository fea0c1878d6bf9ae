# SPDX-License-Identifier: Apache-2.0
"""Threads that live for less than the kernel's tick, or little longer, have their share of samples.

The truth is each thread's own CPU clock, read by the program.
"""

import itertools

import pytest
from conftest import JDK_MAJORS
from helpers import COLLECTORS, collector, command, covering, report, sites_through, truth

POINTS = 0.025
KINDS = ("thread", "pool", "burst")
LIVES_US = (200, 700, 2000, 11000)
INTERVALS = ("5ms", "1ms")
AXES = ("jdk", "kind", "life_us", "interval", "gc")
FEW = [
    (17, "thread", 200, "5ms", "G1"),
    (25, "pool", 700, "1ms", "Parallel"),
    (25, "burst", 200, "5ms", "Serial"),
    (17, "thread", 2000, "1ms", "G1"),
]
PAIRS = covering(list(itertools.product(JDK_MAJORS, KINDS, LIVES_US, INTERVALS, COLLECTORS)))


def samples_in(r, allocated, accessed):
    """Samples in what one method allocated, taken while another one was on the stack."""
    return sum(
        a["samples"]
        for s in sites_through(r, allocated)
        for a in s["accesses"]
        if any(f["method"] == accessed for f in a["path"])
    )


def run_and_check(profile, command_line, interval, locus):
    run = profile(command_line, "--event=timer", "--interval=" + interval)
    r, true = report(run), truth(run)
    interval_ns = int(interval[:-2]) * 1_000_000
    short, steady = samples_in(r, "newShort", "piece"), samples_in(r, "newSteady", "steady")
    share = true["short_ns"] / (true["short_ns"] + true["steady_ns"])
    found = short / (short + steady)
    assert abs(found - share) < POINTS, (found, share, short, steady, true)
    engine, used_ns = r["engine"], r["engines"][0]["cpu_ns"]
    assert (engine["name"], engine["interval_ns"]) == ("timer", interval_ns)
    assert abs(r["samples"]["total"] * interval_ns - used_ns) < 0.05 * used_ns, (r["samples"], used_ns)
    text = locus("report", "--view=recording", run.directory).stdout
    assert "CPU time that the threads used" in text, text
    assert ("limited by the kernel's tick" in text) == (engine["tick_ns"] > interval_ns), text


@pytest.mark.few(2)
@pytest.mark.parametrize(AXES, FEW, indirect=["jdk"])
def test_short_threads_have_their_share(profile, locus, workload, jdk, kind, life_us, interval, gc):
    line = command(workload, jdk, "ShortThreads", kind, life_us, 1.5, java=collector(gc))
    run_and_check(profile, line, interval, locus)


@pytest.mark.slow
@pytest.mark.parametrize(AXES, PAIRS, indirect=["jdk"])
def test_short_threads_of_each_kind_have_their_share(profile, locus, workload, jdk, kind, life_us,
                                                     interval, gc):
    line = command(workload, jdk, "ShortThreads", kind, life_us, 4, java=collector(gc))
    run_and_check(profile, line, interval, locus)
