# SPDX-License-Identifier: Apache-2.0
"""--track hot chooses classes while the program runs: their objects have lines and exact counts from the line on stderr on."""

import json
import re
import subprocess

import pytest
from conftest import BUILD, JDK_MAJORS
from helpers import allocations, collector, command, each_value, has_frame, report, sites_through

LONG, LONGS = "java.lang.Long", "long[]"
BOXES = 300_000  # all of them are followed within the memory limit
OPTIONS = ["--track=hot", "--sample-interval=0", "--interval=1ms", "--budget=none"]
POINTS = 0.05
KINDS = {"early": 0.30, "one": 0.45, "two": 0.25}


class Hot:
    """The program after it was told to go on: what it said, the lines of stderr before that, and the report."""

    def __init__(self, told, lines, directory, boxes, locus):
        self.told, self.lines, self.directory, self.boxes = told, lines, directory, boxes
        self.report = json.loads(locus("report", "--format=json", "--top=100000", directory).stdout)
        self.counters = self.report["processes"][0]["counters"]

    def sites(self, kind):
        return [s for s in sites_through(self.report, kind) if s["class"] == self.boxes]

    def rows(self):
        return [row for row in self.report["ranking"]["rows"] if row["class"] == self.boxes and row["samples"]]


def run_hot(workload, locus, tmp_path, jdk, gc, *options, attach=False, boxes=LONG):
    """Run the program; it makes the later numbers when its standard error has said that their class is tracked."""
    directory = tmp_path / "p"
    java = ["-Xmx256m", *collector(gc), "-Dhot.arrays=%s" % ("true" if boxes == LONGS else "false")]
    line = command(workload, jdk, "HotTracked", BOXES, 2, java=java)
    if not attach:
        line = [BUILD / "locus", "run", "-q", "-o", directory, *options, "--", *line]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, text=True, cwd=tmp_path, **pipes) as program:
        try:
            assert program.stdout.readline() == "ready\n"
            if attach:
                done = locus("attach", program.pid, "-o", directory, *options)
                assert done.returncode == 0, done.stderr
            lines = []
            while not lines or "--track hot: tracks" not in lines[-1]:
                lines.append(program.stderr.readline())
                assert lines[-1], lines
            out, err = program.communicate("\n", timeout=300)
        finally:
            program.terminate()  # `locus run` passes it on
    assert program.returncode == 0, err
    return Hot(json.loads(out), lines, directory, boxes, locus)


def check_counts(hot):
    """Exactly the numbers that were made behind the line are counted, at their lines."""
    assert {kind: allocations(hot.sites(kind)) for kind in KINDS} == {
        kind: 0 if kind == "early" else hot.told[kind]["made"] for kind in KINDS
    }


def check_lines(hot):
    """Samples of later numbers have their lines; those of the first ones say when they were made."""
    later = {kind: sum(s["samples"] for s in hot.sites(kind)) for kind in ("one", "two")}
    ns = {kind: hot.told[kind]["ns"] for kind in later}
    assert sum(later.values()) > 300, later
    # On a busy machine a sample stands for several, so that fewer are independent.
    observed = sum(row["effective"] for row in hot.rows() if row["allocated_at"])
    for kind in later:
        true = ns[kind] / sum(ns.values())
        allowed = max(POINTS, 3 * (true * (1 - true) / observed) ** 0.5)
        assert abs(later[kind] / sum(later.values()) - true) < allowed, (later, ns, observed)
    assert {row.get("no_line") for row in hot.rows() if not row["allocated_at"]} == {"before"}, hot.rows()


@each_value(jdk=JDK_MAJORS, gc=["G1", "Serial", "Parallel"])
def test_later_objects_have_lines_and_exact_counts(workload, locus, tmp_path, jdk, gc):
    hot = run_hot(workload, locus, tmp_path, jdk, gc, *OPTIONS)
    check_counts(hot)
    check_lines(hot)
    said = re.fullmatch(r"locus: --track hot: tracks ([^:]+): (\d+)% of the samples were in (?:its|their) objects, .*\n", hot.lines[-1])
    assert LONG in said[1].split(", ") and 50 < int(said[2]) <= 100, hot.lines
    assert "Long, made before tracking" in locus("report", hot.directory).stdout
    chosen = hot.report["processes"][0]["tracked_hot"]
    assert [row["name"] for row in chosen] == said[1].split(", ")
    assert hot.counters["track_hot_classes"] == len(chosen)
    begin, end = (hot.report["processes"][0][k] for k in ("start_monotonic_ns", "end_monotonic_ns"))
    assert all(begin < row["time_ns"] < end for row in chosen)
    # Long.valueOf(), and a few that may make an object of any class.
    assert 0 < hot.counters["track_hot_transformed"] < 100 and not hot.counters["classes_running"]


