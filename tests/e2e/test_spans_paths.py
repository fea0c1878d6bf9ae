# SPDX-License-Identifier: Apache-2.0
"""--span-paths: executions of one place, apart by who called it, against what the program does."""

from helpers import page_text
import collections

import helpers
import pytest
from conftest import JDK_MAJORS
from test_spans_streams import spans_of

CLASS = "SpanPaths"
TIERS = {"interpreted": (["-Xint"], 6), "C1": (["-XX:TieredStopAtLevel=1"], 300), "tiered": ([], 300)}
FRAMES = 60
# Reflection goes through native code each time, so that the callers are beyond it.
NATIVE = ["-Dsun.reflect.inflationThreshold=2147483647", "-Djdk.reflect.useNativeAccessorOnly=true"]
CALLS = {"once": 1, "twice": 2, "thrice": 3, "reflectOnce": 1, "reflectTwice": 2, "reflectThrice": 3}
SUMS = ("executions", "cycles", "compensated_cycles")


def truth(rounds, frames=FRAMES):
    """{(caller, calls of deep()): executions}"""
    near = {(name, 1): n * rounds for name, n in CALLS.items() if not name.startswith("reflect")}
    far = {(name, frames + 1): n * rounds for name, n in CALLS.items() if not name.startswith("reflect")}
    return near | far | {(name, 0): n * rounds for name, n in CALLS.items() if name.startswith("reflect")}


def by_caller(paths, member="path"):
    found = collections.Counter()
    for row in paths:
        methods = [frame["method"] for frame in row[member]]
        (caller,) = [name for name in methods if name in CALLS]
        found[caller, methods.count("deep")] += row["executions"]
    return dict(found)


def record(profile, locus, workload, jdk, java, rounds, *options):
    command = helpers.command(workload, jdk, CLASS, rounds, FRAMES, java=[*NATIVE, *java])
    run = profile(command, "--spans=streams,tasks", *options)
    assert not helpers.complaints(run.stderr), run.stderr
    return run, spans_of(locus, run)


def only(rows):
    (row,) = rows
    return row


@pytest.mark.few(1)
@helpers.each_value(jdk=JDK_MAJORS, tier=list(TIERS))
def test_each_caller_has_its_own_executions(profile, locus, workload, jdk, tier):
    java, rounds = TIERS[tier]
    run, spans = record(profile, locus, workload, jdk, java, rounds, "--span-paths", "--recursion=keep")
    marks = helpers.marked_lines(CLASS, "span")
    place = only([row for row in spans["locations"] if row["class"] == CLASS])
    task = only([row for row in spans["tasks"] if row["type"] == CLASS + "$Work"])
    assert (place["line"], place["streams"]) == (marks["stream"], 18 * rounds)
    assert by_caller(place["paths"]) == truth(rounds)
    assert by_caller(task["paths"], "creation_path") == truth(rounds)
    assert by_caller(task["paths"], "submission_path") == truth(rounds)
    for row in place["paths"]:
        assert (row["kind"], row["level"]) == ("anonymous", 0)
        assert row["path"][0]["line"] == marks["stream"]
        assert row["path"][-1]["method"] == "main"
    for row in task["paths"]:
        assert row["creation_path"][0]["line"] == marks["create"]
        assert row["submission_path"][0]["line"] == marks["submit"]
    for row in (place, task):
        for figure in SUMS:
            assert sum(p[figure] for p in row["paths"]) == row[figure], figure
    # Threads of the JDK that still run may have more cycles.
    text = locus("spans", run.directory, "--top=6").stdout
    assert "... 12 more paths" in text and "submitted from" in text
    assert '"creation_path":[{' in page_text(locus("spans", run.directory, "--format=html").stdout)


def test_a_path_ends_at_the_depth_asked_for(profile, locus, workload, jdk17):
    rounds = 100
    _, spans = record(profile, locus, workload, jdk17, (), rounds, "--span-paths", "--depth=3", "--recursion=keep")
    place = only([row for row in spans["locations"] if row["class"] == CLASS])
    assert max(len(row["path"]) for row in place["paths"]) == 3
    deep = [row for row in place["paths"] if [f["method"] for f in row["path"]] == ["stream", "deep", "deep"]]
    assert sum(row["executions"] for row in deep) == 6 * rounds
    assert sum(row["executions"] for row in place["paths"]) == 18 * rounds


def test_without_the_option_there_are_only_lines(profile, locus, workload, jdk17):
    rounds = 100
    _, spans = record(profile, locus, workload, jdk17, (), rounds)
    place = only([row for row in spans["locations"] if row["class"] == CLASS])
    assert (place["streams"], place["paths"]) == (18 * rounds, [])
    assert all(row["paths"] == [] for row in spans["tasks"])
