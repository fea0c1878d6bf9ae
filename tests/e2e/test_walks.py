# SPDX-License-Identifier: Apache-2.0
"""Wherever a thread is interrupted, its sample has a call path, which the program can have."""

import re
import warnings

import pytest
from conftest import JDK_MAJORS
from helpers import COLLECTORS, TIERS, WORKLOADS, collector, command, counters, each_pair, each_value

# The part of the samples, at most; and where C1's code throws all the time, for which the JVM calls Java code.
WITHOUT, WITHOUT_C1 = 0.01, 0.03  # tiers begin with C1
PROGRAM = re.compile(r"^CallChains(\$\w+)?$")


def callers():
    """The comments of the workload: for each method, the names of its callers."""
    text = (WORKLOADS / "CallChains.java").read_text()
    found = re.findall(r"// called by: ([\w ]+)\n[^\n(]*?(\w+)\(", text)
    result = {}
    for by, method in found:
        result.setdefault(method, set()).update(by.split())
    assert len(result) > 25
    return result


def paths(run):
    """(samples, frames from the leaf on) of every group of samples that has a call path."""
    r = run.report()
    groups = [a for s in r["sites"] for a in s["accesses"]] + r["other_accesses"]
    return [(g["samples"], g["path"]) for g in groups if g["path"]]


def check_path(path, legal):
    """The program's own frames call each other in a legal way, from main on."""
    own = [f["method"] for f in path if PROGRAM.match(f["class"])]
    if own[-1] != "main":  # the JVM's own calls: a class is initialised, or the thread ends
        assert not set(own) & set(legal), path
        return
    for callee, caller in zip(own, own[1:]):
        assert caller in legal.get(callee, {"main"}), (callee, caller, path)
    if own[0] in legal and len(own) > 1:
        assert own[-2] in legal and "main" in legal[own[-2]], path


def failed_walks(run):
    """Code 0 is no failure: the thread had no Java frame."""
    return {k: n for k, n in counters(run).items() if k.startswith("engine_walk_error_minus_")}


def check_walks(profile, line, least=10, without=WITHOUT):
    def most_have_one():
        return sum(failed_walks(run).values()) <= without * counters(run)["engine_timer_samples"] + 2

    run = profile(line, "--interval=4ms")
    if not most_have_one():  # code that the JIT makes rarely: 17 of 467 samples had none in one run of some 500
        warnings.warn("walks that failed: %s" % failed_walks(run), stacklevel=2)
        run = profile(line, "--interval=4ms")
    legal, c, seen = callers(), counters(run), set()
    for _, path in paths(run):
        if any(PROGRAM.match(f["class"]) for f in path):
            check_path(path, legal)
            seen |= {f["method"] for f in path if PROGRAM.match(f["class"])}
    samples = c["engine_timer_samples"]
    assert c["engine_anchors_refuted"] == 0, c
    assert most_have_one(), (failed_walks(run), samples)
    assert samples > 200 and len(seen) > least, (samples, seen)
    return c


@pytest.mark.few(4)
@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS, tier=list(TIERS))
def test_every_sample_has_a_path_that_the_program_can_have(workload, profile, jdk, gc, tier):
    java = ["-Xmx256m", "-XX:-Inline", *collector(gc), *TIERS[tier]]
    c = check_walks(profile, command(workload, jdk, "CallChains", 2, java=java))
    if tier in ("C1", "C2"):  # calls are what this program does
        assert c["engine_walk_repaired_prologue"] > 0 and c["engine_walk_repaired_epilogue"] > 0, c


def test_inlined_calls_have_a_path_too(workload, profile, jdk):
    check_walks(profile, command(workload, jdk, "CallChains", 2, java=["-Xmx256m"]))


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS, tier=list(TIERS), inline=("-XX:+Inline", "-XX:-Inline"))
def test_a_program_that_throws_all_the_time_has_paths(workload, profile, jdk, gc, tier, inline):
    java = ["-Xmx256m", inline, *collector(gc), *TIERS[tier]]
    line = command(workload, jdk, "CallChains", 2, "throws", java=java)
    check_walks(profile, line, least=3, without=WITHOUT if tier == "C2" else WITHOUT_C1)


@pytest.mark.few(4)
@each_pair(jdk=JDK_MAJORS, part=("all", "throws"), tier=list(TIERS), inline=("-XX:+Inline", "-XX:-Inline"))
def test_the_next_whole_walk_proves_repaired_paths(workload, profile, jdk, part, tier, inline):
    java = ["-Xmx256m", inline, *TIERS[tier]]
    line = command(workload, jdk, "CallChains", 3, *(["throws"] if part == "throws" else []), java=java)
    c = counters(profile(line, "--interval=4ms", "--audit"))
    audited = {k[len("audit_walk_") :]: n for k, n in c.items() if k.startswith("audit_walk_")}
    repaired = sum(n for k, n in c.items() if k.startswith("engine_walk_repaired_"))
    agreed = sum(n for k, n in audited.items() if k.startswith("agreed_"))
    assert not [k for k in audited if k.startswith("wrong_")], audited
    assert c["engine_anchors_refuted"] == 0, c
    # Locus's own walk, and AsyncGetCallTrace's from the same place.
    assert c["audit_own_walk_differs"] == 0 and c["audit_own_walk_agreed"] > 0.6 * c["engine_timer_samples"], c
    # C1 sends an exception on by way of the return address, so the thread does not return there.
    if tier == "C2" and inline == "-XX:-Inline" and repaired >= 20:
        assert agreed >= 0.8 * repaired, (audited, repaired)