@each_value(jdk=JDK_MAJORS)
def test_short_arrays_get_their_first_hook_at_the_choice(workload, locus, tmp_path, jdk):
    """An array of one long has no hook before: its length is a constant."""
    hot = run_hot(workload, locus, tmp_path, jdk, "G1", *OPTIONS, boxes=LONGS)
    check_counts(hot)
    check_lines(hot)


@each_value(jdk=JDK_MAJORS)
def test_an_attach_chooses_classes_too(workload, locus, tmp_path, jdk):
    hot = run_hot(workload, locus, tmp_path, jdk, "G1", *OPTIONS, attach=True)
    check_counts(hot)
    check_lines(hot)


@each_value(jdk=JDK_MAJORS, gc=["Z", "Shenandoah"])
def test_a_collector_that_hides_small_objects_leaves_the_counts(workload, locus, tmp_path, jdk, gc):
    hot = run_hot(workload, locus, tmp_path, jdk, gc, *OPTIONS)
    check_counts(hot)
    assert {row.get("no_line") for row in hot.rows()} == {"collector"}
    assert "objects of --track are counted by line" in "".join(hot.lines)


def test_patterns_and_a_threshold_beside_it(workload, locus, tmp_path, jdk17):
    """The class of a pattern is tracked from the start, so it is not chosen; arrays above the threshold are counted."""
    options = [*OPTIONS, "--track=java.lang.Object[]", "--min-size=64"]
    hot = run_hot(workload, locus, tmp_path, jdk17, "G1", *options)
    check_counts(hot)
    assert "java.lang.Object[]" not in [row["name"] for row in hot.report["processes"][0]["tracked_hot"]]
    arrays = [s for s in sites_through(hot.report, "boxes", "HotTracked") if s["class"] == "java.lang.Object[]"]
    assert allocations(arrays) == 3


def test_estimates_end_where_counts_begin(workload, locus, tmp_path, jdk17):
    """Sampled allocations of the class stand for the first numbers only."""
    hot = run_hot(workload, locus, tmp_path, jdk17, "G1", "--track=hot", "--interval=1ms", "--budget=none")
    exact = {kind: sum(s["allocations"] for s in hot.sites(kind)) for kind in KINDS}
    assert (exact["one"], exact["two"]) == (hot.told["one"]["made"], hot.told["two"]["made"])
    sampled = [e for e in hot.report["estimates"] if e["class"] == LONG]
    through = {kind: sum(e["sampled"] for e in sampled if has_frame(e["allocation_path"], kind)) for kind in KINDS}
    assert through["early"] and not through["one"] and not through["two"], through


@each_value(jdk=JDK_MAJORS)
def test_a_detach_removes_all_hooks(workload, locus, tmp_path, jdk):
    """Methods of the changed classes have their first length again, as a second recording's hooks count."""
    line = command(workload, jdk, "HotTracked", BOXES, 1, java=["-Xmx256m", *collector("G1")])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, text=True, cwd=tmp_path, **pipes) as program:
        try:
            assert program.stdout.readline() == "ready\n"
            assert locus("attach", program.pid, "-o", tmp_path / "first", *OPTIONS).returncode == 0
            while "--track hot: tracks" not in program.stderr.readline():
                assert program.poll() is None
            done = locus("detach", program.pid)
            assert done.returncode == 0 and "keep their hooks" not in done.stdout + done.stderr
            assert locus("attach", program.pid, "-o", tmp_path / "second", "--sample-interval=0").returncode == 0
            program.communicate("\n", timeout=300)
        finally:
            program.terminate()  # `locus run` passes it on
    assert program.returncode == 0
    r = json.loads(locus("report", "--format=json", "--top=100000", tmp_path / "second").stdout)
    assert not [s for s in r["sites"] if s["class"] == LONG and s["allocations"]]
    assert "tracked_hot" not in r["processes"][0] and "track_hot_classes" not in r["processes"][0]["counters"]


@pytest.mark.parametrize("mode", ["idle", "short"])
def test_a_program_of_few_samples_tracks_nothing(workload, profile, jdk17, mode):
    line = command(workload, jdk17, "HotTracked", 1000, 0.05, mode, java=["-Xmx256m", *collector("G1")])
    run = profile(line, "--track=hot")
    assert "tracks" not in run.stderr, run.stderr
    r = report(run)
    assert r["processes"][0]["counters"]["track_hot_classes"] == 0
    assert "tracked_hot" not in r["processes"][0]


def test_what_it_needs(locus):
    for options, said in ((["--no-hooks"], "track needs hooks in classes; omit no-hooks"),
                          (["-e", "alloc"], "'hot' chooses classes by samples; omit event=alloc")):
        done = locus("run", *options, "--track=hot", "--", "true")
        assert done.returncode == 2 and said in done.stderr, done.stderr
