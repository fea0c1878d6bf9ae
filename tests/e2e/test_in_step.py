"""A program in step with the kernel's tick is sampled truly, and without jitter it is not.

The truth is each thread's own CPU clock, read by the program.
"""

import itertools
import time

import helpers
import pytest
from conftest import JDK_MAJORS

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
