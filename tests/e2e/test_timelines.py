# SPDX-License-Identifier: Apache-2.0
"""CPU time and switches of threads per 100 ms, and the clocks that spans are measured with."""

import json
import os
import pathlib

import pytest

pytestmark = pytest.mark.quiet  # what a thread ran and when is compared with the clock

BUSY_MS = 900
STRETCH_NS = 100_000_000


def stolen_ns():
    """Time that a hypervisor took from all CPUs: the TSC counts it, threads' CPU clocks do not."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()
    return int(fields[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


@pytest.fixture
def spans(locus, jdk, workload, tmp_path):
    """spans("--option"...) is the report on a run in which thread "busy" is busy so long."""

    def run(*options):
        program = [jdk.java, "-cp", workload(jdk, "FewSpans"), "FewSpans", str(BUSY_MS)]
        done = locus("run", "-o", tmp_path / "p", "--spans=streams,tasks", *options, "--", *program)
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
        done = locus("spans", tmp_path / "p", "--format=json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def handler_ns():
        manifest = json.loads((tmp_path / "p" / "manifest.json").read_text(encoding="utf-8"))
        return 1000 * manifest["processes"][0]["counters"]["engine_handler_us"]

    run.handler_ns = handler_ns
    return run


def cycles_of_busy(report):
    return next(w for w in report["workers"] if w["thread"] == "busy")


# The tolerated difference between the kernel's clock and ours: its part of each switch; and a look, where it is coarse.
@pytest.mark.parametrize("clock, slack_ns", [("auto", 0), ("coarse", 2_000_000)])
def test_cycles_are_the_cpu_time_of_the_thread(spans, clock, slack_ns):
    stolen = stolen_ns()
    report = spans("--clock=" + clock)
    stolen = stolen_ns() - stolen
    if stolen:
        slack_ns += stolen + 10_000_000  # as much as a tick more
    assert clock == "auto" or report["clock"]["name"] == "tsc_coarse", report["clock"]
    slack_ns += spans.handler_ns()  # which is in the thread's CPU time, and in none of its spans
    busy = cycles_of_busy(report)
    ns = busy["compensated_cycles"] / report["clock"]["hz"] * 1e9
    switches = busy["voluntary"] + busy["involuntary"]
    assert abs(ns - busy["cpu_ns"]) < 0.01 * busy["cpu_ns"] + switches * 20_000 + slack_ns, busy
    assert busy["cpu_ns"] <= 1.1e6 * BUSY_MS


def test_stretches_add_up(spans):
    report = spans()
    timeline = report["timeline"]
    assert timeline["interval_ns"] == STRETCH_NS
    threads = {t["thread"]: t["points"] for t in timeline["threads"]}
    busy = threads["busy"]
    assert BUSY_MS // 100 <= len(busy) <= BUSY_MS // 100 + 2
    assert sum(p[1] for p in busy) == cycles_of_busy(report)["cpu_ns"]
    # Distances of whole stretches; no stretch has more than its time.
    assert all((p[0] - busy[0][0]) % STRETCH_NS == 0 for points in threads.values() for p in points)
    assert all(p[1] <= 1.1 * STRETCH_NS for p in busy)
    # The process is its threads and the rest of the JVM.
    assert "(JVM)" in threads
    (process,) = timeline["processes"]
    for column in (1, 2, 3):
        total = sum(p[column] for p in process["points"])
        assert total == sum(p[column] for points in threads.values() for p in points)
