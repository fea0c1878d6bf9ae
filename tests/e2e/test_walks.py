"""Wherever a thread is interrupted, its sample has a call path, which the program can have."""

import re

from conftest import JDK_MAJORS
from helpers import COLLECTORS, TIERS, WORKLOADS, collector, command, counters, each_pair

# Of the samples, at most. The program throws through compiled code all the time, where some of C2's
# stubs are not left; before stubs and prologues were left at all, a tenth and more had no path.
WITHOUT = 0.04
PROGRAM = re.compile(r"^CallChains(\$\w+)?$")


def callers():
    """What the comments of the workload say: for each method, the names of its callers."""
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


def once(methods):
    """The methods, where who throws all the time is named once, not twice: compiled code had no frame for the second."""
    return [m for i, m in enumerate(methods) if m not in ("search", "find") or methods[i : i + 2] != [m, m]]


def check_path(path, legal):
    """The program's own frames call each other in a legal way, from main on."""
    own = [f["method"] for f in path if PROGRAM.match(f["class"])]
    if own[-1] != "main":  # the JVM's own calls: a class is initialised, or the thread ends
        assert not set(own) & set(legal), path
        return
    own = once(own)
    for callee, caller in zip(own, own[1:]):
        assert caller in legal.get(callee, {"main"}), (callee, caller, path)
    if own[0] in legal and len(own) > 1:
        assert own[-2] in legal and "main" in legal[own[-2]], path


def check_walks(run):
    legal, c, seen, twice = callers(), counters(run), set(), 0
    for n, path in paths(run):
        own = [f["method"] for f in path if PROGRAM.match(f["class"])]
        twice += n if once(own) != own else 0
        if any(PROGRAM.match(f["class"]) for f in path):
            check_path(path, legal)
            seen |= {f["method"] for f in path if PROGRAM.match(f["class"])}
    samples = c["engine_timer_samples"]
    assert twice <= 0.01 * samples
    # Code 0 is no failure: the thread had no Java frame.
    failed = {k: n for k, n in c.items() if k.startswith("engine_walk_error_minus_")}
    assert sum(failed.values()) <= WITHOUT * samples + 2, (failed, samples)
    assert samples > 200 and len(seen) > 10, (samples, seen)
    return c


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS, tier=list(TIERS))
def test_every_sample_has_a_path_that_the_program_can_have(workload, profile, jdk, gc, tier):
    java = ["-Xmx256m", "-XX:-Inline", *collector(gc), *TIERS[tier]]
    c = check_walks(profile(command(workload, jdk, "CallChains", 2, java=java), "--interval=4ms"))
    if tier in ("C1", "C2"):  # calls are what this program does
        assert c["engine_walk_repaired_prologue"] > 0 and c["engine_walk_repaired_epilogue"] > 0, c


def test_inlined_calls_have_a_path_too(workload, profile, jdk):
    java = ["-Xmx256m"]
    check_walks(profile(command(workload, jdk, "CallChains", 2, java=java), "--interval=4ms"))
