# SPDX-License-Identifier: Apache-2.0
"""Allocation counts and bytes are exact, and so are call paths where that is asked for."""

import pytest
from conftest import JDK_MAJORS
from helpers import (
    TIERS,
    allocations,
    command,
    counters,
    each_value,
    has_frame,
    marked_lines,
    report,
    sites_through,
    table,
    truth,
)

# A class is loaded, or a call site linked, on the way: what that allocates is not the case's own.
LINKAGE = ("java.lang.invoke.MethodHandleNatives", "java.lang.ClassLoader", "java.lang.Class")


def own(site):
    return not any(f["class"] in LINKAGE for f in site["allocation_path"])


def check_counts(told, r):
    """Each case of Allocations.java: counts and bytes per class, and no other class beside."""
    rows, listed = [], {}
    for case in told["exact"]:
        listed.setdefault(case["case"], set()).add(case["class"])
        sites = [
            s
            for s in sites_through(r, case["case"], "Allocations")
            if s["class"] == case["class"] and own(s)
        ]
        got = allocations(sites), sum(s["bytes"] for s in sites)
        if got != (case["allocations"], case["bytes"]):
            rows.append((case["case"], case["class"], case["allocations"], got[0], case["bytes"], got[1]))
    assert not rows, "%d of %d cases\n%s" % (
        len(rows),
        len(told["exact"]),
        table(("case", "class", "true", "counted", "bytes", "counted"), rows),
    )
    for s in r["sites"]:
        for leaf in s["allocation_path"][:1]:
            if leaf["class"] == "Allocations" and leaf["method"] in listed:
                assert s["class"] in listed[leaf["method"]], s
    for case in told["uncovered"]:
        sites = [s for s in sites_through(r, case["case"], "Allocations") if s["class"] == case["class"]]
        assert allocations(sites) in (0, case["allocations"]), sites


def count(workload, profile, jdk, each=20000, java=(), min_size=1024, options=()):
    line = command(workload, jdk, "Allocations", each, min_size, java=java)
    run = profile(line, "--min-size=%d" % min_size, *options)
    check_counts(truth(run), report(run))


@pytest.mark.covers(tier=["interpreted", "C1", "C2"])
@pytest.mark.parametrize("tier", TIERS)
def test_every_bytecode_and_intrinsic_is_counted_exactly(workload, profile, jdk, tier):
    count(workload, profile, jdk, each=4000 if tier == "interpreted" else 20000, java=TIERS[tier])


@pytest.mark.parametrize("min_size", [256, 4096])
def test_counts_are_exact_at_another_threshold(workload, profile, jdk, min_size):
    count(workload, profile, jdk, each=2000, min_size=min_size)


@each_value(jdk=JDK_MAJORS, gc=["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:-UseCompressedOops"])
def test_counts_are_exact_with_any_heap_layout(workload, profile, jdk, gc):
    count(workload, profile, jdk, each=4000, java=[gc, "-Xmx256m"])


def test_counts_are_exact_with_compact_headers(workload, profile, jdk25):
    count(workload, profile, jdk25, each=4000, java=["-XX:+UseCompactObjectHeaders"])


def test_rewritten_classes_pass_the_verifier(workload, profile, jdk):
    """Classes of the JDK are not verified by default: here they are, hooks included."""
    count(workload, profile, jdk, each=400, java=["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"])


def test_counts_are_exact_with_exact_paths(workload, profile, jdk):
    count(workload, profile, jdk, each=4000, options=["--paths=exact"])


@pytest.mark.slow
def test_counts_are_exact_when_all_is_compiled_at_once(workload, profile, jdk):
    count(workload, profile, jdk, each=400, java=["-Xcomp"])


def path_counts(r):
    """Allocations of Paths.java by group and path, as the program names them."""
    marks = marked_lines("Paths", "path")
    counts = {}
    for mark, line in marks.items():
        group, which = mark.split("-")
        counts.setdefault(group, {})[which] = allocations(
            [
                s
                for s in r["sites"]
                if has_frame(s["allocation_path"][:1], group + "Allocate")
                and any(f["line"] == line and f["class"].startswith("Paths") for f in s["allocation_path"])
            ]
        )
    depths = {4: "first", 12: "second", 40: "third"}
    for s in r["sites"]:
        n = sum(f["method"] == "recursionAllocate" for f in s["allocation_path"])
        if n:
            group = counts.setdefault("recursion", {})
            which = depths.get(n, "other")
            group[which] = group.get(which, 0) + s["allocations"]
    return counts


