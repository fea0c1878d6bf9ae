# SPDX-License-Identifier: Apache-2.0
"""Memory outside the heap: its blocks are counted exactly, and accesses to them are theirs."""

import collections
import json
import math
import os
import re
import subprocess

import pytest
from helpers import COLLECTORS, collector, command, complaints, each_pair, report, table, truth
from test_attach import Program

CLASS = "OffHeap"
DIRECT = "java.nio.DirectByteBuffer (off-heap)"
KINDS = {  # the beginnings of their classes' names
    "direct": DIRECT, "memory": "native memory (off-heap)", "segment": "java.lang.foreign.MemorySegment (off-heap)",
    "heap": "byte[]", "mapped": "mapped mapped.", "fill": "native memory (off-heap)", "copy": DIRECT,
}
MOSTLY = 0.85  # the rest makes and clears the block, and reads the thread's clock


def rows_of(r):
    return [row for row in r["ranking"]["rows"] if "off_heap" in row]


def sums(rows):
    keys = ("allocated", "allocated_bytes", "freed", "freed_bytes")
    return {k: sum(row["off_heap"][k] for row in rows) for k in keys}


def off_heap(workload, profile, jdk, gc, *args, options=()):
    java = ["-Xmx512m", *collector(gc), "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    if jdk.major >= 24:
        java.append("--sun-misc-unsafe-memory-access=allow")
    return profile(command(workload, jdk, CLASS, *args, java=java), *options)


@each_pair(jdk=(17, 25), gc=COLLECTORS)
def test_time_in_blocks_is_theirs(workload, profile, jdk, gc):
    """Each phase's thread spends its time in one block, allocated in the phase's method."""
    phases = ["direct", "memory", "heap", "mapped", "fill", "copy"] + (["segment"] if jdk.major >= 22 else [])
    run = off_heap(workload, profile, jdk, gc, 700, 0, *phases, options=["--interval=2ms"])
    rows = []
    assert complaints(run.stderr) == []
    for phase in phases:
        r = report(run, "--thread=" + phase)
        own = sum(
            s["samples"] for s in r["sites"]
            if s["class"].startswith(KINDS[phase]) and (s["allocation_path"][0]["class"], s["allocation_path"][0]["method"]) == (CLASS, phase)
        )
        rows.append((phase, r["samples"]["total"], own, r["samples"]))
    bad = [row for row in rows if row[1] < 50 or row[2] < MOSTLY * row[1]]
    assert not bad, table(("phase", "samples", "in its block", "buckets"), rows)


@each_pair(jdk=(17, 25), gc=COLLECTORS)
def test_blocks_are_counted_exactly(workload, profile, jdk, gc):
    """By the program's own count, and by the JVM's pool of direct buffers."""
    run = off_heap(workload, profile, jdk, gc, 0, 4000)
    told = truth(run)
    direct = [row for row in rows_of(report(run)) if row["class"] == DIRECT]
    own = sums([row for row in direct if row["allocated_at"]["method"] == "allocate"])
    assert told["allocated"] == 8 * 4000
    assert own == {k: told[k] for k in own}
    everything = sums(direct)
    assert everything["allocated"] - everything["freed"] == told["pool"]
    assert everything["allocated_bytes"] - everything["freed_bytes"] == told["pool_bytes"]


def test_blocks_are_counted_exactly_at_the_limit_of_direct_memory(workload, profile, jdk):
    """Some allocations fail, and collections free buffers for others."""
    limit = 16 << 20
    java = ["-Xmx64m", "-XX:MaxDirectMemorySize=%d" % limit]
    run = profile(command(workload, jdk, CLASS, 0, 0, "limit", java=java))
    told, direct = truth(run), [row for row in rows_of(report(run)) if row["class"] == DIRECT]
    assert complaints(run.stderr) == []
    own, everything = sums([row for row in direct if row["allocated_at"]["method"] == "limit"]), sums(direct)
    assert own["allocated"] == told["allocated"] > limit // (1 << 20) and own["allocated_bytes"] == told["allocated_bytes"]
    assert everything["allocated"] - everything["freed"] == told["pool"]
    assert everything["allocated_bytes"] - everything["freed_bytes"] == told["pool_bytes"] <= limit


def test_the_report_tells_what_is_outside(workload, profile, locus, jdk):
    """The live bytes by line; and the heap's own rows are without them."""
    run = off_heap(workload, profile, jdk, "G1", 500, 1000, "direct", "heap")
    brief = " ".join(locus("report", run.directory).stdout.split())
    assert re.search(r"at accesses to objects, [1-9][\d.]*% to blocks outside the heap", brief)
    view = " ".join(locus("report", "--view=offheap", run.directory).stdout.split())
    assert re.search(r"64\.0 MB live \S+ \(off-heap\) <- OffHeap\.direct:\d+ 2 of 2 blocks live", view)
    assert re.search(r"<- OffHeap\.allocate:\d+ 4000 of 8000 blocks live; \S+ MB allocated, \S+ MB freed", view)
    assert all(not row["bytes"] for row in rows_of(report(run)))
    assert "(off-heap)" not in locus("report", "--view=alloc", run.directory).stdout


def test_a_mapped_file_is_named_and_counted(workload, profile, locus, jdk):
    run = off_heap(workload, profile, jdk, "G1", 300, 0, "mapped")
    rows = [row for row in rows_of(report(run)) if row["class"].startswith("mapped mapped.")]
    assert [sums([row]) for row in rows] == 2 * [{"allocated": 1, "allocated_bytes": 32 << 20, "freed": 1, "freed_bytes": 32 << 20}]
    assert {row["allocated_at"]["method"] for row in rows} == {"mapped"}
    view = " ".join(locus("report", "--view=offheap", run.directory).stdout.split())
    assert re.search(r"0 B live mapped \S+( \(off-heap\))? <- OffHeap\.mapped:\d+ 0 of 1 blocks live", view)


class Before(Program):
    """tests/workloads/OffHeapBefore.java."""

    def do(self, what, n=0):
        self.process.stdin.write("%s %d\n" % (what, n))
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


def live(r, kind):
    """Blocks and bytes that are live at the end, and those from before, of all rows of that kind."""
    rows = [row["off_heap"] for row in rows_of(r) if row["class"].startswith(kind)]
    sum_of = {k: sum(o[k] for o in rows) for k in ("before", "before_bytes", "allocated", "allocated_bytes", "freed", "freed_bytes")}
    return [sum_of["before" + b] + sum_of["allocated" + b] - sum_of["freed" + b] for b in ("", "_bytes")], [sum_of["before"], sum_of["before_bytes"]]


@each_pair(jdk=(17, 25), gc=COLLECTORS)
def test_blocks_from_before_an_attach_are_known(workload, locus, tmp_path, jdk, gc):
    """Live blocks are those of the JVM's pools, before, while half of them are freed and others made, and at the end."""
    p = Before(command(workload, jdk, "OffHeapBefore", java=["-Xmx256m", *collector(gc)]), tmp_path)
    try:
        first = json.loads(p.do("pools"))
        assert locus("attach", p.pid, "-o", tmp_path / "p", "--interval=2ms").returncode == 0
        p.do("free")
        p.do("more", 21)
        p.do("walk", 500)
        pools = json.loads(p.do("pools"))
        assert locus("detach", p.pid).returncode == 0
    finally:
        p.process.kill()
        p.process.wait()
    r = json.loads(locus("report", "--format=json", "--top=100000", tmp_path / "p").stdout)
    assert live(r, DIRECT) == (pools["direct"], first["direct"])
    assert live(r, "mapped ") == (pools["mapped"], first["mapped"])
    assert {row["class"].split(".")[0] for row in rows_of(r) if row["class"].startswith("mapped")} == {"mapped first", "mapped second"}
    walked = [s for s in r["sites"] if s["allocation_path"][0]["class"] == "(before the attach)"]
    assert sum(s["samples"] for s in walked) >= 0.7 * r["samples"]["total"] > 30, r["samples"]
    text = " ".join(locus("report", "--view=offheap", tmp_path / "p").stdout.split())
    assert re.search(r"\(before the attach\) 51 of 101 blocks live, 8\.1 MB in 101 from before the recording; 0 B allocated", text), text


def test_no_block_is_no_row(workload, profile, locus, jdk):
    run = off_heap(workload, profile, jdk, "Serial", 0, 0, "heap")
    assert "outside the heap" not in locus("report", run.directory).stdout


# Shares of several kinds of blocks

WEIGHTS = {"direct": 30, "mapped": 20, "heap": 15, "memory": 10}
SEGMENTS = {"confined": 15, "shared": 10}  # of memory segments, from JDK 22 on
POINTS = 2.5  # of the truth, beside the error of sampling


def truth_command(workload, jdk, gc, ms, how):
    weights = {**WEIGHTS, **(SEGMENTS if jdk.major >= 22 else {})}
    java = ["-Xmx512m", "-XX:+Use%sGC" % gc]
    if jdk.major >= 22:
        java += ["--sun-misc-unsafe-memory-access=allow", "-XX:+EnableDynamicAgentLoading"]
    line = command(workload, jdk, "OffHeapTruth", ms, how, *("%s=%d" % of for of in weights.items()), java=java)
    if jdk.major >= 22:
        at = line.index("-cp") + 1
        line[at] = os.pathsep.join([line[at], workload(jdk, "OffHeapSegments")])
    return line


def check_shares(r, told):
    """The share of each kind is that of the CPU time which the program measured, but for POINTS and the error of
    sampling (99.9%, of the profile's effective number of observations)."""
    total, whole, n = r["samples"]["total"], sum(told.values()), r["observations"]["effective"]
    got = collections.Counter()
    for s in r["sites"]:  # each kind's blocks are made in the method of its name
        got.update({f["method"]: s["samples"] for f in s["allocation_path"] if f["class"] in ("OffHeapTruth", "OffHeapSegments") and f["method"] in told})
    rows = []
    for kind in sorted(told.keys() - {"other"}):
        share, found = told[kind] / whole, got[kind] / total
        rows.append((kind, 100 * share, 100 * found, POINTS + 329 * math.sqrt(share * (1 - share) / n)))
    bad = [row for row in rows if abs(row[1] - row[2]) > row[3]]
    assert n > 100 and len(rows) >= len(WEIGHTS) and not bad, table(("kind", "truth", "found", "allowed"), rows)


def test_shares_of_blocks_are_those_of_the_time(workload, profile, jdk):
    run = profile(truth_command(workload, jdk, "G1", 1000, "go"), "--interval=4ms")
    check_shares(report(run, "--thread=truth"), truth(run))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["launch", "attach"])
