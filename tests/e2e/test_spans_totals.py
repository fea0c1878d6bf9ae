# SPDX-License-Identifier: Apache-2.0
"""Cycles of spans with what is inside them, against the CPU time that the program used there."""

import re

import helpers
import pytest
from test_spans_streams import spans_of

CLASS = "SpanTotals"


@pytest.fixture
def recorded(profile_once, locus, workload, jdk):
    """The report, the CPU time in cycles of the report's clock, by name, and lines by name."""
    java = ["-Djava.util.concurrent.ForkJoinPool.common.parallelism=1"]
    run = profile_once("span-totals-%d" % jdk.major, helpers.command(workload, jdk, CLASS, java=java),
                       "--spans=streams,tasks")
    assert not helpers.complaints(run.stderr), run.stderr
    spans = spans_of(locus, run)
    cycles = {name: int(ns) / 1e9 * spans["clock"]["hz"] for name, ns in re.findall(r"^(\w+) (\d+)$", run.stdout, re.M)}
    return spans, cycles, helpers.marked_lines(CLASS, "span")


def is_near(found, expected):
    # The thread's CPU time has what the JVM and Locus do on the thread; cycles of spans do not.
    assert 0.85 * expected < found < 1.1 * expected, (found, expected)


def location(spans, line):
    (found,) = [p for p in spans["locations"] if (p["class"], p["line"]) == (CLASS, line)]
    return found


@pytest.mark.recording("span-totals")
def test_totals_have_each_cycle_once(recorded):
    spans, cycles, lines = recorded
    outer, inner = location(spans, lines["parallel"]), location(spans, lines["inner"])
    is_near(outer["total_cycles"], cycles["main"] + cycles["other"])
    is_near(inner["total_cycles"], cycles["main"] + cycles["other"])
    assert outer["compensated_cycles"] < 0.1 * outer["total_cycles"] and inner["streams"] == 8 * 32
    # A line in itself, and a stream in the innermost of it.
    place, leaf = location(spans, lines["recursion"]), location(spans, lines["leaf"])
    assert (place["streams"], place["levels"], leaf["streams"]) == (20, 5, 4)
    is_near(place["total_cycles"], cycles["recursion"])
    is_near(place["compensated_cycles"], cycles["recursion"] / 2)
    is_near(leaf["total_cycles"], cycles["recursion"] / 2)


@pytest.mark.recording("span-totals")
def test_workers_share_what_is_inside(recorded):
    spans, cycles, lines = recorded
    place = location(spans, lines["parallel"])
    (first, second) = sorted(place["workers"], key=lambda w: w["thread"] != "main")
    is_near(first["total_cycles"], cycles["main"])
    is_near(second["total_cycles"], cycles["other"])
    mean = (cycles["main"] + cycles["other"]) / 2
    assert abs(place["variation"] - abs(cycles["main"] - mean) / mean) < 0.05, place["variation"]
    (found,) = [d for d in spans["diagnoses"] if d["pattern"] == "unbalanced" and d["location"]]
    assert (found["verdict"], found["location"]["line"]) == ("finding", lines["parallel"]), found
    is_near(found["compensated_cycles"], 2 * mean)


@pytest.mark.recording("span-totals")
def test_a_composite_has_the_cycles_of_what_it_was_given(recorded):
    spans, cycles, lines = recorded
    rows = {r["creation"]["line"]: r for r in spans["types"] if (r["creation"] or {}).get("class", "").startswith(CLASS)}
    whole = rows[lines["composite"]]
    assert (whole["created"], whole["submitted"], whole["executions"], whole["folded"]) == (10, 10, 10, 0), whole
    is_near(whole["compensated_cycles"], cycles["composites"])
    assert whole["total_cycles"] == whole["compensated_cycles"]
    for name in ("part", "other"):
        part = rows[lines[name]]
        assert (part["submitted"], part["executions"], part["folded"], part["dropped"]) == (0, 0, 10, 0), part
