# SPDX-License-Identifier: Apache-2.0
"""Executions of tasks against what can be counted by reading the program."""

import collections
import json
import os
import pathlib
import subprocess

import helpers
import pytest
from conftest import JDK_MAJORS
from test_spans_streams import spans_of

CLASS = "SpanTasks"
FIB = 12


def fib_tasks(n):
    return 1 if n < 2 else 1 + fib_tasks(n - 1) + fib_tasks(n - 2)


# Marker of the creating line: (kind, executions, folded into another task or their thread, submitted)
TRUTH = {
    "fixedPool": {
        "lambda": ("task", 570, 0, 570),
        "same": ("task", 40, 0, 40),
        "derived": ("task", 30, 0, 30),
        "both": ("task", 20, 0, 20),
        "fails": ("task", 10, 0, 10),
        "outer": ("task", 25, 0, 25),
        "inner": ("task", 0, 25, 0),
        "callable": ("task", 15, 0, 15),
        "anonymous": ("task", 12, 0, 12),
    },
    "callerRuns": {"caller": ("task", 50, 0, 50)},
    "scheduled": {"scheduled": ("task", 9, 0, 9)},
    "threads": {"worker": ("thread", 5, 0, 5), "target": ("task", 4, 0, 0)},
    "async": {"supply": ("task", 11, 0, 11), "runAsync": ("task", 13, 0, 13)},
}


def marked(name):
    return helpers.marked_lines(CLASS, "task")[name]


def by_line(spans, kind, line):
    """Executions, folded ones, and submissions of what was created there."""
    total = collections.Counter()
    for row in spans["tasks"]:
        at = row["creation"]
        if at and at["class"].split("$")[0] == CLASS and at["line"] == line and row["kind"] == kind:
            if kind == "thread" or row["type"] != "java.lang.Thread":
                total.update(executions=row["executions"], folded=row["folded"], submitted=row["submitted"])
    return total["executions"], total["folded"], total["submitted"]


def record(profile, locus, workload, jdk, *modes, java=()):
    run = profile(helpers.command(workload, jdk, CLASS, *modes, java=java), "--spans=tasks")
    assert not helpers.complaints(run.stderr), run.stderr
    return spans_of(locus, run)


def run_of(profile_once, workload, jdk, mode):
    """The run of a mode that several tests ask about."""
    run = profile_once(
        "tasks-%d-%s" % (jdk.major, mode), helpers.command(workload, jdk, CLASS, mode), "--spans=tasks"
    )
    assert not helpers.complaints(run.stderr), run.stderr
    return run


@pytest.mark.recording("tasks-{mode}")
@pytest.mark.parametrize("mode", TRUTH)
def test_each_execution_is_counted_once(profile_once, locus, workload, jdk, mode):
    spans = spans_of(locus, run_of(profile_once, workload, jdk, mode))
    found = {name: (row[0], *by_line(spans, row[0], marked(name))) for name, row in TRUTH[mode].items()}
    assert found == TRUTH[mode]


@pytest.mark.parametrize("tier", ("interpreted", "C1"))
def test_each_tier_counts_alike(profile, locus, workload, jdk17, tier):
    spans = record(profile, locus, workload, jdk17, "fixedPool", java=helpers.TIERS[tier])
    truth = TRUTH["fixedPool"]
    assert {name: (row[0], *by_line(spans, row[0], marked(name))) for name, row in truth.items()} == truth


@pytest.mark.recording("tasks-fixedPool")
def test_what_is_created_and_never_executed_is_told(profile_once, locus, workload, jdk):
    spans = spans_of(locus, run_of(profile_once, workload, jdk, "fixedPool"))
    (plain,) = [r for r in spans["types"] if r["type"] == CLASS + "$Plain"]
    assert (plain["created"], plain["dropped"], plain["folded"]) == (25 + 7, 7, 25), plain
    assert spans["totals"]["dropped"] == sum(r["dropped"] for r in spans["types"]), spans["totals"]


