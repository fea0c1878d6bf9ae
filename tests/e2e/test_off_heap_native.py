# SPDX-License-Identifier: Apache-2.0
"""Memory that native libraries allocate (--offheap=native), against the counts of a library of ours."""

import json
import re
import subprocess

import pytest
from helpers import command, complaints, counters, native_library, report

MAPPED = 1 << 16  # bytes that a signal handler maps
NATIVE = "native memory (off-heap)"
KEYS = ("allocated", "allocated_bytes", "freed", "freed_bytes")


def rows_of(r):
    """The native rows, by the method that allocates; None: a thread that the JVM does not know."""
    rows = {}
    for row in r["ranking"]["rows"]:
        at = row.get("allocated_at")
        if row["class"] == NATIVE and (not at or at["class"] == "NativeBlocks"):
            rows[at and at["method"]] = {k: row["off_heap"][k] for k in KEYS}
    return rows


def check(rows, told, missed):
    """The counts are the library's; what it does not count itself is the handler's mappings, and one in parts.

    `missed`: mappings of the handler where it has interrupted the agent.
    """
    sums = {k: sum(row[k] for row in rows.values()) for k in KEYS}
    assert told["hung"] == 0
    assert rows["mapParts"] == {"allocated": 1, "allocated_bytes": MAPPED, "freed": 0, "freed_bytes": 8192}
    mapped = told["in_handler"] - missed
    assert mapped > 0
    assert sums["allocated"] == told["allocated"] + mapped + 1
    assert sums["allocated_bytes"] == told["allocated_bytes"] + (mapped + 1) * MAPPED
    assert sums["freed"] == told["freed"] + mapped
    assert sums["freed_bytes"] == told["freed_bytes"] + mapped * MAPPED + 8192
    assert rows["keep"] == {"allocated": 300, "allocated_bytes": 600_000, "freed": 0, "freed_bytes": 0}
    assert rows["freeUnseen"]["allocated"] == rows["freeUnseen"]["freed"] == 40
    assert rows[None]["allocated"] == rows[None]["freed"] > 100


@pytest.fixture
def library(jdk, tmp_path):
    found = native_library(jdk, "nativeblocks", tmp_path)
    if not found:
        pytest.skip("no C compiler on this machine")
    return found


def test_blocks_are_counted_exactly(workload, profile, locus, jdk, library):
    """Also in threads that the JVM does not know, while others fork, and signals interrupt them."""
    run = profile(command(workload, jdk, "NativeBlocks", library, 3000), "--offheap=native")
    assert complaints(run.stderr) == []
    check(rows_of(report(run)), json.loads(run.stdout), counters(run)["offheap_missed"])
    [grown] = [r["off_heap"] for r in report(run)["ranking"]["rows"] if r["class"].startswith("mapped locus-grown-")]
    assert [grown[k] for k in KEYS] == [2, 3 * MAPPED, 1, MAPPED]
    view = " ".join(locus("report", "--view=offheap", run.directory).stdout.split())
    assert re.search(r"585\.9 KB live native memory \(off-heap\) <- NativeBlocks\.keep\S* 300 of 300 blocks live", view)


def test_an_attach_sees_loaded_libraries_and_a_detach_leaves_them(workload, locus, jdk, library, tmp_path):
    line = command(workload, jdk, "NativeBlocks", library, 1000, "attached")
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        try:
            assert p.stdout.readline() == "ready\n"
            locus("attach", "--offheap=native", "--output", tmp_path / "p", p.pid)
            p.stdin.write("\n")
            p.stdin.flush()
            told = json.loads(p.stdout.readline())
            locus("detach", p.pid)
            p.stdin.write("\n")
            p.stdin.flush()
            assert p.stdout.readline() == "well\n"
            assert p.wait(300) == 0
        finally:
            p.kill()
    missed = json.loads((tmp_path / "p" / "manifest.json").read_text())["processes"][0]["counters"]["offheap_missed"]
    check(rows_of(json.loads(locus("report", "--format=json", tmp_path / "p").stdout)), told, missed)


def test_without_the_option_they_are_not_seen(workload, profile, jdk, library):
    run = profile(command(workload, jdk, "NativeBlocks", library, 10))
    assert rows_of(report(run)) == {}
