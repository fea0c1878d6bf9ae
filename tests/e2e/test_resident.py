# SPDX-License-Identifier: Apache-2.0
"""Resident memory: the parts are what the program has taken, and add up to what the kernel counts."""

import re

import pytest
from helpers import COLLECTORS, collector, command, complaints, each_pair, report, table, truth

MIB = 1 << 20


def recorded(workload, profile, jdk, gc, *options):
    run = profile(command(workload, jdk, "Resident", java=["-Xmx256m", "-Xss3m", *collector(gc)]), *options)
    assert complaints(run.stderr) == []
    return run


def checked(run, gc):
    """By the program's own sizes, and by its look at /proc just before the end."""
    told, [process] = truth(run), report(run)["resident"]
    last = process["last"]
    parts = {name: part["resident_bytes"] for name, part in last["parts"].items()}
    shown = table(("part", "bytes"), sorted(parts.items()))
    names = {n["name"]: n for part in ("blocks", "files") for n in last["parts"][part]["names"]}
    assert sum(parts.values()) == last["resident_bytes"], shown
    assert last["resident_bytes"] == pytest.approx(told["resident"], rel=0.02), shown
    assert process["peak_bytes"] >= last["resident_bytes"]
    assert names["java.nio.DirectByteBuffer"]["resident_bytes"] == pytest.approx(200 * MIB, rel=0.01)
    [mapped] = [n for name, n in names.items() if name.startswith(told["file"])]
    assert (mapped["resident_bytes"], mapped["bytes"]) == (50 * MIB, 100 * MIB)
    assert told["stacks"] > 16 * 128 * 1024
    assert 0 <= parts["stacks"] - told["stacks"] < 4 * MIB, shown
    if gc != "Z":  # which maps the heap three times in JDK 17
        assert last["parts"]["heap"]["bytes"] == pytest.approx(told["committed"], rel=0.15)
    assert min(parts[p] for p in ("heap", "metaspace", "code_cache", "libraries", "malloc", "locus")) > 0, shown
    assert parts["rest"] < 0.05 * last["resident_bytes"], shown


@each_pair(jdk=(17, 25), gc=("G1",))
def test_the_parts_are_what_the_program_has_taken(workload, profile, locus, jdk, gc):
    run = recorded(workload, profile, jdk, gc)
    checked(run, gc)
    view = " ".join(locus("report", "--view=offheap", run.directory).stdout.split())
    assert re.search(r"blocks outside the heap 20\d\.\d MB [5-7]\d\.\d% 200\.0 MB of 200\.0 MB java\.nio\.DirectByteBuffer", view)
    assert re.search(r"mapped files 50\.\d MB \d\d\.\d% 50\.0 MB of 100\.0 MB resident\.", view)
    brief = " ".join(locus("report", run.directory).stdout.split())
    assert re.search(r"resident memory: \S+ MB, of which Java heap \S+ MB, blocks outside the heap 20\d\.\d MB", brief)


@pytest.mark.slow
@each_pair(jdk=(17, 25), gc=(*COLLECTORS, "Z", "Shenandoah"))
def test_with_each_collector(workload, profile, jdk, gc):
    checked(recorded(workload, profile, jdk, gc), gc)


def counted(text):
    """Reserved, committed and malloc()'s bytes by category, as the JVM prints them."""
    found = re.findall(r"^- +(.+?) \(reserved=(\d+), committed=(\d+)\)\n((?:  +.*\n)*)", text, re.M)
    return {name: (int(reserved), int(committed), sum(map(int, re.findall(r"\((?:malloc|arena)=(\d+)", rest))))
            for name, reserved, committed, rest in found}


@pytest.mark.few(1)
@each_pair(jdk=(17, 25), gc=("G1",))
def test_what_the_jvm_counts_of_itself_is_shown(workload, profile, locus, browser, tmp_path, jdk, gc):
    options = ["-XX:NativeMemoryTracking=summary", "-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintNMTStatistics"]
    run = profile(command(workload, jdk, "OffHeap", "1", "10", java=[*options, *collector(gc)]))
    assert complaints(run.stderr) == []
    said, nmt = counted(run.stdout), report(run)["resident"][0]["last"]["nmt"]
    read = {c["name"]: (c["reserved_bytes"], c["committed_bytes"], c["malloc_bytes"]) for c in nmt["categories"]}
    assert read["Java Heap"] == said["Java Heap"]
    # The JVM prints its own counts when the recording has ended, and some has been freed.
    for name in ("Code", "Symbol", "Metaspace"):
        assert read[name] == pytest.approx(said[name], rel=0.1, abs=256 << 10), (name, read, said)
    assert sum(c[2] for c in read.values()) == nmt["malloc_bytes"] == nmt["own_malloc_bytes"] + read["Other"][2]
    view = " ".join(locus("report", "--view=offheap", run.directory).stdout.split())
    assert re.search(r"allocated by the JVM itself, resident or not \(NMT\)", view), view
    assert re.search(r"the JVM's own count \(NMT\): \S+ MB committed of \S+ GB reserved, \S+ MB of it by malloc\(\)", view), view
    page = tmp_path / "p.html"
    assert locus("report", run.directory, "-f", page).returncode == 0
    browser.page(page, "view=offheap")
    detail = " ".join(browser.text("#view-offheap .resident").split())
    assert "Java heap" in detail and "other malloc()" in detail and "Symbol" in detail and browser.messages() == [], detail