def test_tasks_that_a_joining_worker_helps_with_stay_apart(profile, locus, workload, jdk):
    """Forked ones are tasks, wherever they run; those that are invoked belong to who invokes them."""
    spans = record(profile, locus, workload, jdk, "forkJoin")
    executions, folded, submitted = by_line(spans, "task", marked("fib"))
    pairs = (fib_tasks(FIB) - 1) // 2
    assert (executions, folded, submitted) == (pairs, pairs, pairs)
    assert by_line(spans, "task", marked("root")) == (1, 0, 1)


@pytest.mark.recording("tasks-fixedPool")
def test_workers_are_threads(profile_once, locus, workload, jdk):
    spans = spans_of(locus, run_of(profile_once, workload, jdk, "fixedPool"))
    loops = [r for r in spans["tasks"] if r["type"] == "java.util.concurrent.ThreadPoolExecutor$Worker"]
    assert {r["kind"] for r in loops} == {"thread"} and sum(r["executions"] for r in loops) == 2, loops
    names = [w["thread"] for w in spans["workers"] if w["tasks"]["executions"]]
    assert len(names) == 2, spans["workers"]


def test_one_of_two_classes_of_a_name_is_a_task(profile, locus, workload, jdk, tmp_path):
    made = tmp_path / "more" / "homonym"
    made.mkdir(parents=True)
    for name, implements in (("task", " implements Runnable"), ("other", "")):
        (made / "Homonym.java").write_text("public class Homonym%s { public void run() { } }" % implements)
        subprocess.run([jdk.javac, "-d", made, made / "Homonym.java"], check=True, timeout=300)
        (made / "Homonym.class").rename(made / (name + ".class"))
    line = helpers.command(workload, jdk, CLASS, "homonyms")
    line[line.index("-cp") + 1] += os.pathsep + str(made.parent)
    run = profile(line, "--spans=tasks")
    assert not helpers.complaints(run.stderr), run.stderr
    rows = [r for r in spans_of(locus, run)["tasks"] if r["type"] == "Homonym"]
    # Each by the pool and by the main thread, which is no part of the other execution.
    assert sum(r["executions"] for r in rows) == 12, rows
    assert sum(r["submitted"] for r in rows) == 6, rows


def loaded(log):
    """Classes of a -Xlog:class+load, without generated ones and Locus's own."""
    names = {line.split()[0] for line in pathlib.Path(log).read_text().splitlines() if line.strip()}
    return {n for n in names if "$$" not in n and "/0x" not in n and "LambdaForm" not in n and "Locus" not in n}


def test_no_class_is_loaded_that_the_program_does_not_load(profile, workload, jdk, tmp_path):
    """Nor does the first run, which calibrates. The JVM itself loads more with an agent, and what it verifies a
    rewritten class with, java.lang.Thread above all, which --min-size=0 rewrites as well: compared with that."""
    def classes(name, *options):
        log = tmp_path / (name + ".log")
        java = ["-Xlog:class+load:file=%s:none" % log]
        command = helpers.command(workload, jdk, CLASS, "threads", java=java)
        if options:
            profile(command, *options, env={"XDG_CACHE_HOME": str(tmp_path)})
        else:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
        return loaded(log)

    expected = classes("plain") | classes("objects", "--sample-interval=0", "--min-size=0")
    assert classes("spans", "--sample-interval=0", "--spans=streams,tasks") - expected == set()
    assert classes("again", "--sample-interval=0", "--spans=streams,tasks") - expected == set()


