# SPDX-License-Identifier: Apache-2.0
"""Locus's figures of its own cost, and the budget that follows from it."""

import json
import os
import statistics
import subprocess

import pytest
from helpers import command, counters, report


def cpu_seconds(run):
    """CPU time of what `run` starts, with all its children that have been waited for."""
    before = os.times()
    run()
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


@pytest.mark.slow
def test_own_cost_is_of_the_size_that_it_has_from_outside(workload, profile, jdk):
    """A program whose hooks cost much, in turn with Locus and without: within a factor of two.

    docs/engines/timer.md says what the model leaves out.
    """
    program = command(
        workload, jdk, "OwnCost", 12, 1100, java=["-Xmx1g", "-XX:+UseParallelGC"]
    )
    bare, profiled, told = [], [], []
    for _ in range(3):
        bare.append(cpu_seconds(lambda: subprocess.run(program, check=True)))

        def with_locus():
            told.append(profile(program))

        profiled.append(cpu_seconds(with_locus))
    own = []
    for run in told:
        c = counters(run)
        own.append(
            sum(c["own_%s_ns" % part]
                for part in ("hooks", "samples", "events", "thread", "pauses", "startup")) / 1e9
        )
    outside = statistics.median(profiled) - statistics.median(bare)
    inside = statistics.median(own)
    assert outside > 0.15 * statistics.median(bare), (bare, profiled)
    assert 0.5 < inside / outside < 2, (bare, profiled, own)


def test_report_says_what_locus_cost(workload, profile, locus, jdk17):
    run = profile(command(workload, jdk17, "OwnCost", 2, 1100), "--spans=streams,tasks")
    r = report(run)
    own = r["locus_itself"]
    parts = sum(own[p] for p in ("hooks", "samples", "events", "own_thread", "pauses"))
    assert own["share"] == pytest.approx(parts) and 0 < own["share"] < 1, own
    assert own["hooks"] > 0 and own["startup_ns"] > 10_000_000, own
    left_out = own["not_included"] + " not included"
    assert "JIT" in left_out and r["bill"]["locus"]["not_included"] == own["not_included"]
    assert left_out in " ".join(locus("report", run.directory).stdout.split())
    for command_name in ("numa", "spans"):
        told = json.loads(locus(command_name, "--format=json", run.directory).stdout)["locus_itself"]
        assert told == own
    line = next(t for t in locus("report", "--view=recording", run.directory).stdout.splitlines() if t.startswith("Locus itself: "))
    assert left_out in line
    assert line in locus("spans", run.directory).stdout.splitlines()
    assert line in locus("numa", run.directory).stdout.splitlines()


def test_report_says_what_locus_holds(workload, profile, locus, jdk):
    """The memory that it uses, not the hundreds of megabytes that it reserves; the text has the same figure."""
    run = profile(command(workload, jdk, "OwnCost", 2, 1100))
    held = report(run)["locus_itself"]["memory_bytes"]
    assert held == counters(run)["own_memory_bytes"]
    assert 256 << 10 < held < 128 << 20, held
    text = locus("report", "--view=recording", run.directory).stdout
    (line,) = [part for part in text.splitlines() if part.startswith("Locus itself")]
    size, unit = (held / 2**20, "MB") if held >= 1023.95 * 2**10 else (held / 2**10, "KB")
    assert line.endswith(", %.1f %s" % (size, unit)), line


@pytest.mark.slow
def test_intervals_become_longer_and_samples_stand_for_as_much(workload, profile, jdk):
    """Samples cost more than 1%, and so do counts: samples become fewer, and still add up to the CPU time."""
    run = profile(
        command(workload, jdk, "OwnCost", 110, 1100, java=["-Xmx1g", "-XX:+UseParallelGC"]),
        "--budget=1%", "--sample-interval=16k",
    )
    r, c = report(run), counters(run)
    assert c["budget_changes"] >= 1 and c["budget_stretch"] > 1, c
    assert c["budget_exceeded"] >= 1, c
    assert r["samples"]["total"] * 5e6 == pytest.approx(c["engine_timer_counted"], rel=0.05), c
    assert sum(s["allocations"] for s in r["sites"] if s["class"] == "byte[]") >= 220_000_000


def test_a_program_that_works_now_and_then_keeps_all_its_samples(workload, profile, jdk):
    """It uses a tenth of a CPU: what Locus's own thread and its events use does not make the intervals longer."""
    run = profile(command(workload, jdk, "NowAndThen", 13, 100))
    r, c = report(run), counters(run)
    assert c["own_process_ns"] > 1.2e9, c  # the budget has looked
    assert c["budget_stretch"] == 1 and c["budget_changes"] == 0, c
    assert "intervals" not in run.manifest()["processes"][0], run.manifest()
    assert r["samples"]["total"] > 150, r["samples"]


def test_the_thread_of_locus_sleeps_while_the_program_does(workload, profile, jdk):
    """It looks as often as the program has used CPU time that is worth a look, and sleeps longer and longer."""
    run = profile(command(workload, jdk, "NowAndThen", 9, 0))
    c, process = counters(run), run.manifest()["processes"][0]
    seconds = (process["end_monotonic_ns"] - process["start_monotonic_ns"]) / 1e9
    used = (c["own_process_ns"] - c["own_thread_ns"]) / 1e9
    collections = c["gc_collections"]
    assert c["own_thread_looks"] <= used / 0.01 + seconds / 10 + 2 * collections + 5, c
    assert c["own_thread_wakes"] <= 10 * seconds / 2, (seconds, c)  # it would be ten a second
