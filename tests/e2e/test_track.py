# SPDX-License-Identifier: Apache-2.0
"""With --track, each object of the classes is counted and followed, however small, and others as without it."""

import json
import pathlib
import re
import subprocess

import pytest
from conftest import JDK_MAJORS, run_command
from helpers import (
    COLLECTORS,
    TIERS,
    allocations,
    collector,
    command,
    counters,
    each_value,
    report,
    sites_through,
    table,
    truth,
)
from test_small_objects import check_counts, sites_of

EVERYTHING = ["--track=*", "--track=*[]", "--track=*[][]", "--track=*[][][]"]
NODE = "TrackedTruth$Node"
OFTEN = ["--interval=1ms", "--budget=none"]
POINTS = 0.025
# Counters of objects that are followed no more, though they may live.
LOST = ["map_dropped", "small_forgotten", "small_forgotten_new", "small_unheld", "small_passes_limited"]


def java_of(gc):
    return ["-Xmx64m", *collector(gc)]


def everything(workload, profile, jdk, each, java):
    """The program knows how many objects of each class each of its methods makes, by each means that Java has."""
    run = profile(command(workload, jdk, "SmallObjects", each, java=java), *EVERYTHING)
    check_counts(truth(run), report(run), True)
    assert counters(run)["alloc_unproved"] <= 3


@each_value(jdk=JDK_MAJORS, tier=list(TIERS))
def test_if_all_classes_are_tracked_each_object_is_counted(workload, profile, jdk, tier):
    everything(workload, profile, jdk, 2000 if tier == "interpreted" else 20000, ["-Xmx256m", *TIERS[tier]])


@each_value(jdk=JDK_MAJORS, gc=["Serial", "Parallel", "Z", "Shenandoah"])
def test_if_all_classes_are_tracked_the_collector_changes_no_count(workload, profile, jdk, gc):
    everything(workload, profile, jdk, 5000, [*collector(gc), "-Xmx256m"])


@each_value(jdk=JDK_MAJORS, tier=["C1", "C2"])
def test_beyond_the_budget_lines_are_exact_and_callers_that_are_not_are_marked(workload, profile, jdk, tier):
    """Compiled code then counts most objects itself, arrays too."""
    line = command(workload, jdk, "SmallObjects", 20000, java=["-Xmx256m", *TIERS[tier]])
    run = profile(line, *EVERYTHING, "--budget=0.1%")
    told, r = truth(run), report(run)
    check_counts(told, r, False)
    assert counters(run)["alloc_unproved"] <= 3
    assert "callers_estimated" in [limit["kind"] for limit in r["processes"][0]["limits"]]
    estimated = sum(s.get("estimated", 0) for s in r["sites"])
    assert 0 < estimated < sum(s["allocations"] for s in r["sites"])
    for case in told["exact"]:
        sites = sites_of(r, case, True)
        if sites and not any("estimated" in s for s in sites):
            assert allocations(sites) == case["allocations"], case


def of_nodes(r, made):
    """Objects of Node, by the method that made them."""
    return {m: allocations([s for s in sites_through(r, m, "TrackedTruth") if s["class"] == NODE]) for m in made}


