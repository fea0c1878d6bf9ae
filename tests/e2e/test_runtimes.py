# SPDX-License-Identifier: Apache-2.0
"""JDK 11 and 21: what counts most of what is tested in full on 17 and 25."""

import pytest
import test_accuracy
import test_gc
import test_spans_tasks
from conftest import BUILD, RUNTIME_MAJORS, Profile
from helpers import (
    allocations,
    collector,
    command,
    complaints,
    execute,
    report,
    sites_through,
    truth,
)
from test_spans_streams import spans_of

RUNTIMES = pytest.mark.parametrize("runtime", RUNTIME_MAJORS, indirect=True, ids=lambda major: "jdk%d" % major)
# JDK 11 differs in the structures of Parallel and G1.
CASES = pytest.mark.parametrize(
    "runtime, gc",
    [
        pytest.param(major, gc, id="jdk%d-%s" % (major, gc), marks=() if always else pytest.mark.slow)
        for major, gc, always in [
            (11, "Serial", False),
            (11, "Parallel", True),
            (11, "G1", True),
            (21, "Serial", True),
            (21, "Parallel", True),
            (21, "G1", True),
        ]
    ],
    indirect=["runtime"],
)


@pytest.mark.covers(runtime=RUNTIME_MAJORS)
@CASES
def test_share_of_each_site_is_its_share_of_cpu_time(workload, profile, runtime, gc):
    java = ["-Xmx384m", "-Xmn64m", *collector(gc, "16m")]
    run = profile(command(workload, runtime, "Accuracy", 2, 3, java=java), "--interval=4ms")
    assert not complaints(run.stderr), run.stderr
    test_accuracy.check_shares(run)


@pytest.mark.everywhere
@CASES
def test_no_interval_is_wrong_over_two_hundred_collections(workload, profile, runtime, gc):
    test_gc.audit(workload, profile, runtime, ["-Xmx96m", *collector(gc, "1m")])


@RUNTIMES
def test_allocations_are_counted_exactly(workload, profile, runtime):
    for options in ([], ["--min-size=0"]):
        run = profile(command(workload, runtime, "ThreadStorm", 200), *options)
        assert not complaints(run.stderr), run.stderr
        assert allocations(sites_through(report(run), "stormAllocate")) == truth(run)["allocations"]


@pytest.mark.parametrize("runtime", [21], indirect=True)
def test_tasks_are_counted_exactly(workload, profile, locus, runtime):
    spans = test_spans_tasks.record(profile, locus, workload, runtime, "fixedPool")
    for name, (kind, executions, folded, submitted) in test_spans_tasks.TRUTH["fixedPool"].items():
        got = test_spans_tasks.by_line(spans, kind, test_spans_tasks.marked(name))
        assert got == (executions, folded, submitted), name


@pytest.mark.parametrize("runtime", [11], indirect=True)
def test_streams_are_counted_where_tasks_cannot_be(workload, profile, locus, runtime):
    """Before JDK 15 the class of a lambda expression is not told from others."""
    run = profile(command(workload, runtime, "NarrowLoader", "wide", 100), "--spans=streams,tasks")
    assert len(complaints(run.stderr)) == 1 and "tasks are not recorded" in run.stderr
    spans = spans_of(locus, run)
    streams = [row for row in spans["locations"] if row["class"] == "NarrowLoader$Plugin"]
    assert sum(row["streams"] for row in streams) == 1, spans


@RUNTIMES
@pytest.mark.parametrize("mode, status", [("exit", 3), ("uncaught", 1), ("halt", 5)])
def test_program_ends_as_without_locus(workload, runtime, tmp_path, mode, status):
    line = command(workload, runtime, "Endings", mode, java=["-Xmx48m"])
    bare = execute(line)
    run = execute([BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", "--", *line])
    assert bare.returncode == status
    assert (run.returncode, run.stdout, run.stderr) == (status, bare.stdout, bare.stderr)
    sites = sites_through(report(Profile(run, tmp_path / "prof")), "allocate", "Endings")
    assert allocations(sites) == 2000


@pytest.mark.few(1)
@RUNTIMES
def test_checked_jni_finds_no_fault_with_locus(workload, runtime, tmp_path):
    line = command(workload, runtime, "ThreadStorm", 50, java=["-Xcheck:jni"])
    options = ["--min-size=0", "--audit", "--spans=streams"]
    run = execute([BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", *options, "--", *line])
    assert (run.returncode, run.stdout) == (0, execute(line).stdout), run.stdout.decode()


@RUNTIMES
def test_loader_with_a_list_of_names_runs_its_plugin(workload, runtime, tmp_path):
    line = command(workload, runtime, "NarrowLoader", "lists", 100)
    bare = execute(line)
    run = execute([BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", "--", *line])
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout)
    assert "class loader cannot see" in run.stderr.decode()
