# SPDX-License-Identifier: Apache-2.0
"""Streams that compute the same again and again: named where they do, and only there."""

import helpers
import pytest
from test_spans_streams import spans_of

CLASS = "SpanInvariant"
VARYING = ("content", "sum", "array", "twofold", "cells", "field", "few", "zero", "captured", "objects", "none")


def named(spans):
    """{line: diagnosis} of what is called invariant, by whatever verdict."""
    return {d["location"]["line"]: d for d in spans["diagnoses"] if d["pattern"] == "invariant-streams"}


def place(spans, line):
    (found,) = [p for p in spans["locations"] if (p["class"].split("$")[0], p["line"]) == (CLASS, line)]
    return found


def test_a_stream_to_hoist_is_named_until_it_is_hoisted(profile, locus, workload, jdk):
    """The encoder of telephone numbers: the map of words by their numbers is made for each part anew."""
    marks = helpers.marked_lines(CLASS, "invariant")
    runs = {}
    for mode, numbers in (("slow", 1500), ("fast", 6000)):
        run = profile(helpers.command(workload, jdk, CLASS, mode, numbers), "--spans=streams")
        assert not helpers.complaints(run.stderr), run.stderr
        runs[mode] = run, spans_of(locus, run), helpers.truth(run)["cpu_ms"] / numbers
    run, spans, slow = runs["slow"]
    found = named(spans)
    assert list(found) == [marks["wordsForNum"]], found
    finding = found[marks["wordsForNum"]]
    assert finding["verdict"] == "finding" and "hoist" in finding["change"]
    whole = place(spans, marks["wordsForNum"])
    looked = whole["looked_at"]
    # The dictionary and what is made of it never change: all but the first repeat it.
    assert looked["comparable"] >= 20 and looked["repeated"] == looked["comparable"] - 1, looked
    assert looked["changed"] == looked["plain"] == 0
    text = locus("spans", run.directory).stdout
    assert "%d of %d compared executions" % (looked["repeated"], looked["comparable"]) in text
    # It says what the change gives, and the change gives it.
    part = finding["compensated_cycles"] / spans["totals"]["stream_cycles"]
    _, spans, fast = runs["fast"]
    assert part > 0.8 and fast < 0.5 * slow, (part, slow, fast)
    assert not named(spans)


def test_what_changes_is_not_called_the_same(profile, locus, workload, jdk):
    """One source of one size: contents, captures, fields or elements change, or results are few."""
    run = profile(helpers.command(workload, jdk, CLASS, "varying", 15000), "--spans=streams")
    spans, marks = spans_of(locus, run), helpers.marked_lines(CLASS, "invariant")
    assert not named(spans), named(spans)
    for name in VARYING:
        found = place(spans, marks[name])
        assert found["streams"] == 15000
        if name != "twofold":  # two contents in turn: half of those looked at
            assert found["looked_at"]["repeated"] == 0, (name, found["looked_at"])
    assert sum(place(spans, marks[name])["looked_at"]["comparable"] for name in VARYING) >= 50


@pytest.mark.parametrize("collector", helpers.COLLECTORS)
def test_looking_outlives_collections(profile, locus, workload, jdk17, collector):
    """The tests compare contents and identity hashes, which stay when objects move."""
    java = [*helpers.collector(collector), "-Xmx32m"]
    run = profile(helpers.command(workload, jdk17, CLASS, "slow", 1500, java=java), "--spans=streams", "--span-paths")
    looked = place(spans_of(locus, run), helpers.marked_lines(CLASS, "invariant")["wordsForNum"])["looked_at"]
    assert looked["comparable"] >= 20 and looked["changed"] == 0, looked
    assert looked["repeated"] >= 0.5 * looked["comparable"], looked
