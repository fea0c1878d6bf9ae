# SPDX-License-Identifier: Apache-2.0
"""Collectors that move objects while the program runs: what is known of objects is as right as with those that stop it."""

import pytest
from conftest import JDK_MAJORS, Profile, run_command
from helpers import (allocations, by_hand, command, complaints, counters, each_value, execute, report, share_through,
                     sites_through, truth)
from test_accuracy import POINTS, check_shares
from test_gc import WRONG

Z, GENERATIONAL, SHENANDOAH = ["-XX:+UseZGC"], ["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"], ["-XX:+UseShenandoahGC"]
EPSILON = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"]


def has(jdk, options):
    if run_command([jdk.java, *options, "-version"]).returncode != 0:
        pytest.skip("JDK %s has no %s" % (jdk.version, " ".join(options)))


def possible(jdk, gc):
    return jdk >= 25 or list(gc) != GENERATIONAL


CASES = {"jdk": JDK_MAJORS, "gc": [Z, SHENANDOAH, GENERATIONAL], "possible": lambda **case: possible(**case)}


def audited(workload, profile, jdk, gc, cycles, live, rounds):
    """`rounds`: times that all live objects were asked for."""
    has(jdk, gc)
    line = command(workload, jdk, "GcAudit", cycles, live, java=["-Xmx1g", *gc])
    run = profile(line, "--audit", timeout=900)
    assert complaints(run.stderr) == [] and "OutOfMemoryError" not in run.stderr
    c = counters(run)
    seen = " ".join("%s=%d" % i for i in c.items() if i[0].split("_")[0] in ("audit", "gc", "map", "alloc"))
    assert truth(run)["gcs"] >= cycles
    assert c["audit_gcs"] >= rounds and c["gc_moves"] >= 1000, seen
    assert c["audit_checks"] >= c["audit_survivors"] >= 30_000, seen
    assert {k: c[k] for k in WRONG} == dict.fromkeys(WRONG, 0), seen
    assert c["gc_moves_lost"] == c["gc_incomplete"] == 0, seen
    assert c["class_disagreements"] <= 0.03 * c["classes_checked"], seen
    report(run)
    return c


@pytest.mark.everywhere
@each_value(**CASES)
def test_no_object_is_at_a_wrong_place(workload, profile, jdk, gc):
    audited(workload, profile, jdk, gc, 60, 40, 2)


@pytest.mark.slow
@pytest.mark.parametrize("gc", [Z, SHENANDOAH, GENERATIONAL], ids=["Z", "Shenandoah", "generational"])
def test_no_object_is_at_a_wrong_place_over_two_hundred_cycles(workload, profile, jdk, gc):
    if not possible(jdk.major, gc):
        pytest.skip("Shenandoah has generations from JDK 25 on")
    c = audited(workload, profile, jdk, gc, 2000, 40, 200)
    assert c["audit_survivors"] >= 100_000


@each_value(**CASES)
@pytest.mark.slow
def test_share_of_each_site_is_its_share_of_cpu_time(workload, profile, jdk, gc):
    has(jdk, gc)
    run = profile(command(workload, jdk, "Accuracy", 1, 8, java=["-Xmx768m", *gc]), "--interval=4ms")
    assert complaints(run.stderr) == []
    told, _ = check_shares(run)
    assert told["gcs"] >= 3 and counters(run)["gc_moves"] > 0


@pytest.mark.parametrize("gc", [Z, SHENANDOAH], ids=["Z", "Shenandoah"])
def test_a_recording_that_ends_with_the_heap_in_motion_leaves_the_program_alone(workload, jdk, tmp_path, gc):
    has(jdk, gc)
    line = command(workload, jdk, "GcAudit", 40, 40, java=["-Xmx1g", *gc])
    run = execute(by_hand(line, tmp_path / "prof", "duration=2s"), timeout=300)
    assert (run.returncode, run.stderr) == (0, b"")
    assert truth(run)["gcs"] >= 40
    r = report(Profile(run, tmp_path / "prof"))
    assert r["samples"]["total"] > 5 and not counters(Profile(run, tmp_path / "prof"))["gc_incomplete"]


def test_nothing_moves_with_epsilon(workload, profile, jdk):
    has(jdk, EPSILON)
    run = profile(command(workload, jdk, "Accuracy", 1, 4, java=["-Xmx12g", *EPSILON]), "--interval=2ms")
    assert complaints(run.stderr) == []
    told, r = truth(run), report(run)
    for site, ns in told["phases_ns"].items():
        assert share_through(r, site, "Accuracy") == pytest.approx(ns / told["total_ns"], abs=2 * POINTS)
    assert told["gcs"] == 0 and r["samples"]["object"] > 0.8 * r["samples"]["total"]


@pytest.mark.parametrize("gc", [Z, SHENANDOAH], ids=["Z", "Shenandoah"])
def test_small_objects_are_not_followed_and_that_is_said(workload, jdk, tmp_path, gc):
    has(jdk, gc)
    line = command(workload, jdk, "Endings", "return", java=gc)
    bare, run = execute(line), execute(by_hand(line, tmp_path / "prof", "min-size=0"))
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout)
    (said,) = complaints(run.stderr)
    assert "needs --min-size 72 or more" in said
    r = report(Profile(run, tmp_path / "prof"))
    made = [s for s in sites_through(r, "allocate", "Endings") if s["class"] == "byte[]"]
    assert allocations(made) == 2000 and r["samples"]["object"] == 0


@pytest.mark.parametrize("gc", [Z, SHENANDOAH], ids=["Z", "Shenandoah"])
def test_a_watch_is_refused_in_the_run_and_in_the_head_of_the_report(workload, profile, locus, jdk, gc):
    has(jdk, gc)
    event = "watch:float[]#1[7]:w"
    run = profile(command(workload, jdk, "Watch", 20000, 0, java=["-Xmx256m", *gc]), "-e", event)
    if any("breakpoint" in c or "cannot sample" in c for c in complaints(run.stderr)):
        pytest.skip("breakpoint events cannot be opened here: %s" % complaints(run.stderr))
    why = "Locus cannot see how this collector moves objects; nothing is watched"
    assert complaints(run.stderr) == ["locus: %s: %s" % (event, why)]
    r = run.report()
    assert r["samples"]["total"] == 0 and r["engine"]["reason"] == why
    assert "engine_watch_found" not in counters(run) or not counters(run)["engine_watch_found"]
    head = locus("report", run.directory).stdout.split("\n\n", maxsplit=1)[0]
    assert why in " ".join(head.split())


@each_value(**CASES)
def test_a_class_that_is_not_split_is_said_to_be_so(workload, profile, locus, jdk, gc):
    """Only where the collector is the reason: with G1 the same program's classes are split, and nothing is said."""
    has(jdk, gc)
    for own, said in ((gc, True), (["-XX:+UseG1GC"], False)):
        run = profile(command(workload, jdk, "SampledSites", "split", 3, 100, 200, 100, java=["-Xmx256m", *own]),
                      "--sample-interval=16k")
        r = run.report()
        assert r["samples"]["heap_class"] >= 20
        assert any("split" in c for c in r["classes"]) != said
        head = " ".join(locus("report", run.directory).stdout.split("\n\n", maxsplit=1)[0].split())
        assert ("are not divided among allocation sites" in head) == said
