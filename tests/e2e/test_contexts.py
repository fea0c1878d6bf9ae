# SPDX-License-Identifier: Apache-2.0
"""Request contexts: counts by context are those that the program makes, on threads of each kind."""

import collections
import csv
import sqlite3

import pytest
from conftest import BUILD, run_command
from helpers import COLLECTORS, collector, command, counters, each_value, report

JAR = BUILD / "locus-api.jar"
NAMES = ("GET /cart", "POST /order", "GET /item;\u00e4")


def expected(requests):
    """How many times Contexts.allocate() makes its two objects."""
    counts = {name: 2 * (kind + 1) * requests for kind, name in enumerate(NAMES)}
    return counts | {"db": requests, "(none)": 6 * requests}


def context_of(path):
    outermost = path[-1]["class"]
    return outermost.removeprefix("context=") if outermost.startswith("context=") else "(none)"


def counted(r, cls):
    found = collections.Counter()
    for site in r["sites"]:
        path = site["allocation_path"]
        if site["class"] == cls and (path[0]["class"], path[0]["method"]) == ("Contexts", "allocate"):
            found[context_of(path)] += site["allocations"]
    return dict(found)


def check_exact(run, requests, small=True):
    r = report(run, "--top=100000")
    for cls in ("byte[]", "Contexts$Item")[: 1 + small]:
        assert counted(r, cls) == expected(requests), cls
    return r


def locus(*arguments):
    done = run_command([BUILD / "locus", *map(str, arguments)])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_format_has_each_context(profile, workload, jdk17, tmp_path):
    """All sums are equal, in each format, and are the profile's."""
    requests = 500
    run = profile(command(workload, jdk17, "Contexts", "executor", requests, jars=[JAR]), "--min-size=0", "--interval=1ms")
    r = check_exact(run, requests)
    by = run.report("--group=context", "--top=100000")["ranking"]
    rows = {row["context"]: row for row in by["rows"]}
    assert set(rows) >= set(expected(requests)) and by["group"] == "context"
    assert sum(row["samples"] for row in rows.values()) == by["samples"] == r["samples"]["total"]
    for column in ("allocations", "bytes"):
        assert sum(row[column] for row in rows.values()) == sum(site[column] for site in r["sites"])
    text = locus("report", "--group=context", "--format=csv", "--top=100000", run.directory)
    for row in csv.DictReader(text.splitlines()):
        assert [int(row[column]) for column in ("samples", "allocations", "bytes")] == [
            rows[row["class"]][column] for column in ("samples", "allocations", "bytes")
        ]
    locus("report", "-f", tmp_path / "r.sqlite", run.directory)
    with sqlite3.connect(tmp_path / "r.sqlite") as db:
        query = "SELECT value, sum(%s) FROM %s JOIN path_groups USING (path) WHERE key = 'context' GROUP BY 1"
        for column, table in (("samples", "accesses"), ("bytes", "sites"), ("allocations", "sites")):
            assert dict(db.execute(query % (column, table))).items() <= {n: rows[n][column] for n in rows}.items()
    alone = run.report("--include=context=POST /order", "--top=100000")
    assert counted(alone, "byte[]") == {"POST /order": expected(requests)["POST /order"]}
    assert alone["samples"]["total"] == rows["POST /order"]["samples"]
    pruned = tmp_path / "merged"
    locus("merge", "-o", pruned, "--by=pid", "--prune=50%", run.directory)
    merged = csv.DictReader(locus("report", "--group=context", "--format=csv", "--top=100000", pruned).splitlines())
    assert {row["class"]: int(row["bytes"]) for row in merged} == {n: row["bytes"] for n, row in rows.items()}


def test_contexts_follow_virtual_threads(profile, workload, jdk25):
    requests = 500
    run = profile(command(workload, jdk25, "Contexts", "virtual", requests, jars=[JAR]), "--spans=tasks")
    check_exact(run, requests, small=False)
    assert counters(run)["contexts"] == 4 and counters(run)["spans_virtual_moved"] > 0


@pytest.mark.parametrize("threads", ("executor", "virtual"))
def test_a_wrapped_task_is_in_the_context_of_who_wraps_it(profile, workload, request, threads):
    """Tasks of both kinds, those of an executor, and started threads; a task that is not wrapped is in none."""
    jdk = request.getfixturevalue("jdk25" if threads == "virtual" else "jdk17")
    run = profile(command(workload, jdk, "Contexts", threads, 500, "handed", jars=[JAR]), "--min-size=0")
    counts = {name: 3 * 500 + 10 for name in NAMES} | {"(none)": 3 * 500}
    r = report(run, "--top=100000")
    for cls in ("byte[]", "Contexts$Item"):
        assert counted(r, cls) == counts, cls


@pytest.mark.slow
@each_value(threads=("platform", "executor", "virtual"), gc=COLLECTORS, size=("0", "1k"))
def test_counts_are_exact_on_all_threads(profile, workload, jdk, threads, gc, size):
    if threads == "virtual" and jdk.major < 21:
        pytest.skip("JDK %d has no virtual threads" % jdk.major)
    run = profile(command(workload, jdk, "Contexts", threads, 5000, java=collector(gc), jars=[JAR]), "--min-size=" + size)
    check_exact(run, 5000, small=size == "0")


@pytest.mark.slow
@pytest.mark.parametrize("runtime", [21], indirect=True)
def test_counts_are_exact_on_virtual_threads_of_jdk_21(profile, workload, jdk17, runtime):
    line = command(workload, jdk17, "Contexts", "virtual", 5000, jars=[JAR])
    check_exact(profile([runtime.java, *line[1:]], "--min-size=0"), 5000)


@pytest.mark.slow
def test_misuse_is_harmless(profile, workload, jdk):
    """Contexts that are closed in another order, twice, on another thread or never."""
    run = profile(command(workload, jdk, "Contexts", "misuse", 1, jars=[JAR]))
    assert counted(report(run), "byte[]") == {"(none)": 101, "inner": 10}


def test_names_beyond_the_limit_are_one(profile, workload, jdk):
    run = profile(command(workload, jdk, "Contexts", "names", 1500, jars=[JAR]))
    counts = counted(report(run, "--top=100000"), "byte[]")
    assert len(counts) == 1001 and counts["(other)"] == 500 and sum(counts.values()) == 1500
    assert "more than 1000 contexts" in run.stderr and "more than 1000 contexts" in locus("report", run.directory)


def test_without_a_recording_contexts_do_nothing(workload, jdk17):
    for how in ([], ["handed"]):
        done = run_command(command(workload, jdk17, "Contexts", "executor", 10, *how, jars=[JAR]))
        assert (done.returncode, done.stderr) == (0, "")
