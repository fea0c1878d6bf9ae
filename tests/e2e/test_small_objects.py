# SPDX-License-Identifier: Apache-2.0
"""With --min-size 0 every object is counted, exactly, and none is followed to a wrong place."""

import os
import re
import subprocess

import pytest
from conftest import BUILD, JDK_MAJORS
from helpers import (
    page_text,
    COLLECTORS,
    TIERS,
    allocations,
    collector,
    command,
    counters,
    each_pair,
    each_value,
    has_frame,
    report,
    sites_through,
    table,
    truth,
)

WRONG = ("audit_wrong_missing", "audit_wrong_moved", "audit_wrong_overlap", "audit_misplaced")


def is_of(site, name):
    """The rows of the class, whatever number the JVM gave a hidden one."""
    return site["class"].split("/0x")[0].split("+0x")[0] == name.split("/0x")[0]


# Made by code that other callers use too: which of them did is exact with --paths=exact only.
SHARED = ("java.lang.Integer", "java.lang.Double", "java.lang.Long", "java.lang.String")


def sites_of(r, case, exact):
    """Sites of a case: those below its method; or, by class alone, those of a class of its own."""
    name = case["class"]
    if exact:
        return [s for s in sites_through(r, case["case"], "SmallObjects") if is_of(s, name)]
    sites = [
        s
        for s in r["sites"]
        if is_of(s, name) and not any(f["method"] == "<clinit>" for f in s["allocation_path"])
    ]
    own = [s for s in sites if has_frame(s["allocation_path"][:1], case["case"])]
    elsewhere = {f["method"] for s in sites for f in s["allocation_path"]} & {
        m for m in METHODS if m != case["case"]
    }
    return own if elsewhere else sites


METHODS = set()


def check_counts(told, r, exact):
    """All that was made is counted, and nothing else."""
    rows = []
    METHODS.update(c["case"] for c in told["exact"] + told["removed"])
    for case in told["exact"]:
        if not exact and (case["class"] in SHARED or case["case"] in ("smallString", "smallNested", "smallChild", "smallLambda")):
            continue
        sites = sites_of(r, case, exact)
        got = allocations(sites), sum(s["bytes"] for s in sites)
        if got != (case["allocations"], case["bytes"]):
            rows.append((case["case"], case["class"], case["allocations"], got[0], case["bytes"], got[1]))
    assert not rows, "%d of %d cases\n%s" % (
        len(rows),
        len(told["exact"]),
        table(("case", "class", "true", "counted", "bytes", "counted"), rows),
    )
    for case in told["removed"]:
        sites = [s for s in sites_through(r, case["case"], "SmallObjects") if is_of(s, case["class"])]
        assert allocations(sites) <= case["allocations"], sites


def count(workload, profile, jdk, each=20000, java=(), exact=True):
    options = ["--min-size=0"] + (["--paths=exact"] if exact else [])
    run = profile(command(workload, jdk, "SmallObjects", each, java=java), *options)
    r = report(run)
    check_counts(truth(run), r, exact)
    # One object of the JVM's start, perhaps, and the rare one at which a collection came in between.
    assert counters(run)["alloc_unproved"] <= 3
    return run, r


@pytest.mark.covers(tier=["interpreted", "C1", "C2"])
@each_pair(jdk=JDK_MAJORS, tier=list(TIERS), exact=(False, True))
def test_every_object_is_counted_exactly(workload, profile, jdk, tier, exact):
    java = ["-XX:+UseG1GC", "-Xmx256m", *TIERS[tier]]
    count(workload, profile, jdk, each=2000 if tier == "interpreted" else 20000, java=java, exact=exact)


# G1 is there with each tier.
@each_value(jdk=JDK_MAJORS, gc=["Serial", "Parallel", "Z"])
def test_counts_are_exact_with_any_collector(workload, profile, jdk, gc):
    count(workload, profile, jdk, each=20000, java=["-XX:+Use%sGC" % gc, "-Xmx256m"], exact=False)


