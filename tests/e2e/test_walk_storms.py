# SPDX-License-Identifier: Apache-2.0
"""Storms of call paths: deep stacks, and stacks that do not come again. Counts stay exact, and what a path costs is bounded.

Bounded things are counted: walks by the JVM, frames that Locus looks at, bytes of the profile. `scripts/bench_storms.py` measures times.
"""

import json

import pytest
from conftest import JDK_MAJORS, Profile
from helpers import allocations, by_hand, command, complaints, counters, each_value, execute, report, sites_through

# MODE: times
MODES = {
    "overflow": 4,
    "exceptions": 4000,
    "lambdas": 60,
    "trees": 60,
    "classes": 150,
    "loaders": 5,
}
VIRTUAL = ("overflow", "exceptions", "lambdas", "trees")
# An event looks at its own frame and at the one that was known, and each exception or round at those it comes back to. The rest is for the
# first walks, and for stacks whose code the JIT replaces.
FRAMES_EACH, FRAMES_AT_FIRST = 8, 200_000
# "trees": 20 events a round, each 100 frames further on.
FRAMES_OF_TREES = 120
JVM_WALKS = 100
CUT = "callers", "[cut]"


def made(run):
    return {method: n for method, n in json.loads(run.stdout).items() if n}


def bytes_of(directory):
    return sum(f.stat().st_size for f in directory.iterdir())


def run_storm(workload, jdk, directory, mode, times, java=(), options=()):
    line = command(workload, jdk, "WalkStorms", mode, times, java=["-Xmx64m", *java])
    run = execute(by_hand(line, directory, *options), timeout=300)
    assert run.returncode == 0, run.stderr
    return run, Profile(run, directory)


def made_at(r, method):
    """The allocations of a method itself, by the report."""
    leaves = [(s["allocation_path"][0], s) for s in r["sites"] if s["allocation_path"]]
    return allocations(s for leaf, s in leaves if leaf["method"] == method and leaf["class"].startswith("WalkStorms"))


def check_counts(run, profile):
    r = report(profile)
    truth = made(run)
    assert truth, run.stdout
    assert {method: made_at(r, method) for method in truth} == truth
    return r, counters(profile), sum(truth.values())


@each_value(jdk=JDK_MAJORS, mode=MODES, gc=["Serial", "Parallel", "G1"])
def test_counts_are_exact_and_walks_few(workload, jdk, tmp_path, mode, gc):
    run, profile = run_storm(workload, jdk, tmp_path / "prof", mode, MODES[mode], ["-XX:+Use%sGC" % gc])
    _, c, events = check_counts(run, profile)
    each = FRAMES_OF_TREES if mode == "trees" else FRAMES_EACH
    assert c["alloc_walked_frames"] <= each * events + FRAMES_AT_FIRST, c
    assert c["jvm_walks"] <= JVM_WALKS and c["jvm_walk_frames"] <= 2048 * JVM_WALKS, c
    assert c["paths_overflow"] == c["alloc_unrecorded"] == c["alloc_walk_errors"] == 0
    # The profile has rows for live objects, and only sums for the storms' allocations.
    assert bytes_of(profile.directory) <= 8 << 20


@pytest.mark.parametrize("mode", VIRTUAL)
def test_virtual_threads_are_walked_as_others(workload, jdk, tmp_path, mode):
    if jdk.major < 21:
        pytest.skip("JDK %d has no virtual threads" % jdk.major)
    run, profile = run_storm(workload, jdk, tmp_path / "prof", "virtual-" + mode, MODES[mode])
    _, c, events = check_counts(run, profile)
    each = FRAMES_OF_TREES if mode == "trees" else FRAMES_EACH
    walked = c["alloc_walked_frames"]
    if mode == "trees":  # Each path is new. Locus asks the JVM until its credit of CPU time is spent: more frames on a faster machine.
        walked -= c["jvm_walk_frames"]
    else:
        assert c["jvm_walks"] <= JVM_WALKS, c
    assert walked <= each * events + FRAMES_AT_FIRST, c


@each_value(jdk=JDK_MAJORS, mode=["overflow", "exceptions", "lambdas", "trees"], gc=["Serial", "Parallel", "G1", "Z"])
def test_interpreted_storms_end_well(workload, jdk, tmp_path, mode, gc):
    run, profile = run_storm(workload, jdk, tmp_path / "prof", mode, max(1, MODES[mode] // 4), ["-Xint", "-XX:+Use%sGC" % gc])
    check_counts(run, profile)


def test_paths_that_would_cost_too_much_are_cut(workload, jdk, tmp_path):
    """20,000 stacks of 2,000 frames, no two of them alike: to name them all would take many times the program's time."""
    run, profile = run_storm(workload, jdk, tmp_path / "prof", "trees", 1500)
    r, c, events = check_counts(run, profile)
    assert c["paths_cut"] > 0
    assert 0 < allocations(sites_through(r, *CUT)) <= events
    assert [line for line in complaints(run.stderr) if "cut to the nearest frames; counts are exact" in line]
    assert "paths_cut" in [limit["kind"] for limit in r["processes"][0]["limits"]]


@pytest.mark.parametrize("options", [[], ["paths=exact"]])
def test_callers_are_estimates_where_looks_would_cost_too_much(workload, jdk, tmp_path, options):
    """Each allocation has another stack than the last one. Only `paths=exact` looks at all of them."""
    run, profile = run_storm(workload, jdk, tmp_path / "prof", "lambdas", 4000, options=options)
    r, c, events = check_counts(run, profile)
    believed = c["alloc_believed"]
    assert believed + c["alloc_walks"] <= 1.01 * events, c
    assert (believed > events / 4) == (not options), c
    assert ("paths_estimated" in [limit["kind"] for limit in r["processes"][0].get("limits", [])]) == (believed > 0)
    assert sum(s.get("estimated", 0) for s in r["sites"]) <= believed
    assert any(s.get("estimated") for s in r["sites"]) == (believed > 0)


def test_walks_by_the_jvm_are_locus_s_in_the_bill(workload, jdk, tmp_path):
    """If the JVM is asked for each path, the bill says so."""
    if jdk.major < 21:
        pytest.skip("JDK %d has no virtual threads" % jdk.major)
    _, profile = run_storm(workload, jdk, tmp_path / "prof", "virtual-exceptions", 500, options=["paths=exact", "budget=none"])
    c = counters(profile)
    r = profile.report()
    assert c["jvm_walks"] >= 10_000, c
    assert c["own_walks_ns"] >= 1000 * c["jvm_walks"]
    assert r["locus_itself"]["hooks"] * c["own_process_ns"] >= 0.99 * c["own_walks_ns"]
    assert r["bill"]["locus"]["ns"] >= c["own_walks_ns"], r["bill"]


def test_walks_by_the_jvm_end_with_their_credit(workload, jdk, tmp_path):
    """Asked for each path, the JVM would take some ten times the program's time."""
    if jdk.major < 21:
        pytest.skip("JDK %d has no virtual threads" % jdk.major)
    run, profile = run_storm(workload, jdk, tmp_path / "prof", "virtual-trees", 500, options=["paths=exact"])
    _, c, events = check_counts(run, profile)
    assert c["paths_cut"] > 0
    assert c["jvm_walks"] < events / 2, c
