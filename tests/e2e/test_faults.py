# SPDX-License-Identifier: Apache-2.0
"""A stack that cannot be walked costs its samples their paths, and nothing else."""

import pytest
from conftest import BUILD, run_command
from helpers import command, complaints, counters, native_library, report

FAULTS_MAX = 8


def poisoned(workload, profile, jdk, tmp_path, rounds, ms):
    """Native code that lets its thread's last frame lead to memory that is not there (native/poison.c)."""
    library = native_library(jdk, "poison", tmp_path)
    if not library:
        pytest.skip("no C compiler on this machine")
    java = ["-XX:+UseSerialGC", "-Xint"]
    return profile(command(workload, jdk, "Poison", library, rounds, ms, java=java), "--interval=1ms")


def test_walk_that_faults_is_survived_and_told(workload, profile, jdk, tmp_path):
    run = poisoned(workload, profile, jdk, tmp_path, 3, 100)
    assert (run.returncode, run.stdout) == (0, "alive\n")
    c = counters(run)
    assert c["engine_walk_faults"] == FAULTS_MAX and c["engine_walks_stopped"] == 1, c
    assert len(complaints(run.stderr)) == 1 and "it walks no more stacks" in run.stderr, run.stderr
    assert c["engine_timer_samples"] > FAULTS_MAX
    report(run)
    text = run_command([BUILD / "locus", "report", run.directory]).stdout
    assert " ".join(text.split()).count("note: 8 stack walks ended in a fault") == 1, text


def test_one_fault_does_not_end_walking(workload, profile, jdk, tmp_path):
    run = poisoned(workload, profile, jdk, tmp_path, 1, 8)
    assert (run.returncode, run.stdout) == (0, "alive\n")
    c = counters(run)
    if c["engine_walk_faults"] >= FAULTS_MAX:
        pytest.skip("this machine has interrupted 8 ms more than eight times")
    assert not complaints(run.stderr), run.stderr
    # Later code has its paths again: Java code, after the poisoned part.
    methods = report(run)["code"]["methods"]
    assert [row for row in methods if row["method"] == "work" and row["total"] > 0], methods
