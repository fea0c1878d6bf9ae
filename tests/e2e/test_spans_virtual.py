# SPDX-License-Identifier: Apache-2.0
"""Spans of virtual threads: none is lost when its thread changes carriers, and no time asleep counts."""

import json
import re
import subprocess

import helpers
import pytest

CLASS = "SpanVirtual"
POOLED, SINGLE = 3000, 200


def spans_of(locus, run):
    done = locus("spans", run.directory, "--format=json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def program(workload, jdk25):
    return helpers.command(workload, jdk25, CLASS, POOLED, SINGLE)


def manifest_counters(run):
    text = (run.directory / "manifest.json").read_text()
    return {name: int(value) for name, value in re.findall(r'"(spans?_[a-z_]+)":(\d+)', text)}


@pytest.mark.parametrize("what", ["streams,tasks", "tasks", "streams"])
def test_sleeping_threads(program, profile, locus, what):
    run = profile(program, "--spans=" + what)
    spans = spans_of(locus, run)
    total = spans["totals"]
    threads = POOLED + SINGLE
    counters = manifest_counters(run)
    for name in ("spans_too_deep", "spans_not_ended", "spans_not_begun", "spans_virtual_lost"):
        assert counters[name] == 0, name
    assert counters["spans_virtual_moved"] >= threads  # each was put on a carrier again
    if "streams" in what:
        assert total["anonymous"] == threads
    if "tasks" in what:
        sleepers = [t for t in spans["tasks"] if t["type"] == CLASS + "$Sleeper"]
        assert sum(t["executions"] for t in sleepers) == threads
        virtual = [t for t in spans["tasks"] if t["type"] == "java.lang.VirtualThread"]
        assert sum(t["executions"] for t in virtual) == threads
    # Each is asleep for 26 ms, and works for some 50,000 multiplications.
    cycles = total["stream_cycles"] + total["task_cycles"]
    assert 0 < cycles < threads * 0.010 * spans["clock"]["hz"]


SUBTASKS = """
import java.util.concurrent.*;
public class Subtasks {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 100; i++) {
            int k = i;
            try (var scope = StructuredTaskScope.open()) {
                scope.fork(() -> k + 1); // forked
                scope.join();
            }
        }
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 100; i++) {
                int k = i;
                pool.submit(() -> k + 2); // submitted
            }
        }
    }
}
"""


def test_subtasks_and_submissions_to_virtual_threads_name_the_programs_line(profile, locus, jdk25, tmp_path):
    (tmp_path / "Subtasks.java").write_text(SUBTASKS)
    preview = ["--enable-preview"]
    subprocess.run(
        [jdk25.javac, *preview, "--release", str(jdk25.major), "-nowarn", "-d", tmp_path, tmp_path / "Subtasks.java"],
        check=True,
        capture_output=True,
        timeout=300,
    )
    run = profile([jdk25.java, *preview, "-cp", tmp_path, "Subtasks"], "--spans=tasks")
    rows = [t for t in spans_of(locus, run)["tasks"] if t["type"].startswith("Subtasks$$Lambda")]
    lines = SUBTASKS.splitlines()
    for marker in ("forked", "submitted"):
        (line,) = [i + 1 for i, text in enumerate(lines) if text.endswith("// " + marker)]
        own = [t for t in rows if t["creation"]["line"] == line]
        assert sum(t["executions"] for t in own) == sum(t["submitted"] for t in own) == 100, own
        places = {(t["submission"]["class"], t["submission"]["line"]) for t in own if t["submitted"]}
        assert places == {("Subtasks", line)}, own