@each_value(jdk=JDK_MAJORS, options=[["-XX:-UseCompressedOops"], ["-XX:-UseCompressedClassPointers"]])
def test_counts_are_exact_with_other_layouts(workload, profile, jdk, options):
    count(workload, profile, jdk, each=8000, java=["-XX:+UseSerialGC", *options], exact=False)


def test_counts_are_exact_with_compact_headers(workload, profile, jdk25):
    count(workload, profile, jdk25, each=8000, java=["-XX:+UseCompactObjectHeaders"], exact=False)


def test_rewritten_classes_pass_the_verifier(workload, profile, jdk):
    count(workload, profile, jdk, each=400, java=["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal"])


@pytest.mark.slow
def test_what_the_jit_removes_stays_removed(workload, profile, jdk):
    """No reference to the object leaves the method for the hook's sake."""
    run, r = count(workload, profile, jdk, each=400000, java=["-XX:-TieredCompilation", "-Xbatch", "-Xmx256m"], exact=False)
    for case in truth(run)["removed"]:
        sites = [s for s in sites_through(r, case["case"], "SmallObjects") if s["class"] == case["class"]]
        assert allocations(sites) < 0.5 * case["allocations"], (case, sites)


OPENED = ["--add-opens", "java.base/java.lang=ALL-UNNAMED"]


@each_pair(jdk=JDK_MAJORS, tier=list(TIERS))
def test_interpreted_hooks_read_no_memory_that_a_collection_may_give_back(workload, profile, jdk, tier):
    """The memory is the kernel's, so a read ends the program. Compiled hooks do read what is of their collection."""
    how = "interpreted" if tier == "interpreted" else "compiled"
    run = profile(command(workload, jdk, "GivenBack", how, java=[*TIERS[tier], *OPENED]), "--min-size=0")
    assert run.stdout.splitlines()[-1] == "done"


def test_compiled_hooks_cannot_stop_between_compare_and_read(jdk25):
    """A JIT stops the thread, or leaves it to the interpreter, only at calls and branches. The reads are one intrinsic
    method: a JIT calls all of them or none."""
    javap = [jdk25.home / "bin/javap", "-c", "-p", BUILD / "gen/hook/java/lang/LocusHook.class"]
    text = subprocess.run(javap, check=True, stdout=subprocess.PIPE, text=True).stdout
    compiled = re.search(r"int look\(.*?\n\n", text, re.S).group(0).split("ireturn", 1)[1]
    calls = list(re.finditer(r"invoke.*// Method (.*)", compiled))
    # The reads of the state, the two sequences, the header, and the class that the entry expects.
    assert [c.group(1) for c in calls] == ["jdk/internal/misc/Unsafe.getInt:(Ljava/lang/Object;J)I"] * 5
    straight = compiled[calls[0].start():calls[3].start()]
    assert not re.search(r": +(if|goto|\w*switch|[il](div|rem)|new|athrow)", straight), straight


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_no_small_object_is_at_a_wrong_place(workload, profile, jdk, gc):
    """Objects of all sizes through young and full collections; nothing wrong is kept."""
    line = command(workload, jdk, "SmallAudit", 250000, "true", java=["-Xmx48m", *collector(gc, "1m")])
    run = profile(line, "--min-size=0", "--audit", timeout=400)
    c = counters(run)
    seen = " ".join("%s=%d" % i for i in c.items() if i[0].split("_")[0] in ("audit", "gc", "small", "alloc"))
    assert {k: c[k] for k in WRONG} == dict.fromkeys(WRONG, 0), seen
    assert c["audit_survivors"] >= 50_000, seen
    # Full collections slide nearly all of them; what Parallel's tables say is known of all.
    if (jdk.major, gc) == (17, "Parallel"):
        assert c["audit_forgotten"] <= 0.001 * c["audit_checks"], seen
    assert c["audit_unaudited"] <= 0.0005 * c["alloc_records"], seen


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_no_small_object_is_forgotten_without_a_full_collection(workload, profile, jdk, gc):
    line = command(workload, jdk, "SmallAudit", 1000000, "false", java=["-Xmx400m", "-Xmn32m", *collector(gc, "1m")])
    run = profile(line, "--min-size=0", "--audit", timeout=400)
    c = counters(run)
    seen = " ".join("%s=%d" % i for i in c.items() if i[0].split("_")[0] in ("audit", "gc", "small", "alloc"))
    assert {k: c[k] for k in WRONG} == dict.fromkeys(WRONG, 0), seen
    assert c["gc_collections"] >= 3 and c["small_moves"] >= 10_000, seen
    assert c["audit_forgotten"] == 0, seen


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_small_objects_outlive_the_thread_that_made_them(workload, profile, jdk, gc):
    """It ended before the first collection."""
    java = ["-Xmx64m", "-Xmn16m", *collector(gc)]
    run = profile(command(workload, jdk, "EndedThreads", 20, 500, 1000, java=java), "--min-size=0", "--audit")
    c = counters(run)
    seen = " ".join("%s=%d" % i for i in c.items() if i[0].split("_")[0] in ("audit", "map", "small"))
    assert {k: c[k] for k in WRONG} == dict.fromkeys(WRONG, 0), seen
    assert c["audit_survivors"] >= 10_000, seen
    assert c["audit_forgotten"] == 0, seen