@pytest.mark.parametrize("gc", [*COLLECTORS, "Z", "Shenandoah"])
@pytest.mark.parametrize("jdk", [17, 25], indirect=True)
def test_shares_of_blocks_with_each_collector(workload, profile, locus, tmp_path, jdk, gc, how):
    """Also of blocks that are made after an attach."""
    if how == "launch":
        run = profile(truth_command(workload, jdk, gc, 3000, "go"), "--interval=4ms")
        check_shares(report(run, "--thread=truth"), truth(run))
        return
    line = truth_command(workload, jdk, gc, 3000, "wait")
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        assert p.stdout.readline() == "ready\n"
        done = locus("attach", p.pid, "-o", tmp_path / "p", "--interval=4ms")
        assert done.returncode == 0, done.stderr
        out = p.communicate("go\n", timeout=300)[0]
    r = json.loads(locus("report", "--thread=truth", "--format=json", tmp_path / "p").stdout)
    check_shares(r, json.loads(out.splitlines()[-1]))


# Findings


def costs(workload, profile, jdk, ms, *ways, options=("--interval=4ms",)):
    java = ["-Xmx512m", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    if jdk.major >= 24:
        java.append("--sun-misc-unsafe-memory-access=allow")
    run = profile(command(workload, jdk, "OffHeapCosts", ms, *ways, java=java), *options)
    return {f["kind"]: f for f in report(run)["findings"]}


def test_blocks_made_again_and_copies_for_io_are_findings(workload, profile, jdk):
    found = costs(workload, profile, jdk, 1000, "churn", "copies")
    again, copied = found["short-lived-blocks"], found["copied-buffers"]
    assert again["class"] == DIRECT and "OffHeapCosts.churn:" in again["text"]
    made, freed = re.search(r": (\d+) blocks were allocated .*and (\d+)% of them freed", again["text"]).groups()
    assert int(made) > 1000 and freed == "100"
    assert re.search(r"9\d% of them at OffHeapCosts\.write:|100% of them at OffHeapCosts\.write:", copied["text"])
    assert "0 of 1 blocks are live" in copied["text"] or "0 of 2 blocks are live" in copied["text"]


@pytest.mark.slow
@pytest.mark.parametrize("jdk", [17, 25], indirect=True)
def test_blocks_used_again_and_io_of_direct_buffers_are_none(workload, profile, jdk):
    found = costs(workload, profile, jdk, 2000, "pooled", "direct")
    assert not found.keys() & {"short-lived-blocks", "copied-buffers", "never-read"}


@pytest.mark.slow
@pytest.mark.parametrize("jdk", [17, 25], indirect=True)
def test_a_mapped_file_that_accesses_read_in_is_a_finding_of_faults(workload, profile, jdk):
    """Not if load() reads it in first."""
    found = costs(workload, profile, jdk, 600, "map", options=("-e", "fault"))
    assert "OffHeapCosts.map:" in found["read-in"]["text"]
    assert "read-in" not in costs(workload, profile, jdk, 600, "load", options=("-e", "fault"))
