# SPDX-License-Identifier: Apache-2.0
"""Each command does its part on one run of a real JVM: what `make check` looks at."""

import json

import pytest
import synthetic
from conftest import BUILD, WORKLOADS
from helpers import allocations, command, complaints, counters, hits, page_text, report, sites_through, truth

pytestmark = pytest.mark.smoke


@pytest.fixture
def run(workload, profile_once, jdk):
    """A profile with objects, streams and single spans."""
    line = command(workload, jdk, "SpanStreams", "sequential", 400)
    return profile_once("smoke-%d" % jdk.major, line, "--spans=streams,tasks", "--trace", "--interval=1ms")


def output(locus, *args):
    done = locus(*args)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_run_counts_allocations_exactly(workload, profile, jdk):
    run = profile(command(workload, jdk, "VirtualThreads" if jdk.major > 17 else "ThreadStorm", 300))
    assert complaints(run.stderr) == []
    method = "virtualAllocate" if jdk.major > 17 else "stormAllocate"
    assert allocations(sites_through(report(run), method)) == truth(run)["allocations"]


@pytest.mark.parametrize("form", ["text", "json", "html", "collapsed"])
def test_report_in_each_form(locus, run, form):
    assert complaints(run.stderr) == []
    text = output(locus, "report", run.directory, "--format=" + form)
    assert "SpanStreams" in (page_text(text) if form == "html" else text)
    if form == "json":
        assert json.loads(text)["samples"]["total"] > 0


@pytest.mark.parametrize("form", ["text", "json", "html", "csv"])
def test_spans_in_each_form(locus, run, form):
    table = ["--table=locations"] if form == "csv" else []
    text = output(locus, "spans", run.directory, "--format=" + form, *table)
    assert "SpanStreams" in (page_text(text) if form == "html" else text)
    if form == "json":
        assert json.loads(text)["totals"]["anonymous"] > 0


def test_numa_of_this_machine(locus, run):
    state = json.loads(output(locus, "numa", run.directory, "--format=json"))["numa"]["state"]
    assert state in ("on", "one-node", "off")
    assert output(locus, "numa", run.directory)


def test_merge_adds_up(locus, run, tmp_path):
    output(locus, "merge", "-o", tmp_path / "merged", run.directory, synthetic.another(run.directory, tmp_path / "other"))
    totals = [
        json.loads(output(locus, "report", path, "--format=json"))["samples"]["total"]
        for path in (run.directory, tmp_path / "merged")
    ]
    assert totals[1] == 2 * totals[0] > 0


def test_bench_makes_a_project_with_recorded_inputs(locus, workload, profile, jdk17, tmp_path):
    if not (BUILD / "locus-bench.jar").exists():
        pytest.skip("no locus-bench.jar: make had no Maven, or Maven not its libraries")
    run = profile(command(workload, jdk17, "BenchLoop", 2))
    done = locus("bench", run.directory, "--source-path", WORKLOADS, "--run-recorded", "--no-run", "-o", tmp_path / "bench")
    assert done.returncode == 0, done.stdout + done.stderr
    (source,) = (tmp_path / "bench").glob("src/main/java/locusbenchmark/BenchLoop_sum_*.java")
    assert "@Benchmark" in source.read_text()
    assert list((tmp_path / "bench").glob("src/main/**/locus-inputs.bin"))


def test_doctor_looks_at_this_machine(locus, jdk):
    done = locus("doctor", "--java=%s" % jdk.java, "--json")
    assert done.returncode in (0, 1), done.stderr
    assert jdk.version.split("+")[0] in done.stdout, done.stdout


def test_a_watch_counts_or_says_why_not(workload, profile, jdk17):
    line = command(workload, jdk17, "WatchSmall", "count", 20000)
    run = profile(line, "-e", "watch:WatchSmall$Counter#1.value:w")
    said = complaints(run.stderr)
    assert all("the timer samples instead" in text or "cannot sample" in text for text in said), said
    assert said or hits(counters(run)) == 20000


def test_version_and_help(locus):
    assert output(locus, "--version").startswith("locus ")
    for name in ("run", "report", "spans", "numa", "repeat", "bench", "merge", "calibrate", "doctor"):
        assert "usage: " in output(locus, "help", name).lower()