# Java options, and the arguments of StuckObjects: no region is left to copy to, or JNI has pinned some.
UNLOCK = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions"]
STUCK = {
    "no_room": (["-Xmx24m", "-XX:G1ReservePercent=0", "-XX:G1NewSizePercent=50"], (0, 380000, 2, 52)),
    "pinned": (["-Xmx64m"], (2, 60000, 4, 60)),
}


@each_pair(jdk=JDK_MAJORS, why=list(STUCK))
def test_no_small_object_is_forgotten_where_g1_cannot_move_all(workload, profile, jdk, why):
    """G1 leaves live objects in a region that it evacuates, and puts filler over the headers of some that it moved."""
    options, args = STUCK[why]
    java = ["-XX:+UseG1GC", "-Xlog:gc", *UNLOCK, *options, *(["-XX:-G1UsePreventiveGC"] if jdk.major == 17 else [])]
    run = profile(command(workload, jdk, "StuckObjects", *args, java=java), "--min-size=0", "--audit")
    c = counters(run)
    seen = run.stdout + " ".join("%s=%d" % i for i in c.items() if i[0].split("_")[0] in ("audit", "map", "small"))
    # Before JDK 22 JNI delays collections, and pins nothing.
    assert re.search("Evacuation Failure|To-space exhausted", run.stdout) or (jdk.major, why) == (17, "pinned"), seen
    assert {k: c[k] for k in WRONG} == dict.fromkeys(WRONG, 0), seen
    assert c["audit_checks"] >= 100_000, seen
    assert (c["audit_forgotten"], c["map_dropped"], c["small_forgotten"]) == (0, 0, 0), seen


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_counts_of_a_flood_are_exact_and_what_is_not_followed_is_told(workload, profile, locus, jdk, gc):
    """More objects than the logs hold, unless the attribution thread has a CPU to itself."""
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 12 << 30:
        pytest.skip("takes 6 GiB of memory, so that few collections empty the logs")
    run = profile(command(workload, jdk, "Flood", 4, 12000000, java=["-Xmx6g", "-Xmn4g", *collector(gc)]), "--min-size=0")
    told, r, c = truth(run), report(run), counters(run)
    seen = {name: allocations([s for s in r["sites"] if s["class"] == "Flood$" + name]) for name in told}
    assert seen == told
    text, lost = " ".join(locus("report", run.directory).stdout.split()), c["alloc_records_lost"]
    assert ("note: %d objects were counted but not tracked" % lost in text) == (lost > 0)
    assert ("counted but not tracked" in text) == (lost > 0)