def check_walks(told, r):
    """Each line's part of the samples in nodes is its part of the time that the program walks them."""
    known = sum(c["samples"] for c in r["classes"] if c["class"] == NODE)
    total = known + sum(s["samples"] for s in r["sites"] if s["class"] == NODE)
    # On a busy machine a sample stands for several, so that fewer are independent.
    observed = sum(row["effective"] for row in r["ranking"]["rows"] if row["class"] == NODE)
    rows, wrong = [], []
    for method, ns in told["walks_ns"].items():
        true = ns / sum(told["walks_ns"].values())
        allowed = max(POINTS, 3 * (true * (1 - true) / observed) ** 0.5)
        sampled = sum(s["samples"] for s in sites_through(r, method, "TrackedTruth") if s["class"] == NODE) / total
        rows.append((method, "%.1f%%" % (100 * true), "%.1f%%" % (100 * sampled)))
        wrong += [method] if abs(true - sampled) > allowed else []
    lost = [c["accesses"] for c in r["classes"] if c["class"] == NODE]
    text = table(("method", "true", "sampled"), rows)
    assert not wrong, "%s\n%d samples, as good as %.0f, %d by class: %s" % (text, total, observed, known, lost)
    assert total >= 2000, total


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_each_line_of_a_tracked_class_has_its_counts_and_its_samples(workload, profile, jdk, gc):
    run = profile(command(workload, jdk, "TrackedTruth", 5, java=java_of(gc)), "--track", NODE, *OFTEN)
    told, r = truth(run), report(run)
    assert of_nodes(r, told["made"]) == told["made"]
    check_walks(told, r)
    # Others are as they are without --track: counted if they are large, or estimated.
    assert not any(s["class"] == "byte[]" and s["bytes"] < 1024 * s["allocations"] for s in r["sites"])


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_objects_keep_their_samples_through_full_collections(workload, profile, jdk, gc):
    """The first full collection may slide none of the nodes, and larger objects only."""
    run = profile(command(workload, jdk, "TrackedTruth", 5, "collect", java=java_of(gc)), "--track", NODE, *OFTEN)
    c = counters(run)
    assert {k: c[k] for k in LOST} == dict.fromkeys(LOST, 0)
    check_walks(truth(run), report(run))


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_full_collections_forget_no_live_object(workload, profile, jdk, gc):
    """The audit's weak references tell which objects live, and where. Dead ones, over which others slide, do no harm."""
    line = command(workload, jdk, "TrackedTruth", 2, "collect", java=java_of(gc))
    c = counters(profile(line, "--min-size=0", "--audit"))
    assert c["audit_checks"] >= 100_000
    # Parallel's full collection copies objects of up to 128 bytes in pieces that are not seen: docs/engines/allocations.md.
    unseen = c["map_dropped"] + c["small_forgotten"] if gc != "Serial" else 0
    assert c["audit_forgotten"] <= unseen * c["audit_gcs"]
    assert [c[k] for k in ("audit_wrong_missing", "audit_wrong_moved", "audit_wrong_overlap")] == [0, 0, 0]


@each_value(jdk=JDK_MAJORS, gc=["Z", "Shenandoah"])
def test_counts_are_exact_if_the_collector_hides_small_objects(workload, profile, jdk, gc):
    run = profile(command(workload, jdk, "TrackedTruth", 1, java=java_of(gc)), "--track", NODE)
    told = truth(run)
    assert of_nodes(report(run), told["made"]) == told["made"]
    assert "objects of --track are counted by line" in run.stderr


def attached(workload, locus, tmp_path, jdk, java, *options, begin="wait"):
    """The program's own figures, and the report of a recording that begins before the first node is made, or later."""
    line = command(workload, jdk, "TrackedTruth", 5, begin, java=java)
    program = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert program.stdout.readline() == "ready\n"
        assert locus("attach", program.pid, "-o", tmp_path / "p", *options).returncode == 0
        told = json.loads(program.communicate("\n", timeout=300)[0])
    finally:
        program.kill()
    return told, json.loads(locus("report", "--format=json", "--top=100000", tmp_path / "p").stdout)


@each_value(jdk=JDK_MAJORS, gc=["G1"])
def test_an_attach_tracks_what_is_made_after_it(workload, locus, tmp_path, jdk, gc):
    told, r = attached(workload, locus, tmp_path, jdk, java_of(gc), "--track", NODE, *OFTEN)
    assert of_nodes(r, told["made"]) == told["made"]
    check_walks(told, r)


LONG = ["--track=com.acme.%s%02d" % ("x" * 100, i) for i in range(63)]


@each_value(jdk=JDK_MAJORS)
def test_64_long_names_reach_the_agent(workload, profile, jdk):
    run = profile(command(workload, jdk, "TrackedTruth", 0.1, java=java_of("G1")), *LONG, "--track", NODE)
    told = truth(run)
    assert of_nodes(report(run), told["made"]) == told["made"]
    assert run.stderr.count("no class named 'com.acme.x") == 63


@pytest.mark.slow
@each_value(jdk=JDK_MAJORS)
def test_64_long_names_reach_a_running_jvm(workload, locus, tmp_path, jdk):
    told, r = attached(workload, locus, tmp_path, jdk, java_of("G1"), *LONG, "--track", NODE)
    assert of_nodes(r, told["made"]) == told["made"]


def rows_of_nodes(r):
    return [row for row in r["ranking"]["rows"] if row["class"] == NODE and row["samples"]]


@each_value(jdk=JDK_MAJORS, gc=["G1", "Serial", "Parallel"])
def test_rows_of_older_objects_say_so(workload, locus, tmp_path, jdk, gc):
    """Whether they have moved, or are known by class only. newYoung makes some of its nodes before, some after."""
    told, r = attached(workload, locus, tmp_path, jdk, java_of(gc), "--track", NODE, *OFTEN, begin="later")
    rows = rows_of_nodes(r)
    total = sum(row["samples"] for row in rows)
    before = sum(row["samples"] for row in rows if row.get("no_line") == "before")
    walks = {walk: ns / sum(told["walks_ns"].values()) for walk, ns in told["walks_ns"].items()}
    assert {row.get("no_line") for row in rows} <= {None, "before"}, rows
    assert {row["allocated_at"]["method"] for row in rows if not row.get("no_line")} <= {"newYoung"}, rows
    assert walks["newFirst"] + walks["newKept"] - POINTS < before / total < 1, rows
    assert r["processes"][0]["attached"]
    text = locus("report", tmp_path / "p").stdout
    for row in rows:
        if not row["allocated_at"] and not row["rest"]:
            assert NODE + ", made before tracking" in text, text