@pytest.mark.parametrize("what", ("tasks", "streams,tasks"))
def test_tasks_of_streams_are_their_support_spans_or_tasks(profile, locus, workload, jdk, what):
    """Half of them are never executed, as the JDK means it: nothing of theirs was dropped."""
    java = ["-Djava.util.concurrent.ForkJoinPool.common.parallelism=1"]
    run = profile(helpers.command(workload, jdk, CLASS, "streams", java=java), "--spans=" + what, "--trace")
    spans = spans_of(locus, run)
    rows = [r for r in spans["types"] if r["type"].startswith("java.util.stream.")]
    assert sum(r["executions"] + r["folded"] for r in rows) == (0 if "streams" in what else 3 * 4 + 3 * 4), rows
    assert not [r for r in spans["types"] if r["type"].startswith("java.util.") and r["dropped"]], spans["types"]
    assert spans["totals"]["support"] == (3 * 4 + 3 * 4 if "streams" in what else 0), spans["totals"]
    (calls,) = [r for r in spans["types"] if (r["creation"] or {}).get("line") == marked("inStream")]
    assert (calls["created"], calls["dropped"]) == (3 * 1000, 0), calls
    assert calls["executions"] + calls["folded"] == 3 * 1000, calls
    assert spans["trace"]["folded"] == spans["trace"]["folded_counted"], spans["trace"]


@pytest.mark.recording("tasks-fixedPool")
def test_lambda_expressions_of_a_class_are_types_of_their_own(profile_once, locus, workload, jdk):
    """On JDK 25 their classes have one name: the place of creation tells them apart, in every table."""
    run = run_of(profile_once, workload, jdk, "fixedPool")
    spans = spans_of(locus, run)
    rows = [r for r in spans["types"] if r["type"].startswith(CLASS + "$$Lambda")]
    truth = {name: TRUTH["fixedPool"][name] for name in ("lambda", "same", "callable")}
    found = {r["creation"]["line"]: r for r in rows if r["creation"]}
    for name, (_, executions, _, submitted) in truth.items():
        row = found[marked(name)]
        assert (row["executions"], row["submitted"]) == (executions, submitted), row
        assert row["dropped"] == 0, row
        if jdk.major > 21:
            assert row["type"] == CLASS + "$$Lambda" and str(marked(name)) in row["label"], row
    assert len({r["label"] for r in rows}) == len(rows), rows
    for table in ("types", "cdf", "active"):
        text = locus("spans", run.directory, "--format=csv", "--table=" + table).stdout
        assert all(str(marked(name)) in text for name in truth) or jdk.major <= 21, text


def test_a_null_task_fails_as_without_spans(profile, workload, jdk):
    """The same exceptions from the same frames; only what was null is not said (docs/design/spans.md)."""
    command = helpers.command(workload, jdk, "NullTask")
    bare = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    assert ' because "' in bare
    run = profile(command, "--spans=streams,tasks")
    assert run.stdout.splitlines() == [line.split(' because "')[0] for line in bare.splitlines()]


@helpers.each_value(jdk=JDK_MAJORS, mode=["fixedPool", "async", "forkJoin", "streams"])
def test_nothing_of_the_agents_own_is_in_a_path(profile, locus, workload, jdk, mode):
    run = profile(helpers.command(workload, jdk, CLASS, mode), "--spans=streams,tasks", "--span-paths", "--min-size=0")
    assert "LocusSpan" not in json.dumps(spans_of(locus, run))
    assert "LocusSpan" not in json.dumps(run.report())


@helpers.each_value(jdk=JDK_MAJORS, collector=["Parallel", "G1", "Z", "Shenandoah", "Serial"])
def test_an_identity_hash_is_the_objects_for_good(workload, jdk, profile, locus, collector):
    """Locus gives tasks theirs, other ones than the JVM would: 600,000 random ones would have 84 pairs."""
    tasks = 600000
    options = ["-Xmx1g", *helpers.collector(collector)]
    if jdk.major >= 25 and collector == "Parallel":
        options.append("-XX:+UseCompactObjectHeaders")
    run = profile(helpers.command(workload, jdk, "SpanIdentity", tasks, java=options), "--spans=tasks")
    assert run.stdout.split() == ["0", "0", "0"]
    made = {t["type"]: t["created"] for t in spans_of(locus, run)["types"]}
    assert made["SpanIdentity$Task"] + made["SpanIdentity$Locked"] == tasks + 2


