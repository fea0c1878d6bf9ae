# SPDX-License-Identifier: Apache-2.0
"""Locus's memory has a limit, and Locus says what it does without at the limit.

The truth is the process's own peak (VmHWM) with and without Locus, in a heap whose pages are all
there from the start.
"""

import re
import subprocess

import pytest
from conftest import run_command
from helpers import (
    COLLECTORS,
    allocations,
    collector,
    command,
    complaints,
    counters,
    has_frame,
    report,
    sites_through,
    truth,
)

MB = 1 << 20
# Beside what the limit is about: names that are read, the JVM's own tables of hooked classes, what
# malloc() keeps of what was freed.
SLACK_MB = 72


def growth_mb(profile, line, *options):
    """The profiled run, and by how much its peak is above that of the bare run."""
    bare = truth(run_command([str(word) for word in line]))
    run = profile(line, *options)
    ours = truth(run)
    assert {**ours, "peak_kb": 0} == {**bare, "peak_kb": 0}
    return run, (ours["peak_kb"] - bare["peak_kb"]) / 1024


def assert_said(run, r, *kinds):
    limits = {limit["kind"]: limit["text"] for limit in r["processes"][0]["limits"]}
    assert set(kinds) <= set(limits), limits
    said = complaints(run.stderr)
    for kind, text in limits.items():
        assert "--max-memory" in text or not kind.startswith("memory_")  # the stacks of 300 threads may take more than --budget, too
        assert sum(text in line for line in said) == 1, said


def check_small(profile, workload, jdk, gc, nodes, heap, limit_mb):
    java = [*collector(gc), "-Xms" + heap, "-Xmx" + heap, "-XX:+AlwaysPreTouch"]
    run, grown = growth_mb(
        profile,
        command(workload, jdk, "ManySmall", nodes, java=java),
        "--min-size=0",
        "--max-memory=%dm" % limit_mb,
    )
    r = report(run)
    assert grown < limit_mb + SLACK_MB, grown
    c = counters(run)
    # Collections are carried over by arrays that are gone again.
    assert c["memory_peak_bytes"] < limit_mb * 2 * MB
    assert_said(run, r)
    assert {"memory_small", "memory_records"} & {limit["kind"] for limit in r["processes"][0]["limits"]}
    made = [s for s in sites_through(r, "grow", "ManySmall") if s["class"] == "ManySmall$Node"]
    assert allocations(made) == nodes
    # The limit bounds the objects that are looked at in a pause.
    assert c["small_moves"] <= c["gc_collections"] * limit_mb * MB / 512


@pytest.mark.parametrize("gc", COLLECTORS)
def test_many_small_objects_stay_within_the_limit(profile, workload, jdk17, gc):
    check_small(profile, workload, jdk17, gc, 4_000_000, "256m", 48)


@pytest.mark.slow
@pytest.mark.parametrize("gc", COLLECTORS)
def test_twenty_million_small_objects_stay_within_the_default_limit(profile, workload, jdk, gc):
    check_small(profile, workload, jdk, gc, 20_000_000, "1g", 256)


BROAD = """
import java.nio.file.*;
import java.util.concurrent.CountDownLatch;

public class Broad {
	static volatile Object sink;
%(classes)s
	static void round(int depth) {
%(calls)s
	}
	public static void main(String[] args) throws Exception {
		int threads = %(threads)d;
		CountDownLatch done = new CountDownLatch(threads), go = new CountDownLatch(1);
		for (int t = 0; t < threads; t++)
			new Thread(() -> {
				for (int round = 0; round < %(rounds)d; round++)
					for (int depth = 0; depth < 4; depth++)
						round(depth);
				done.countDown();
				try { go.await(); } catch (InterruptedException e) { }
			}).start();
		done.await();
		for (String line : Files.readAllLines(Path.of("/proc/self/status")))
			if (line.startsWith("VmHWM:"))
				System.out.println("{\\"peak_kb\\":" + line.replaceAll("[^0-9]", "") + "}");
		go.countDown();
	}
}
"""
CLASS = """	static final class C%d {
		static void at(int depth) { if (depth > 0) { at(depth - 1); return; }
%s
		}
	}
"""


def broad(jdk, directory, lines, threads, rounds):
    """A program whose threads all allocate at so many lines, in four depths."""
    classes = "".join(CLASS % (i, "\n".join(["\t\t\tsink = new byte[2048];"] * 100)) for i in range(lines // 100))
    calls = "".join("\t\tC%d.at(depth);\n" % i for i in range(lines // 100))
    source = directory / "Broad.java"
    source.write_text(BROAD % {"classes": classes, "calls": calls, "threads": threads, "rounds": rounds})
    subprocess.run([jdk.javac, "-g", "-d", directory, source], check=True)
    java = ["-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"]
    return [jdk.java, *java, "-cp", directory, "Broad"]


def check_broad(profile, line, lines, threads, rounds, limit_mb):
    run, grown = growth_mb(profile, line, "--max-memory=%dm" % limit_mb, "--recursion=keep")
    assert grown < limit_mb + SLACK_MB, grown
    r = report(run)
    assert_said(run, r, "memory_contexts", "memory_counters")
    of = [s for s in r["sites"] if s["class"] == "byte[]" and has_frame(s["allocation_path"], "at")]
    assert allocations(of) == lines * 4 * threads * rounds
    assert counters(run)["alloc_unrecorded"] == 0
    # Each line has its own, at each depth.
    each = {(f["class"], f["line"]) for s in of for f in s["allocation_path"][:1]}
    assert len(each) == lines
    by_path = {}
    for s in of:
        depth = sum(f["method"] == "at" for f in s["allocation_path"])
        by_path[depth] = by_path.get(depth, 0) + allocations([s])
    assert by_path == {depth: lines * threads * rounds for depth in (1, 2, 3, 4)}


def test_tables_of_many_threads_stay_within_the_limit(profile, jdk17, tmp_path):
    line = broad(jdk17, tmp_path, 800, 40, 3)
    check_broad(profile, line, 800, 40, 3, 32)


@pytest.mark.slow
def test_tables_of_three_hundred_threads_stay_within_the_limit(profile, jdk, tmp_path):
    line = broad(jdk, tmp_path, 2400, 300, 5)
    check_broad(profile, line, 2400, 300, 5, 256)


def test_the_limit_is_an_option_and_has_a_default(profile, workload, jdk17, locus):
    run = profile(command(workload, jdk17, "ManySmall", 1000))
    assert counters(run)["memory_limit_bytes"] <= 256 * MB
    assert not complaints(run.stderr)
    assert "limits" not in report(run)["processes"][0]
    refused = locus("run", "--max-memory=1m", "--", "java")
    assert re.search("max-memory.*32m to 64g", refused.stderr), refused.stderr