@each_value(jdk=JDK_MAJORS, tier=list(TIERS))
def test_exact_paths_split_one_line_by_its_callers_exactly(workload, profile, jdk, tier):
    run = profile(command(workload, jdk, "Paths", 50000, java=TIERS[tier]), "--paths=exact", "--recursion=keep")
    assert path_counts(report(run)) == truth(run)


@each_value(jdk=JDK_MAJORS, tier=list(TIERS))
def test_adaptive_paths_split_one_line_by_its_callers_exactly(workload, profile, jdk, tier):
    run = profile(command(workload, jdk, "Paths", 50000, java=TIERS[tier]), "--recursion=keep")
    assert path_counts(report(run)) == truth(run)


def recursion_counts(r):
    """Allocations of Recursion.java by line, and those of its recursion by depth."""
    lines = marked_lines("Recursion", "line")
    counts = {"leaf": 0, "join": 0, "deep": [0] * 61}
    for s in r["sites"]:
        leaf = s["allocation_path"][0] if s["allocation_path"] else {"class": "", "line": 0}
        if not leaf["class"].startswith("Recursion"):
            continue
        name = next((n for n, line in lines.items() if line == leaf["line"]), None)
        if name == "deep":
            depth = sum(f["method"] == "deepAllocate" for f in s["allocation_path"]) - 1
            counts["deep"][depth] += s["allocations"]
        elif name:
            counts[name] += s["allocations"]
    return counts


@each_value(jdk=JDK_MAJORS, tier=list(TIERS))
def test_contexts_are_those_of_the_jvms_own_walk(workload, profile, jdk, tier):
    """Recursion puts the same code at ever new places of the stack; no context may be taken for another."""
    rounds = 20 if tier == "interpreted" else 200
    run = profile(command(workload, jdk, "Recursion", rounds, java=TIERS[tier]), "--audit", "--recursion=keep")
    c = counters(run)
    assert recursion_counts(report(run)) == truth(run)
    assert c["audit_contexts"] >= c["alloc_walks"] > rounds * 100
    assert c["audit_contexts_wrong"] == 0


def test_recursion_is_folded(workload, profile, jdk):
    """By default a cycle of calls is in a path once, which says so; the counts of lines are exact all the same."""
    run = profile(command(workload, jdk, "Recursion", 50), "--audit")
    counts, expected = recursion_counts(report(run)), truth(run)
    assert (counts["leaf"], counts["join"]) == (expected["leaf"], expected["join"])
    assert sum(counts["deep"]) == sum(expected["deep"])
    assert not any(counts["deep"][5:])  # two lines call it
    deep = [f for s in report(run)["sites"] for f in s["allocation_path"] if f["method"] == "deepAllocate"]
    assert {f.get("recursion") for f in deep} >= {None, 1}
    assert counters(run)["audit_contexts_wrong"] == 0


def test_virtual_threads_are_counted_exactly(workload, profile, jdk25):
    run = profile(command(workload, jdk25, "VirtualThreads", 2000))
    sites = sites_through(report(run), "virtualAllocate")
    assert allocations(sites) == truth(run)["allocations"]
    assert all(s["class"] == "int[]" for s in sites)


@each_value(jdk=JDK_MAJORS, oops=["-XX:+UseCompressedOops", "-XX:-UseCompressedOops"])
def test_enums_are_hooked_only_if_their_constants_are_many(workload, profile, jdk, oops):
    """values() copies an array of all constants: with few, no hook is needed."""
    run = profile(command(workload, jdk, "Enums", 20_000, java=[oops]))
    r = report(run)
    counted = {c: allocations([s for s in sites_through(r, "values", "Enums$" + c) if s["class"] == "Enums$%s[]" % c])
               for c in ("Large", "Small", "Tiny")}
    assert counted == {"Large": 20_000, "Small": 0 if "+" in oops else 20_000, "Tiny": 0}