@helpers.each_value(jdk=JDK_MAJORS)
def test_classes_that_nobody_submits_are_recorded_in_part_and_submitted_ones_exactly(workload, jdk, profile, locus):
    run = profile(helpers.command(workload, jdk, "TaskQuiet", 100_000, 1000), "--spans=tasks")
    spans = spans_of(locus, run)
    types = [t for t in spans["types"] if "TaskQuiet" in t["type"] and t["created"]]
    assert len(types) == 3, types
    for t in types:
        assert t["created_in_part"] and t["dropped"] == 0 and 32_000 < t["created"] < 40_000, t
        # The first one that is submitted was made before that: its place is unknown.
        rows = [r for r in spans["tasks"] if r["type"] == t["type"]]
        wanted = 0 if t["type"].endswith("Never") else 1000
        assert (sum(r["submitted"] for r in rows), sum(r["executions"] for r in rows)) == (wanted, wanted), rows
    assert helpers.counters(run)["spans_rows_lost"] == 0


@helpers.each_value(jdk=JDK_MAJORS)
def test_places_in_recursion_are_recognised_however_it_is_inlined(workload, jdk, profile, locus):
    """Each stack is another one beyond the place: if frames there were compared, nearly every task would be walked to."""
    run = profile(helpers.command(workload, jdk, "TaskRecursion"), "--spans=tasks")
    made, = [t for t in spans_of(locus, run)["types"] if t["type"] == "TaskRecursion$Fib"]
    assert made["created"] == int(run.stdout) > 500_000
    counts = helpers.counters(run)
    assert counts["spans_task_walks"] < 5_000 and counts["spans_task_unwalked"] < 5_000, counts


CLOJURE = ["org.clojure:clojure:1.12.3", "org.clojure:spec.alpha:0.5.238", "org.clojure:core.specs.alpha:0.4.74"]
LAZY = "(println (reduce + (mapcat (fn [x] (map inc (list x x x))) (range 20000))))"


def test_walks_for_places_keep_the_budget(locus, profile, jdk17):
    """Each function of Clojure is a Runnable, and lazy sequences make them in stacks that hardly come again."""
    jars = ":".join(str(helpers.maven(j)) for j in CLOJURE)
    spans, counts = {}, {}
    for budget in ("0.1%", "none"):
        run = profile([jdk17.java, "-XX:TieredStopAtLevel=1", "-cp", jars, "clojure.main", "-e", LAZY], "--spans=tasks", "--budget=" + budget)
        assert run.stdout == "%d\n" % (3 * sum(range(20000)) + 60000)
        spans[budget], counts[budget] = spans_of(locus, run), helpers.counters(run)
    assert counts["none"]["spans_task_unwalked"] == 0 and counts["none"]["spans_task_walks"] > 5_000, counts
    assert counts["0.1%"]["spans_task_unwalked"] > counts["0.1%"]["spans_task_walks"], counts
    # Both runs count the same, and say of what they do not know the place. How many maps Clojure makes depends on identity
    # hashes, and these on whether Locus has calibrated on the thread before: 326,627 or 326,652.
    made = [sum(t["created"] for t in of["types"] if t["type"].startswith("clojure.")) for of in spans.values()]
    assert made[0] == pytest.approx(made[1], abs=200) and made[1] > 150_000, made
    note = "the place of %d creations and submissions is unknown" % counts["0.1%"]["spans_task_unwalked"]
    assert any(w.startswith(note) for w in spans["0.1%"]["warnings"]) and not any("creations and submissions is unknown" in w for w in spans["none"]["warnings"])


def test_the_stack_holds_most_tasks_in_each_other_that_it_holds_without_spans(workload, profile, jdk):
    """Inlined hooks make the program's frames larger: 0.75 fit, and 0.60 if it inlines the hash too."""
    java = ["-Xbatch", "-XX:-TieredCompilation", "-XX:+UseSerialGC"]
    line = helpers.command(workload, jdk, "DeepTasks", 20, java=java)
    bare = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    run = profile(line, "--spans=tasks")
    assert int(run.stdout) >= 0.7 * int(bare.stdout) > 10_000
