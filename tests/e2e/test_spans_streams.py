# SPDX-License-Identifier: Apache-2.0
"""Executions of streams against what can be counted by reading the program."""

import collections
import json

import helpers
from conftest import JDK_MAJORS

CLASS = "SpanStreams"
ROUNDS = 400  # the JIT compiles on the way
TIERS = {"interpreted": (["-Xint"], 1), "C1": (["-XX:TieredStopAtLevel=1"], ROUNDS), "tiered": ([], ROUNDS)}
LEVELS = 40
LEAVES = {1: 4, 2: 8, 7: 32, 17: 128}  # of a sized source with 1,000 elements or more, by parallelism


def spans_of(locus, run):
    done = locus("spans", run.directory, "--format=json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lines_of(name):
    """The markers of each name: SpanStreams has many lines that behave alike."""
    lines = collections.defaultdict(list)
    for number, text in enumerate((helpers.WORKLOADS / (CLASS + ".java")).read_text().splitlines(), 1):
        if "// span: " in text:
            lines[text.split("// span: ")[1].strip()].append(number)
    assert lines[name], name
    return lines[name]


def sequential_truth(major):
    """{line: {(kind, level): executions of one round}}"""
    pulled = ("anonymous" if major >= 24 else "pulled", 1)
    truth = {
        "one": {("anonymous", 0): 1},
        "pulled": {("pulled", 0): 1},
        "twoPulled": {("pulled", 0): 2},
        "flat": {("anonymous", 0): 1, ("anonymous", 1): 7},
        "seven": {("anonymous", 1): 7},
        "flatFlat": {("anonymous", 1): 3, ("anonymous", 2): 6},
        "short": {("anonymous", 0): 1, pulled: 3},
        "nest": {("anonymous", level): 1 for level in range(LEVELS)},
        "throwing": {("anonymous", 0): 1, ("anonymous", 1): 1},
        "foreign": {("foreign", 0): 1},
    }
    return {line: rows for name, rows in truth.items() for line in lines_of(name)}


def counted(spans, cls=CLASS):
    """The same of a report; a line may have several methods, its own and lambdas'."""
    found = collections.defaultdict(collections.Counter)
    for row in spans["streams"]:
        if row["class"].split("$")[0] == cls:
            found[row["line"]][row["kind"], row["level"]] += row["executions"]
    return {line: dict(rows) for line, rows in found.items()}


def check_account(spans):
    """Invariants of every report: shares sum, and self cycles of all rows are the whole."""
    rows = spans["streams"]
    assert all(row["executions"] > 0 for row in rows), rows
    assert all(row["cycles"] >= 0 for row in rows), rows
    assert all(row["cycles"] == 0 for row in rows if row["kind"] == "pulled"), rows


@helpers.each_value(jdk=JDK_MAJORS, tier=list(TIERS))
def test_every_terminal_operation_and_nesting(profile, locus, workload, jdk, tier):
    java, rounds = TIERS[tier]
    command = helpers.command(workload, jdk, CLASS, "sequential", rounds, java=java)
    run = profile(command, "--spans=streams")
    spans = spans_of(locus, run)
    truth = {
        line: {key: n * rounds for key, n in rows.items()} for line, rows in sequential_truth(jdk.major).items()
    }
    found = counted(spans)
    wrong = {n: (truth.get(n), found.get(n)) for n in {*truth, *found} if truth.get(n) != found.get(n)}
    assert not wrong, wrong
    check_account(spans)
    assert not helpers.complaints(run.stderr), run.stderr


def a(level, n):
    return {("anonymous", level): n}


# The executions of one round of SpanFlat, by its markers.
FLAT = {
    "expand": a(0, 4), "first": a(1, 5), "second": a(1, 5), "captures": a(1, 5), "named": a(1, 5),
    "ordinary": a(1, 5), "maker": a(0, 1),
    "nested": a(0, 1), "outer": a(1, 5), "inner": a(2, 25), "innermost": a(3, 50),
    "chained": a(0, 1), "one": a(1, 5), "two": a(2, 25),
    "busy": a(0, 1), "made": a(1, 5), "collected": a(1, 5), "deep": a(2, 25),
    **{name: a(0, 1) | a(1, 3) for name in ("ints", "longs", "doubles", "reference")},
    **{name: a(0, 1) | a(1, 5) for name in ("toInt", "toLong", "toDouble")},
    "grouped": a(0, 1), "collector": a(1, 5),
    "concatenated": a(0, 1), "concat": a(1, 5) | {("pulled", 1): 10},
    "iterated": a(0, 1), "iterate": a(1, 5),
    "mapMulti": a(0, 1), "multi": a(1, 5),
    "nullable": a(0, 1), "nulls": a(1, 4),
}
GATHERERS = {"integrator": a(1, 15), "gathered": a(0, 1), "before": a(1, 5), "collectGathered": a(0, 1)}


@helpers.each_value(jdk=JDK_MAJORS, tier=list(TIERS))
def test_what_a_function_makes_has_its_line(profile, locus, workload, jdk, tier):
    """Streams that the library executes inside another: the line of the function that made each."""
    java, rounds = TIERS[tier]
    run = profile(helpers.command(workload, jdk, "SpanFlat", rounds, java=java), "--spans=streams")
    marks = helpers.marked_lines("SpanFlat", "flat")
    truth = FLAT | (GATHERERS if jdk.major >= 22 else {})
    truth = {marks[name]: {key: n * rounds for key, n in rows.items()} for name, rows in truth.items()}
    found = counted(spans_of(locus, run), "SpanFlat")
    wrong = {n: (truth.get(n), found.get(n)) for n in {*truth, *found} if truth.get(n) != found.get(n)}
    assert not wrong, wrong
    assert not helpers.complaints(run.stderr), run.stderr


def test_a_function_s_line_has_the_callers_of_its_stream(profile, locus, workload, jdk):
    command = helpers.command(workload, jdk, "SpanFlat", 20)
    spans = spans_of(locus, profile(command, "--spans=streams", "--span-paths"))
    marks = helpers.marked_lines("SpanFlat", "flat")
    for name, callers in (("first", ["expand", "callers"]), ("inner", ["outer", "nested"])):
        (place,) = [p for p in spans["locations"] if p["line"] == marks[name]]
        (path,) = place["paths"]
        frames = path["path"]
        assert [f["line"] for f in frames[:2]] == [marks[name], marks[callers[0]]], frames
        assert frames[-1]["method"] == "main" and callers[1] in [f["method"] for f in frames]


@helpers.each_value(jdk=JDK_MAJORS, collector=helpers.COLLECTORS)
def test_collections_do_not_lose_a_span(profile, locus, workload, jdk, collector):
    java = [*helpers.collector(collector), "-Xmx24m", "-Xms24m"]
    run = profile(helpers.command(workload, jdk, CLASS, "sequential", ROUNDS, java=java), "--spans=streams")
    spans = spans_of(locus, run)
    total = sum(row["executions"] for row in spans["streams"] if row["class"].split("$")[0] == CLASS)
    assert total == ROUNDS * sum(sum(r.values()) for r in sequential_truth(jdk.major).values())


@helpers.each_value(jdk=JDK_MAJORS, parallelism=list(LEAVES))
def test_leaves_of_parallel_streams(profile, locus, workload, jdk, parallelism):
    rounds = 20
    java = ["-Djava.util.concurrent.ForkJoinPool.common.parallelism=%d" % parallelism]
    command = helpers.command(workload, jdk, CLASS, "parallel", rounds, 1024, java=java)
    spans = spans_of(locus, profile(command, "--spans=streams"))
    found, leaves = counted(spans), LEAVES[parallelism]
    for line in lines_of("leaves"):
        assert found[line] == {("primordial", 0): rounds, ("support", 0): rounds * leaves}, line
    # Collected into nodes, and then copied from them: as many tasks again.
    (line,) = lines_of("toArray")
    assert found[line] == {("primordial", 0): rounds, ("support", 0): rounds * leaves * 2}
    (line,) = lines_of("inner")
    assert found[line]["anonymous", 1] == rounds * 16
    assert found[line]["primordial", 0] == rounds
    assert found[line]["support", 0] == rounds * min(16, leaves)


def test_the_location_has_class_and_method(profile, locus, workload, jdk17):
    run = profile(helpers.command(workload, jdk17, CLASS, "sequential", 1), "--spans=streams")
    rows = [row for row in spans_of(locus, run)["streams"] if row["class"] == CLASS]
    methods = {(row["line"], row["level"]): row["method"] for row in rows}
    (nest,) = lines_of("nest")
    (flat, *_) = lines_of("flat")
    assert (methods[nest, 0], methods[flat, 0]) == ("nest", "flat")
    assert methods[flat, 1].startswith("lambda$flat$")


def test_without_the_option_nothing_is_recorded(profile, locus, workload, jdk17):
    run = profile(helpers.command(workload, jdk17, CLASS, "sequential", 1))
    done = locus("spans", run.directory)
    assert done.returncode != 0 and "--spans" in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_work_of_the_profiler_is_in_no_span(profile, locus, workload, jdk):
    """With --audit the JVM walks the stack for every 85th object: most of this program's CPU time is Locus's own."""
    shares = {}
    for interval in ("0", "2k"):
        command = helpers.command(workload, jdk, "SpanAllocations", 2000)
        run = profile(command, "--spans=streams", "--audit", "--sample-interval", interval)
        spans = spans_of(locus, run)
        cpu_ns = float(run.stdout.split()[1])
        rows = [row for row in spans["streams"] if row["class"] == "SpanAllocations"]
        shares[interval] = sum(r["compensated_cycles"] for r in rows) / spans["clock"]["hz"] * 1e9 / cpu_ns
    assert shares["0"] > 0.7, shares
    assert shares["2k"] < 0.5, shares
