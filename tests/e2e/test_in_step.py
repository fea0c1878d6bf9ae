# SPDX-License-Identifier: Apache-2.0
"""A program in step with the kernel's tick, or with the JVM's sampled allocations, is sampled truly; without jitter it is not.

The truth is each thread's own CPU clock, read by the program, and the number of its rounds.
"""

import itertools
import time

import helpers
import pytest
from conftest import JDK_MAJORS
from oracles import total_of

CLOCK_MONOTONIC_COARSE = 6  # of Linux; it goes on at the tick
TICK_NS = round(1e9 * time.clock_getres(CLOCK_MONOTONIC_COARSE))
EIGHTHS = (1, 3, 5, 7)  # of a period: no tick comes where the program goes on to the other array
BIAS, POINTS, POINTS_OF_ONE = 0.15, 0.03, 0.06
SHAPES = [  # ticks in a period of the program; CPU time between two samples; seconds for each phase
    (1, "3ms", 2.5),
    (2, "%dns" % (2 * TICK_NS), 6),
]
CASES = [
    pytest.param(jdk, *shape, marks=() if shape is SHAPES[0] else pytest.mark.slow)
    for jdk, shape in itertools.product(JDK_MAJORS, SHAPES)
]


def differences(profile, line, eighths, *options):
    """For each phase, the sampled less the true share of the array that is read for 80% of the time."""
    run = profile(line, "--event=timer", "--budget=none", *options)
    found = []
    for eighth, true in zip(eighths, helpers.truth(run)["phases"]):
        r = helpers.report(run, "--thread=phase-%d" % eighth)
        longer, shorter = (
            sum(s["samples"] for s in helpers.sites_through(r, method)) for method in ("newLong", "newShort")
        )
        assert longer + shorter > r["samples"]["total"] / 2, r["samples"]  # a third array was first
        found.append(longer / (longer + shorter) - true["long_ns"] / (true["long_ns"] + true["short_ns"]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("jdk", "ticks", "interval", "seconds"), CASES, indirect=["jdk"])
def test_a_program_in_step_with_ticks_has_true_shares(profile, workload, jdk, ticks, interval, seconds):
    """Some 800 samples a phase: a share of 80% has a standard error of 1.4 points."""
    period_us = ticks * TICK_NS // 1000
    interval = "--interval=" + interval

    def line(for_seconds):
        return helpers.command(workload, jdk, "InStep", period_us, for_seconds, *EIGHTHS)

    biased = differences(profile, line(0.3), EIGHTHS, interval, "--jitter=off")
    assert min(map(abs, biased)) > BIAS, biased
    found = differences(profile, line(seconds), EIGHTHS, interval)
    assert max(map(abs, found)) < POINTS_OF_ONE, (found, biased)
    assert sum(map(abs, found)) / len(found) < POINTS, (found, biased)


ROUNDS = 5_000_000  # 15 GB, and 117,000 samples


def error_of_estimates(profile, line, *options):
    """Squares of the errors by what the intervals let expect, on average of the 16 sites: 1, with a deviation of 0.35."""
    run = profile(line, "--event=alloc", "--sample-interval=128k", "--budget=none", *options)
    lines = helpers.marked_lines("AlikeRounds", "small")
    found = {at: [] for at in lines.values()}
    for e in helpers.report(run, "--top=1000")["estimates"]:
        first = (e["allocation_path"] or [{}])[0]
        if first.get("class") == "AlikeRounds" and first["line"] in found:
            found[first["line"]].append(e)
    totals = [total_of(own) for own in found.values()]
    return sum(((objects - ROUNDS) / (half / 1.96)) ** 2 for objects, half in totals) / len(totals)


@helpers.each_value(jdk=JDK_MAJORS)
def test_a_program_in_step_with_sampled_allocations_has_true_estimates(profile, workload, jdk):
    """HotSpot's distances between two samples of allocations are multiples of some bytes, counted from an object's end."""
    line = helpers.command(workload, jdk, "AlikeRounds", ROUNDS, java=["-Xmx256m", "-XX:+UseSerialGC"])
    assert error_of_estimates(profile, line, "--jitter=off") > 3  # 6 to 11 were measured
    assert error_of_estimates(profile, line) < 2.8
