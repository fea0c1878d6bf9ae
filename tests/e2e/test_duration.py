# SPDX-License-Identifier: Apache-2.0
"""`locus run -d TIME`: the recording ends, and the program goes on as if nothing had been recorded."""

import json
import re

import pytest
from conftest import JDK_MAJORS
from helpers import COLLECTORS, allocations, collector, command, complaints, each_pair, each_value, sites_through, truth

NEAR = 1  # seconds from the time that is up to the end of the recording, on a busy machine


def recorded(run):
    """The report, and the clock when the recording had ended."""
    (process,) = run.manifest()["processes"]
    assert process["complete"]
    return run.report("--top=100000"), process


def made_at(known, ns, of="made"):
    """At least and at most so many arrays had been made, or rounds, by then."""
    column = {"made": 1, "rounds": 2}[of]
    before = max((row[column] for row in known["counts"] if row[0] <= ns), default=0)
    return before, min((row[column] for row in known["counts"] if row[0] > ns), default=known[of])


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS, options=((), ("--min-size=0",), ("--spans=streams,tasks",)))
def test_what_is_recorded_ends_in_time_and_is_exact_until_then(profile, workload, jdk, gc, options):
    line = command(workload, jdk, "Duration", 2400, 7, java=["-Xmx256m", *collector(gc)])
    run = profile(line, "--duration=800ms", *options, check=False)
    assert run.returncode == 7, run.stderr
    report, process = recorded(run)
    assert complaints(run.stderr) == []
    known, end = truth(run), process["end_monotonic_ns"]
    begin = known["counts"][0][0]  # soon after Locus has started: it may calibrate its clocks before
    assert process["limited"] and report["processes"][0]["limited"]
    assert 0.5e9 <= end - begin <= (0.8 + NEAR) * 1e9
    counted = allocations(sites_through(report, "make", "Duration"))
    # Hooks are off within NEAR of the end; the program counts a hundred arrays after it has made them.
    assert made_at(known, end)[0] <= counted <= made_at(known, end + NEAR * 1e9)[1] + 100 < known["made"]
    assert not sites_through(report, "other", "Duration")
    assert not any(t["name"].startswith("late-") for t in report["threads"])
    assert 20 < report["samples"]["total"] < (0.8 + NEAR) * 1e9 / 5e6 * 1.2 + 20
    assert report["bill"]["application"]["ns"] < (0.8 + NEAR) * 1e9  # of the 2.4 s


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_spans_are_exact_until_the_end(profile, workload, locus, jdk, gc):
    line = command(workload, jdk, "Duration", 1800, 0, "spans", java=["-Xmx256m", *collector(gc)])
    run = profile(line, "--duration=600ms", "--spans=streams,tasks", "--trace")
    process, known = recorded(run)[1], truth(run)
    least, most = made_at(known, process["end_monotonic_ns"], "rounds")[0], \
        made_at(known, process["end_monotonic_ns"] + NEAR * 1e9, "rounds")[1]
    assert most < known["rounds"]
    spans = json.loads(locus("spans", "--format=json", run.directory).stdout)
    # One of each may run, or be created, when the recording ends.
    assert 10 * least - 10 <= spans["totals"]["streams"] <= 10 * most + 10
    assert least - 1 <= spans["totals"]["executed"] - spans["totals"].get("thread", 0) <= most + 1


def test_nothing_of_locus_is_left_in_the_process(profile, workload, jdk):
    line = command(workload, jdk, "Duration", 1500, 0, "spans", java=["-Xmx256m"])
    run = profile([*line, "locus"], "-d", "400ms", "--spans=streams,tasks", "-e", "timer")
    known = truth(run)
    assert [t for t in known["threads"] if "locus" in t.lower()] == []
    assert [f for f in known["files"] if str(run.directory) in f or "perf_event" in f] == []
    assert known["timers"] in (0, -1)
    whole = truth(profile(line, "--spans=streams,tasks", "-e", "timer"))
    assert "locus" in whole["threads"] and whole["timers"] != 0  # else the above would prove nothing


def test_a_program_that_ends_before_is_recorded_to_its_end(profile, workload, jdk):
    run = profile(command(workload, jdk, "Duration", 300, 3), "--duration=100s", check=False)
    assert run.returncode == 3, run.stderr
    report, process = recorded(run)
    assert "limited" not in process and "limited" not in report["processes"][0]
    assert allocations(sites_through(report, "make", "Duration")) == truth(run)["made"]


@each_value(jdk=JDK_MAJORS, time=["1ms", "20ms", "250ms"])
def test_the_end_may_come_while_the_jvm_starts(profile, workload, locus, jdk, time):
    run = profile(command(workload, jdk, "Duration", 1000, 0), "--duration", time)
    (process,) = run.manifest()["processes"]
    assert process["complete"] and process["limited"] and complaints(run.stderr) == []
    done = locus("report", "--format=json", "--top=100000", run.directory)
    if done.returncode: # nothing was recorded, and that is said
        assert "is empty" in done.stderr and time != "250ms"
    else:
        assert allocations(sites_through(json.loads(done.stdout), "make", "Duration")) < truth(run)["made"]


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_the_end_may_come_while_threads_start_and_garbage_is_collected(profile, workload, jdk, gc):
    for ms in (601, 713, 827):
        line = command(workload, jdk, "Duration", 1000, 0, java=["-Xmx64m", "-Xmn4m", "-Xcheck:jni", *collector(gc)])
        run = profile(line, "--duration=%dms" % ms, "--audit")
        assert recorded(run)[1]["limited"] and complaints(run.stderr) == []
        assert "WARNING in native method" not in run.stdout and "FATAL ERROR" not in run.stdout


def test_the_text_says_that_the_rest_is_not_recorded(profile, workload, locus, jdk):
    run = profile(command(workload, jdk, "Duration", 600, 0), "--duration=300ms")
    head = locus("report", run.directory).stdout.splitlines()[0]
    assert re.match(r"Duration, .*, recorded for [\d.]+ m?s, ", head), head
    assert ", recorded for " in locus("report", "--view=recording", run.directory).stdout


@pytest.mark.parametrize("text", ("30", "-1s", "0.1us", "1x", ""))
def test_a_time_that_is_none_is_refused(locus, tmp_path, text):
    done = locus("run", "--duration=" + text, "-o", tmp_path / "p", "--", "true")
    assert done.returncode == 2 and "duration" in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "p").exists()