@each_value(jdk=JDK_MAJORS, gc=["Z", "Shenandoah"])
def test_rows_say_that_the_collector_hides_the_line(workload, profile, locus, jdk, gc):
    run = profile(command(workload, jdk, "TrackedTruth", 2, java=java_of(gc)), "--track", NODE)
    r = report(run)
    assert {row["no_line"] for row in rows_of_nodes(r)} == {"collector"} and "attached" not in r["processes"][0]
    assert NODE + ", line not known: collector" in locus("report", run.directory).stdout
    assert "| line not known: collector |" in locus("report", "--format=markdown", run.directory).stdout


@pytest.fixture
def unchanged(workload, shared):
    """A jar with the program as a Java agent."""

    def build(jdk):
        def make(directory):
            (directory / "manifest").write_text("Premain-Class: Unchanged\nCan-Retransform-Classes: true\n")
            classes = pathlib.Path(workload(jdk, "Unchanged"))
            own = [word for file in classes.glob("Unchanged*.class") for word in ("-C", classes, file.name)]
            jar = [jdk.home / "bin" / "jar", "cfm", directory / "agent.jar", directory / "manifest", *own]
            assert run_command(jar).returncode == 0

        return shared("unchanged-%d" % jdk.major, make) / "agent.jar"

    return build


@each_value(jdk=JDK_MAJORS, tracked=[True, False])
def test_classes_that_cannot_be_changed_are_named(workload, unchanged, locus, tmp_path, jdk, tracked):
    line = command(workload, jdk, "Unchanged", 1000, java=["-javaagent:%s" % unchanged(jdk)])
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as program:
        try:
            assert program.stdout.readline() == "ready\n"
            done = locus("attach", program.pid, "-o", tmp_path / "p", *(["--track=Unchanged$Node"] if tracked else []))
            program.communicate("\n", timeout=300)
        finally:
            program.kill()
    assert done.returncode == 0, done.stderr
    said = [row for row in done.stdout.splitlines() if row.startswith("--track")]
    if not tracked:
        assert not said
        return
    start = "--track: the JVM does not let the code of 2 classes change, so tracked objects that are made there have no line: "
    (row,) = said
    names = {re.sub(r"\.0x.*", "", name) for name in row.removeprefix(start).split(", ")}
    assert row.startswith(start) and names == {"Unchanged$Stubborn", "Unchanged$Hidden"}
    r = json.loads(locus("report", "--format=json", "--top=100000", tmp_path / "p").stdout)
    assert [limit["text"] for limit in r["processes"][0]["limits"] if limit["kind"] == "unchanged"] == said
    made = {m: allocations(sites_through(r, "make", "Unchanged$" + m)) for m in ("Plain", "Stubborn", "Hidden")}
    assert made == {"Plain": 1000, "Stubborn": 0, "Hidden": 0}


def test_patterns_that_match_no_class_are_named_at_the_end(workload, profile, jdk17):
    java = ["-Xmx64m", *collector("G1")]
    options = ["--track=Node", "--track=java.lang.Sting", "--track=xyz.Nothing[]", "--track", NODE]
    run = profile(command(workload, jdk17, "TrackedTruth", 0.1, java=java), *options)
    told = [line.split("--track: ")[1] for line in run.stderr.splitlines() if "--track: " in line]
    assert told == [
        "no class named 'Node' was loaded; did you mean %s?" % NODE,
        "no class named 'java.lang.Sting' was loaded; did you mean java.lang.String?",
        "no class named 'xyz.Nothing[]' was loaded",
    ]


def test_too_many_patterns_are_told_and_the_first_are_used(workload, profile, jdk17):
    java = ["-Xmx64m", *collector("G1")]
    run = profile(command(workload, jdk17, "TrackedTruth", 0.1, java=java), "--track", NODE, *["--track=java.*"] * 66)
    assert of_nodes(report(run), ["newFirst"]) == {"newFirst": truth(run)["made"]["newFirst"]}
    assert "--track: only the first 64 patterns are used; 3 are left out" in run.stderr
