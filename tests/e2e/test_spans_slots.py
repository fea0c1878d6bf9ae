# SPDX-License-Identifier: Apache-2.0
"""Spans of more places and threads than the agent keeps apart: nothing is lost, and it is said."""

import json
import re

from helpers import page_text
import helpers

CLASS = "ManySlots"
SLOTS_MAX = 1 << 16  # of src/span/frames/stack.h
OTHER = "(other places: no slot left)"


def record(profile, workload, jdk, threads, levels, rounds=1):
    """No path is cut, however slow the machine is: "[cut]" would take the place of the class."""
    program = helpers.command(workload, jdk, CLASS, threads, levels, rounds)
    run = profile(program, "--spans=streams,tasks", "--budget=none")
    text = (run.directory / "manifest.json").read_text()
    counters = {name: int(value) for name, value in re.findall(r'"(spans?_[a-z_]+)":(\d+)', text)}
    truth = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", run.stdout)}
    assert truth == {"streams": threads * levels * rounds, "tasks": threads * rounds}
    assert counters["spans_too_deep"] == counters["spans_rows_lost"] == 0
    assert counters["spans_anonymous"] == truth["streams"]
    return run, counters, truth


def report(locus, run, output="json"):
    done = locus("spans", run.directory, "--format=" + output)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_twenty_thousand_slots_are_kept_apart(profile, locus, workload, jdk):
    """100 threads with 200 levels: each level was executed once by each thread."""
    run, counters, _ = record(profile, workload, jdk, 100, 200)
    assert counters["spans_other_place"] == 0
    spans = json.loads(report(locus, run))
    levels = {s["level"]: s["executions"] for s in spans["streams"] if s["class"] == CLASS}
    assert levels == {level: 100 for level in range(200)}
    work = [t for t in spans["types"] if t["type"] == CLASS + "$Work"]
    assert [t["executed"] for t in work] == [100]
    assert OTHER not in json.dumps(spans)


def test_what_finds_no_slot_is_counted_named_and_warned_of(profile, locus, workload, jdk17):
    run, counters, truth = record(profile, workload, jdk17, 350, 200)
    other = counters["spans_other_place"]
    assert truth["streams"] - SLOTS_MAX < other < truth["streams"] / 4
    spans = json.loads(report(locus, run))
    rows = {p["class"]: p for p in spans["locations"]}
    assert rows[CLASS]["executions"] + rows[OTHER]["executions"] == truth["streams"]
    for row in (rows[CLASS], rows[OTHER]):  # a brief thread is switched while its clock is young
        assert row["cycles"] - row["compensated_cycles"] < 1000 * row["executions"], row
        assert row["compensated_cycles"] > 0
    types = {t["type"]: t["executed"] for t in spans["types"]}
    # It depends on the threads' order whether tasks find no slot either.
    assert rows[OTHER]["executions"] + types.get(OTHER, 0) == other
    assert "" not in rows and "" not in types  # an empty place is one that is not known
    assert not any(d["location"] and d["location"]["class"] == OTHER for d in spans["diagnoses"])
    warning = "%d of %d executions are in one row, %s" % (other, spans_executed(spans), OTHER)
    assert any(w.startswith(warning) for w in spans["warnings"]), spans["warnings"]
    for output in ("text", "html", "csv"):
        text = report(locus, run, output)
        assert warning in (page_text(text) if output == "html" else text)


def spans_executed(spans):
    return sum(p["executions"] for p in spans["locations"]) + sum(t["executed"] for t in spans["types"])


def test_slots_of_threads_that_have_ended_are_used_again(profile, locus, workload, jdk17):
    """Four rounds of 25,000 slots are more than there are; no two rounds are."""
    run, counters, truth = record(profile, workload, jdk17, 125, 200, 4)
    assert truth["streams"] > SLOTS_MAX
    assert counters["spans_other_place"] == 0
    spans = json.loads(report(locus, run))
    assert {p["class"]: p["executions"] for p in spans["locations"]} == {CLASS: truth["streams"]}
