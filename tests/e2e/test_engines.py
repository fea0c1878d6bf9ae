# SPDX-License-Identifier: Apache-2.0
"""Engines beside the timer: what they count is what the kernel counts, and refusals are explained."""

import mmap
import sys

import helpers
import pytest
from conftest import ROOT

PAGE = mmap.PAGESIZE
MEGABYTES = 256
HEAP = ("-Xms700m", "-Xmx700m", "-XX:-UseTransparentHugePages")

# Runs a command under a filter that refuses perf_event_open, as containers have one.
NO_PERF = """
import ctypes, os, struct, sys
SYS_perf_event_open, EPERM = 298, 1
code = [(0x20, 0, 0, 0), (0x15, 0, 1, SYS_perf_event_open), (0x06, 0, 0, 0x00050000 | EPERM), (0x06, 0, 0, 0x7fff0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
filters = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filters, 0, 0) == 0, ctypes.get_errno()
os.execvp(sys.argv[1], sys.argv[1:])
"""


def first_touch(workload, jdk, collector="Serial", rounds=0, wrapper=()):
    java = (*HEAP, *helpers.collector(collector, "8m"))
    return [*wrapper, *helpers.command(workload, jdk, "FirstTouch", MEGABYTES, rounds, java=java)]


def the_array(report):
    """The site of the program's large array."""
    sites = [s for s in report["sites"] if s["bytes"] >= MEGABYTES << 20]
    assert len(sites) == 1, sites
    return sites[0]


def engine_counters(run, name):
    prefix = "engine_%s_" % name
    return {k[len(prefix) :]: v for k, v in helpers.counters(run).items() if k.startswith(prefix)}


def faults_of(profile_once, workload, jdk, collector):
    name = "faults-%d-%s" % (jdk.major, collector)
    return profile_once(name, first_touch(workload, jdk, collector), "-e", "fault")


@pytest.mark.quiet  # classes may be exchanged in the 0.1 s of 66,000 faults: where a thread is late then, some are lost
@pytest.mark.parametrize("collector", helpers.COLLECTORS)
def test_first_touch_of_an_array_is_its_page_count(profile_once, workload, jdk, collector):
    run = faults_of(profile_once, workload, jdk, collector)
    array = the_array(helpers.report(run))
    pages = (MEGABYTES << 20) / PAGE
    assert array["samples"] == pytest.approx(pages, rel=0.01)
    # The kernel's own count of the thread, which has a little more in it than the array.
    faults = helpers.truth(run)["faults"]
    assert pages <= faults <= pages * 1.05, "huge pages, or another program's memory pressure"
    assert array["samples"] == pytest.approx(faults, rel=0.05)
    assert array["samples"] <= faults + 1
    line = helpers.marked_lines("FirstTouch", "FIRST_TOUCH")["array"]
    assert helpers.has_frame(array["allocation_path"], "allocate", line=line)
    here = sum(
        a["samples"] for a in array["accesses"] if helpers.has_frame(a["path"][:1], "allocate", line=line)
    )
    assert here >= 0.99 * array["samples"], array["accesses"]


def every_fault_is_a_sample(run):
    c = engine_counters(run, "fault")
    assert c["counted"] == c["samples"] + c.get("ring_lost", 0), c
    assert c["lost"] <= 0.01 * c["samples"], c
    report = helpers.report(run)
    assert report["samples"]["total"] == c["counted"], (report["samples"], c)


@pytest.mark.quiet  # as above
def test_every_fault_is_a_sample_or_lost(profile_once, workload, jdk):
    every_fault_is_a_sample(faults_of(profile_once, workload, jdk, "Serial"))


def test_a_period_stands_for_so_many_faults(profile, workload, jdk17):
    run = profile(first_touch(workload, jdk17), "-e", "fault@100")
    engine = run.manifest()["engines"][0]
    assert (engine["name"], engine["interval_ns"]) == ("fault", 100)
    assert the_array(helpers.report(run))["samples"] * 100 == pytest.approx((MEGABYTES << 20) / PAGE, rel=0.01)


def test_two_engines_are_counted_apart(profile, workload, jdk):
    run = profile(first_touch(workload, jdk, rounds=400), "-e", "timer", "-e", "fault")
    assert [e["name"] for e in run.manifest()["engines"]] == ["timer", "fault"]
    fault = helpers.report(run, "--engine", "fault")
    timer = helpers.report(run, "--engine", "timer")
    pages = (MEGABYTES << 20) / PAGE
    assert the_array(fault)["samples"] == pytest.approx(pages, rel=0.01)
    c = engine_counters(run, "timer")
    assert timer["samples"]["total"] == c["samples"] + c.get("overruns", 0)
    assert timer["samples"]["total"] < pages / 10, "a page fault was counted as time"
    shares = [
        a["samples"] / timer["samples"]["total"]
        for a in the_array(timer)["accesses"]
        if helpers.has_frame(a["path"][:1], "read")
    ]
    assert sum(shares) > 0.2, the_array(timer)


@pytest.mark.parametrize("collector", helpers.COLLECTORS)
def test_what_a_branch_has_led_past_is_not_taken_for_an_access(profile, workload, jdk, collector):
    """The program touches its stack and its objects alone. Next to its code is much that has not run: G1's barriers, checks of classes."""
    path = workload(jdk, "../evaluation/kernels/Towers", ("-g", "-sourcepath", ROOT / "tests/evaluation/common"))
    run = profile([jdk.java, *helpers.collector(collector), "-cp", path, "Towers", "60000"], "-i", "2ms")
    assert run.stdout.split() == ["result:", str(60000 * 8191)]
    samples = helpers.report(run)["samples"]
    assert samples["total"] > 300, samples
    assert samples["object"] + samples["heap_class"] > samples["total"] / 2, samples
    for bucket in ("heap_unknown", "native", "no_address"):
        assert samples[bucket] < 0.03 * samples["total"], (bucket, samples)


def test_auto_says_why(profile, workload, jdk17):
    run = profile(first_touch(workload, jdk17, rounds=20), "-e", "auto")
    (engine,) = run.manifest()["engines"]
    assert engine["name"] in ("pebs", "ibs", "timer")
    assert engine["reason"], engine
    if engine["name"] == "timer":
        assert "ibs" in engine["reason"] and "pebs" in engine["reason"], engine


def test_what_a_seccomp_filter_refuses_is_sampled_by_the_timer(profile, workload, jdk17):
    wrapper = [sys.executable, "-c", NO_PERF]
    run = profile(first_touch(workload, jdk17, rounds=100, wrapper=wrapper), "-e", "fault")
    lines = helpers.complaints(run.stderr)
    assert len(lines) == 1, lines
    assert "fault" in lines[0] and "seccomp" in lines[0] and "timer" in lines[0], lines
    (engine,) = run.manifest()["engines"]
    assert engine["name"] == "timer" and "seccomp" in engine["reason"], engine
    assert helpers.report(run)["samples"]["total"] > 20
