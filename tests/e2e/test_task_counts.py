"""Submissions and executions of tasks against the counts that the program keeps itself, to the unit."""

import collections

import helpers
import pytest
from test_spans_streams import spans_of

CLASS = "TaskCounts"
TIMES = 24000  # C2 has compiled and inlined long before
INLINE = [
    "-XX:MaxInlineLevel=60",
    "-XX:MaxInlineSize=1000",
    "-XX:FreqInlineSize=5000",
    "-XX:CompileCommand=quiet",
]
# How methods are compiled: with as many as possible in one frame; also but for Locus's own.
COMPILED = {
    "inlined": ["-Xbatch", *INLINE],
    "called": [*INLINE, "-XX:CompileCommand=dontinline,java.lang.LocusSpan::*"],
    "forced": ["-XX:-TieredCompilation", *INLINE, "-XX:CompileCommand=inline,java.util.concurrent.*::*"],
    "C1": [*helpers.TIERS["C1"], "-XX:C1MaxInlineLevel=60", "-XX:C1MaxInlineSize=1000"],
    "C2": helpers.TIERS["C2"],
    "interpreted": ["-Xint"],
}
# Two CPUs give the common pool no worker, and each asynchronous task a thread.
JAVA = ["-Djava.util.concurrent.ForkJoinPool.common.parallelism=2"]


def counts_of(spans):
    """{marker: (submitted, executions, folded)} of the tasks that the marked line makes."""
    names = {line: name for name, line in helpers.marked_lines(CLASS, "task").items()}
    found = collections.defaultdict(collections.Counter)
    for row in spans["tasks"]:
        at = row["creation"]
        if "Thread" in row["type"] or row["type"].endswith("$Worker"):
            continue  # of the pools: made where a task is handed on
        if at and at["class"].split("$")[0] == CLASS and at["line"] in names:
            found[names[at["line"]]].update({k: row[k] for k in ("submitted", "executions", "folded")})
    return {name: (c["submitted"], c["executions"], c["folded"]) for name, c in found.items()}


def counted_by_program(stdout):
    rows = [line.split() for line in stdout.splitlines() if line.count(" ") == 3]
    return {way: tuple(map(int, counts)) for way, *counts in rows}


def check(profile, locus, workload, jdk, compiled, collector):
    java = [*JAVA, *COMPILED[compiled], *helpers.collector(collector)]
    times = TIMES // 8 if compiled == "interpreted" else TIMES
    run = profile(helpers.command(workload, jdk, CLASS, times, java=java), "--spans=tasks")
    assert not helpers.complaints(run.stderr), run.stderr
    truth = counted_by_program(run.stdout)
    assert len(truth) == len(helpers.marked_lines(CLASS, "task"))
    found = counts_of(spans_of(locus, run))
    # Two objects that live may have one identity hash: then neither's place is told, and it is counted.
    counted = helpers.counters(run)
    unclear = counted["spans_links_ambiguous"] + counted["spans_links_unknown"]
    assert set(found) == set(truth)
    for way, (handed, executed, folded) in truth.items():
        assert 0 <= folded - found[way][2] <= unclear, (way, found[way], truth[way], unclear)
        assert 0 <= handed - found[way][0] <= unclear, (way, found[way], truth[way], unclear)
        assert 0 <= executed - found[way][1] <= unclear, (way, found[way], truth[way], unclear)
    assert unclear <= 8  # of 300,000 objects


@pytest.mark.parametrize("compiled", ("inlined", "called"))
def test_one_frame_of_many_methods_counts_each(profile, locus, workload, jdk, compiled):
    check(profile, locus, workload, jdk, compiled, "G1")


@pytest.mark.slow
@pytest.mark.parametrize("collector", helpers.COLLECTORS)
@pytest.mark.parametrize("compiled", COMPILED)
def test_each_compiler_and_collector_counts_alike(profile, locus, workload, jdk, compiled, collector):
    check(profile, locus, workload, jdk, compiled, collector)