def by_caller(r, caller):
    """Allocations that one of KeptSmall's callers made, and how many of them are estimated."""
    sites = [s for s in sites_through(r, caller, "KeptSmall") if s["class"] == "byte[]"]
    return allocations(sites), sum(s.get("estimated", 0) for s in sites)


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_large_arrays_are_counted_by_caller_and_estimates_are_marked(workload, profile, locus, jdk, gc):
    run = profile(command(workload, jdk, "KeptSmall", 20000, 50, java=collector(gc)), "--min-size=0")
    told, r = truth(run), report(run)
    large = {caller: (told[caller], 0) for caller in ("largeRare", "largeOften")}
    assert {caller: by_caller(r, caller) for caller in large} == large
    small = by_caller(r, "smallOften")
    assert small == (told["smallOften"],) * 2  # the one caller of small ones: exact all the same
    text = locus("report", run.directory, "--view=alloc", "--group=site", "--top=100").stdout
    assert " ~%d by this caller (an estimate; the line's are counted)" % small[0] in text
    assert " %d counted" % told["largeOften"] in text
    assert '"spread":%d' % small[0] in page_text(locus("report", run.directory, "--format=html").stdout)


def test_what_is_walked_each_time_is_no_estimate(workload, profile, locus, jdk17):
    run = profile(command(workload, jdk17, "KeptSmall", 2000, 50), "--min-size=0", "--paths=exact")
    told = truth(run)
    for caller in ("largeRare", "largeOften", "smallOften"):
        assert by_caller(report(run), caller) == (told[caller], 0)
    for options in ([], ["--view=alloc", "--group=site"]):
        assert "~" not in locus("report", *options, run.directory).stdout


# A walk reads this beside the nodes: the static field it ends with, and, the JVM itself, the constants of a class.
BESIDE_NODES = {"java.lang.Class", "java.lang.Object[]"}


def shares_of_walk(r, method):
    """The samples whose access path has the method: in nodes with their site, in the heap, all; and by class for objects of class
    alone."""

    def through(rows):
        return sum(a["samples"] for a in rows if any(f["method"] == method for f in a["path"]))

    site = through(a for s in r["sites"] if s["class"] == "KeptSmall$Node" for a in s["accesses"])
    by_class = {c["class"]: through(c["accesses"]) for c in r["classes"] if through(c["accesses"])}
    unknown = through(a for a in r["other_accesses"] if a["bucket"].startswith("heap"))
    heap = site + sum(by_class.values()) + unknown
    return site, by_class, heap, heap - unknown + through(r["other_accesses"])


@each_pair(
    possible=lambda jdk, gc, compact: jdk == 25 or not compact,
    jdk=(17, 25),
    gc=COLLECTORS,
    compact=(False, True),
)
def test_small_objects_keep_their_site_through_a_full_collection(workload, profile, jdk, gc, compact):
    """The same objects are read before and after System.gc(), which slides nearly all of them."""
    java = [*collector(gc), "-Xmx400m", *(["-XX:+UseCompactObjectHeaders"] if compact else [])]
    run = profile(command(workload, jdk, "KeptSmall", 150000, 400, java=java), "--min-size=0", "-i", "1ms")
    r = report(run)
    for method in ("walkBefore", "walkAfter"):
        site, by_class, heap, all_of_it = shares_of_walk(r, method)
        seen = (method, site, by_class, heap, all_of_it)
        assert set(by_class) <= BESIDE_NODES, seen  # no node has lost its site
        assert site >= 0.95 * heap, seen
        assert heap >= 0.7 * all_of_it, seen  # the rest: the JVM's own accesses, before the walk is compiled
    assert r["samples"]["lost"] == 0
