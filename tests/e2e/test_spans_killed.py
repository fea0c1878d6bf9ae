# SPDX-License-Identifier: Apache-2.0
"""Spans that have not ended when the program is killed, or ends while threads are inside: none is lost, none counted twice."""

import json
import os
import re
import signal
import subprocess
import time

import helpers
import pytest
from helpers import page_text
from conftest import BUILD

CLASS = "SpanKilled"
BLOCK_S = 1.2  # what was used since the last block is not in the profile
SECONDS = 7
AFTER_CALIBRATION_S = 60


def program(workload, jdk, ms):
    return helpers.command(workload, jdk, CLASS, ms, *(["virtual"] if jdk.major >= 21 else []))


def spans_of(locus, directory):
    done = locus("spans", directory, "--format=json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def told(text):
    """The CPU seconds that each thread told last."""
    return {name: int(ns) / 1e9 for name, ns in re.findall(r"^(main|nested|task) (\d+)$", text, re.M)}


def by_line(spans):
    return {p["line"]: p for p in spans["locations"] if p["class"] == CLASS}


def by_type(spans, name):
    found = [t for t in spans["types"] if t["type"] == CLASS + "$" + name]
    assert len(found) == 1, [t["type"] for t in spans["types"]]
    return found[0]


def marker(name):
    source = (helpers.WORKLOADS / (CLASS + ".java")).read_text().splitlines()
    found = [n for n, line in enumerate(source, 1) if line.endswith("// span: " + name)]
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def killed(request, tmp_path_factory):
    """The directory of a profile of a program that was killed, and what the program told."""
    done = {}

    def run(workload, jdk):
        if jdk.major in done:
            return done[jdk.major]
        directory = tmp_path_factory.mktemp("killed")
        with open(directory / "out", "w+") as out:
            process = subprocess.Popen(
                [BUILD / "locus", "run", "--spans=streams,tasks", "-o", directory / "p", "--",
                 *program(workload, jdk, 0)], stdout=out, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True)
            try:
                end = time.monotonic() + AFTER_CALIBRATION_S
                while len(told((directory / "out").read_text())) < 3:
                    assert process.poll() is None and time.monotonic() < end
                    time.sleep(0.1)
                time.sleep(SECONDS)
            finally:
                os.killpg(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        done[jdk.major] = (directory / "p", told((directory / "out").read_text()))
        return done[jdk.major]

    return run


def is_near(cycles, hz, cpu_s):
    """The thread's output is up to 0.1 s old, the profile up to a block; measuring is in it."""
    seconds = cycles / hz
    assert cpu_s * 0.97 - BLOCK_S <= seconds <= cpu_s * 1.03 + 0.15, (seconds, cpu_s)


@pytest.mark.recording("span-killed")
def test_a_stream_that_runs_when_the_program_is_killed(workload, jdk, killed, locus):
    directory, cpu = killed(workload, jdk)
    spans = spans_of(locus, directory)
    assert not spans["processes"][0]["complete"]
    place = by_line(spans)[marker("main")]
    assert (place["executions"], place["running"]) == (0, 1)
    assert place["running_cycles"] == place["compensated_cycles"] > 0
    is_near(place["cycles"], spans["clock"]["hz"], cpu["main"])
    assert place["wall_ns"] > (SECONDS - BLOCK_S) * 1e9


@pytest.mark.recording("span-killed")
def test_streams_in_each_other_that_run_in_a_daemon_thread(workload, jdk, killed, locus):
    directory, cpu = killed(workload, jdk)
    spans = spans_of(locus, directory)
    places = by_line(spans)
    outer, inner, tiny = (places[marker(name)] for name in ("outer", "inner", "tiny"))
    assert [(p["executions"], p["running"]) for p in (outer, inner)] == [(0, 1)] * 2
    assert tiny["executions"] > 100_000 and tiny["running"] <= 1
    assert tiny["running_cycles"] <= spans["clock"]["hz"] * 0.2
    assert outer["cycles"] < inner["cycles"] / 10  # it only waits for the other
    is_near(outer["cycles"] + inner["cycles"] + tiny["cycles"], spans["clock"]["hz"], cpu["nested"])


@pytest.mark.recording("span-killed")
def test_tasks_that_run_when_the_program_is_killed(workload, jdk, killed, locus):
    directory, cpu = killed(workload, jdk)
    spans = spans_of(locus, directory)
    names = ["Endless", "Sleeper"] + (["Virtual"] if jdk.major >= 21 else [])
    for name in names:
        task = by_type(spans, name)
        assert (task["executions"], task["folded"], task["running"]) == (0, 0, 1), name
        assert (task["created"], task["dropped"]) == (1, 0), name
    is_near(by_type(spans, "Endless")["cycles"], spans["clock"]["hz"], cpu["task"])
    for name in names[1:]:
        assert 0 < by_type(spans, name)["cycles"] < spans["clock"]["hz"] * 0.1
    assert by_type(spans, "Endless")["active"][-1][1] > SECONDS * 0.8e9


@pytest.mark.recording("span-killed")
def test_a_merged_profile_says_the_same(workload, jdk, killed, locus, tmp_path):
    directory, _ = killed(workload, jdk)
    assert locus("merge", "-o", tmp_path / "merged", directory).returncode == 0
    spans, merged = spans_of(locus, directory), spans_of(locus, tmp_path / "merged")
    assert merged["totals"] == spans["totals"] and spans["totals"]["running"] >= 6
    assert merged["locations"] == spans["locations"]
    assert merged["types"] == spans["types"]


@pytest.mark.recording("span-killed")
def test_every_format_says_what_still_ran(workload, jdk, killed, locus):
    directory, _ = killed(workload, jdk)
    text = locus("spans", directory).stdout
    assert re.search(r"^running   still at the end: \d+ streams", text, re.M)
    assert text.count("still running at the end: 1,") >= 5
    assert "running" in locus("spans", directory, "--format=csv").stdout
    assert "running_cycles" in page_text(locus("spans", directory, "--format=html").stdout)


def check_ended(spans, jdk):
    places = by_line(spans)
    assert [(places[marker(n)]["executions"], places[marker(n)]["running"])
            for n in ("main", "outer", "inner")] == [(1, 0)] * 3
    assert places[marker("tiny")]["running"] == 0
    for name in ["Endless", "Sleeper"] + (["Virtual"] if jdk.major >= 21 else []):
        task = by_type(spans, name)
        assert (task["executions"] + task["folded"], task["running"]) == (1, 0), name


def test_what_ends_later_is_counted_once(workload, jdk, profile, locus):
    run = profile(program(workload, jdk, 4500), "--spans=streams,tasks")
    spans = spans_of(locus, run.directory)
    check_ended(spans, jdk)
    cpu = told(run.stdout)
    is_near(by_line(spans)[marker("main")]["cycles"], spans["clock"]["hz"], cpu["main"])
    assert by_line(spans)[marker("main")]["wall_ns"] > 4e9


def test_exit_and_halt_inside_spans(workload, jdk, profile, locus):
    for how in (-1, -2):  # System.exit(), Runtime.halt(); main's stream has ended by then
        run = profile(program(workload, jdk, how), "--spans=streams,tasks")
        spans = spans_of(locus, run.directory)
        places = by_line(spans)
        assert (places[marker("main")]["executions"], places[marker("main")]["running"]) == (1, 0)
        assert [(places[marker(n)]["executions"], places[marker(n)]["running"])
                for n in ("outer", "inner")] == [(0, 1)] * 2
        for name in ["Endless", "Sleeper"] + (["Virtual"] if jdk.major >= 21 else []):
            assert (by_type(spans, name)["executions"], by_type(spans, name)["running"]) == (0, 1), name
        assert by_type(spans, "Endless")["cycles"] > 0
