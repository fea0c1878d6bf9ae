# SPDX-License-Identifier: Apache-2.0
"""make evaluate: its statistics, by values worked out by hand, and the quick form of the whole.

The file is longer than 600 lines: the tests share the modules of the evaluation, which are loaded once.
"""

import importlib
import json
import math
import random
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree

import oracles
import pytest
from conftest import BUILD, ROOT, run_command

COST_BEGIN, COST_END = "<!-- cost: make evaluate writes these lines -->\n", "<!-- end of cost -->\n"  # in README
QUICK_SECONDS = 600  # a minute alone; other tests run beside it
OWN = ("stats", "programs", "costs", "figures", "others", "results", "agreement", "known", "archive", "targets", "status", "plots")


def load():
    """Modules of the evaluation. No test after these finds them by their short names, which other scripts have too."""
    before, path = dict(sys.modules), list(sys.path)
    sys.path[:0] = [str(ROOT / "scripts/evaluate.d"), str(ROOT / "scripts")]
    try:
        return [importlib.import_module(name) for name in (*OWN, "jdks")]
    finally:
        sys.path[:] = path  # without what the modules put there themselves
        for name in (*OWN, "jdks", "benchd", "tables"):
            if name not in before:
                sys.modules.pop(name, None)


stats, programs, costs, figures, others, results, agreement, known, archive, targets, status, plots, jdks = load()


@pytest.mark.parametrize("freedom, t", ((1, 12.706), (2, 4.303), (4, 2.776), (6, 2.447), (9, 2.262), (13, 2.160), (18, 2.101), (30, 2.042)))
def test_students_t_is_that_of_the_tables(freedom, t):
    assert stats.student(freedom) == pytest.approx(t, abs=0.0005)


def test_medians_and_their_intervals_by_hand():
    """Six values are all needed; the third of each end of twelve is enough; five have no interval."""
    assert stats.median([3, 1, 5, 2, 4]) == (3, 3, 3)
    assert stats.median([6, 3, 1, 5, 2, 4]) == (3.5, 1, 6)
    assert stats.median(list(range(12, 0, -1))) == (6.5, 3, 10)
    assert stats.coverage(7, 1) == pytest.approx(1 - 2 / 2 ** 7) and stats.coverage(12, 3) == pytest.approx(1 - 2 * (1 + 12 + 66) / 2 ** 12)
    assert stats.of_programs([2, 8, 4, 4]) == pytest.approx((4, 4, 4))
    assert stats.of_programs([1.1] * 6) == pytest.approx((1.1, 1.1, 1.1))


def wanting(draw):
    """A run's time: other work on the machine only adds to it."""
    return 1 + draw.expovariate(20)


NOISE = {  # the logarithm of a ratio whose truth is 0
    "normal": lambda draw: draw.gauss(0, 0.03),
    "one-sided": lambda draw: math.log(wanting(draw) / wanting(draw)),
    "outliers": lambda draw: draw.gauss(0, 0.02 if draw.random() < 0.9 else 0.15),
    "drift": lambda draw: draw.uniform(-0.05, 0.05),
}


def coverage(interval, make, truth, times):
    """How often the interval of what make(draw) returns has the truth, with a fixed seed."""
    draw, held = random.Random(1), 0
    for _ in range(times):
        _, low, high = interval(make(draw))
        held += low <= truth <= high
    return held / times


@pytest.mark.parametrize("n", (6, 7, 11, 12, 20))
@pytest.mark.parametrize("noise", NOISE)
def test_intervals_of_pairs_hold_the_truth_as_often_as_they_say(noise, n):
    """At least 95%, and what the order statistics say. A percentile bootstrap of medians has 87.5% of seven pairs."""
    held = coverage(stats.median, lambda draw: [math.exp(NOISE[noise](draw)) for _ in range(n)], 1.0, 3000)
    assert stats.coverage(n, stats.rank_of(n)) >= 0.95
    assert held == pytest.approx(stats.coverage(n, stats.rank_of(n)), abs=0.012), held


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("count", (14, 19))
def test_the_interval_of_all_programs_holds_for_programs_like_these(noise, count):
    """Each program has a cost of its own, a few high ones among them, and five pairs."""
    def means(draw):
        costs_of = [draw.gammavariate(4, 0.025) for _ in range(count)]  # the mean is 0.1
        return [stats.median([math.exp(cost + NOISE[noise](draw)) for _ in range(5)])[0] for cost in costs_of]
    held = coverage(lambda ratios: stats.of_programs(ratios, 200), means, math.exp(0.1), 400)
    assert 0.92 <= held <= 0.975, held


def test_a_row_has_as_many_pairs_of_each_variant_and_one_pair_has_no_mean(tmp_path):
    """Locus eight pairs, its peers six: the row has six. With other options there is one."""
    some = [p for p in programs.load() if p.kind == "program"][:2]
    times = {"bare": 8, "locus": 8, **dict.fromkeys(costs.PEERS, 6), "locus spans": 1, "locus min-size 0": 1}
    ratio = {"bare": 1.0, "locus": 1.1}
    runs = [(p, v, n, 2.0 * ratio.get(v, 1.5) * (1 if n < 6 or v == "bare" else 3)) for p in some for v, of in times.items() for n in range(of)]
    write_state(tmp_path, runs)
    done, page = evaluate(tmp_path, "--page")
    assert done.returncode == 0, done.stderr
    first, second = (tables_of(page, "CPU time")[i] for i in (0, 1))
    for p in some:
        assert first[p.name]["n"] == "6" and first[p.name]["Locus"] == "1.100 [1.100, 1.100]", first
        assert second[p.name] == {"program": p.name, "n": "1", "bare, s": "2.00", "Locus": "1.100", "Locus, spans": "1.500",
                                  "Locus, --min-size=0": "1.500"}
    assert first["*2 programs, geometric mean*"]["Locus"] == "1.100"
    assert "*2 programs, worst*" in second and "*2 programs, geometric mean*" not in second


def test_a_crash_with_locus_is_a_target_and_not_left_out(tmp_path):
    program = programs.load()[0]
    runs = [(program, v, n, 2.0) for n in range(2) for v in ("bare", "locus")]
    runs += [(program, "locus min-size 0", 0, "ended with -6: no message"), (program, costs.JFR, 0, "ended with -11: no message"),
             (program, "locus min-size 0", 1, "ended with 1: no message")]
    write_state(tmp_path, runs)
    done, page = evaluate(tmp_path, "--page")
    assert done.returncode == 1 and "CRASHED: %s, locus min-size 0, round 1" % program.name in done.stderr
    row = table(page, "Targets")["crashes in 4 runs with Locus"]
    assert row["target"] == "0" and row[""] == "NOT met"
    assert row["measured"] == "1 (%s, Locus, --min-size=0, round 1: signal 6)" % program.name
    left_out = page.split("## Runs that were left out")[1].split("\n## ")[0]
    assert "ended with -6" not in left_out and "ended with -11" in left_out and "ended with 1:" in left_out
    write_state(tmp_path, runs[:4])
    row = table(evaluate(tmp_path, "--page")[1], "Targets")["crashes in 2 runs with Locus"]
    assert (row["measured"], row[""]) == ("0", "met")


def test_signals_are_told_from_statuses():
    told = [costs.signal_of("ended with %s" % words) for words in ("-6: x", "-11: no message", "139: x", "134: y", "1: x", "143: x", "0")]
    assert told == [6, 11, 11, 6, None, None, None]
    assert costs.signal_of("still running after 8 s") is None


def test_a_run_has_its_own_memory_and_not_what_measures_it(tmp_path):
    """Linux gives a child the peak of its parent until it runs its program; a page of zeroes that is written makes this process large."""
    large = bytearray(b"x" * (96 << 20))
    _, figures_of = costs.timed(["/bin/sleep", "0.1"], tmp_path)
    assert figures_of["rss_mb"] < 40 and 0.1 <= figures_of["wall"] < 60 and 0 <= figures_of["cpu"] < 1
    assert len(large) == 96 << 20
    with pytest.raises(costs.Failed, match="ended with 3: no message"):
        costs.timed(["/bin/sh", "-c", "exit 3"], tmp_path)


def test_a_run_that_crashes_leaves_what_the_jvm_says(tmp_path, workload, jdk17):
    place = costs.Place(jdk17.home, tmp_path / "work", None, tmp_path / "results/profiles")
    place.work.mkdir()
    program = programs.load()[0]
    words = place.command([str(jdk17.java), "-cp", str(workload(jdk17, "Crashes")), "Crashes"], "bare")
    failed = costs.run_once(place, program, words, "quick", "locus", 2)["failed"]
    assert costs.signal_of(failed) == 6, failed
    (told,) = (tmp_path / "results/failed").iterdir()
    assert "SIGSEGV" in told.read_text() and "---------------  T H R E A D  ---------------" in told.read_text()


@pytest.mark.slow
def test_a_run_that_hangs_tells_what_its_threads_do(monkeypatch, tmp_path, workload, jdk17):
    monkeypatch.setattr(costs, "LIMIT_SECONDS", 8)
    monkeypatch.setattr(costs, "DUMP_SECONDS", 4)
    place = costs.Place(jdk17.home, tmp_path / "work", None, tmp_path / "results/profiles")
    place.work.mkdir()
    program = programs.load()[0]
    words = [str(jdk17.java), "-cp", str(workload(jdk17, "Hangs")), "Hangs"]
    assert costs.run_once(place, program, words, "quick", "locus", 4) == {"failed": "still running after 8 s"}
    (told,) = (tmp_path / "results/failed").iterdir()
    text = told.read_text()
    assert told.name.endswith("-004.txt") and "begun" in text, text
    assert "at Hangs.waitForNobody(Hangs.java:" in text and "Hangs$Holder" in text, text
    assert any(line.split()[2] == "locus:" for line in text.splitlines() if len(line.split()) > 3), text  # the agent's thread


def test_each_variant_is_once_in_a_round_and_the_first_one_changes():
    rounds = [costs.order(costs.VARIANTS, number) for number in range(2 * len(costs.VARIANTS))]
    assert all(sorted(r) == sorted(costs.VARIANTS) for r in rounds)
    assert {r[0] for r in rounds} == {r[-1] for r in rounds} == set(costs.VARIANTS)


class Clock:
    """Time that passes only where a run takes some, in place of the real one."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def strftime(self, form):
        return form


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """costs.measure() of two programs whose runs take 10 s each and are not made: measure(seconds, pairs) -> (whole, all runs)."""
    clock, made = Clock(), []
    monkeypatch.setattr(costs, "machine", lambda: call.machine)

    def run_once(_place, program, _words, _size, variant, number):
        clock.now += 10
        made.append((number, program.name, variant))
        return {"wall": 9.0, "cpu": 8.0, "rss_mb": 100.0}

    for name, fake in (("run_once", run_once), ("calibrate", lambda *_: None), ("note_engine", lambda *_: None),
                       ("variants_here", lambda _work, asked: (None, asked)), ("time", clock)):
        monkeypatch.setattr(costs, name, fake)
    monkeypatch.setattr(programs, "build", lambda *_: None)
    monkeypatch.setattr(programs, "command", lambda *_: ["java"])
    some = programs.load()[:2]

    def call(seconds, pairs, most=None, version=25):
        state = results.Results(tmp_path / "state.jsonl", {p.name: costs.call(p, "quick") for p in some})
        plan = costs.Plan(some, version, costs.VARIANTS, dict.fromkeys(costs.ROUNDS, pairs), most or {})
        return costs.measure(state, plan, {version: tmp_path}, "quick", seconds, tmp_path / "profiles"), made

    (tmp_path / "release").write_text("")  # of the JDK
    call.machine = "a CPU, 2 CPUs, 8 GB"
    return call


def test_rounds_end_before_the_next_and_go_on_where_time_was_over(measure):
    """A program takes 100 s in a round: of 460 s two rounds of both are made, and the next call makes only what is missing."""
    whole, made = measure(460, 4)
    of_round = 2 * len(costs.VARIANTS)
    assert not whole and [number for number, _, _ in made] == [0] * of_round + [1] * of_round
    assert len({run[1:] for run in made}) == of_round
    whole, made = measure(1000, 4)
    assert whole and len(made) == len(set(made)) == 4 * of_round
    assert measure(1000, 4) == (True, made)


def test_some_variants_have_fewer_rounds(measure):
    whole, made = measure(10_000, 7, most={**costs.FEWER_ROUNDS, costs.JFR: 2})
    assert whole and len(made) == len(set(made))
    rounds = {v: len({n for n, _, variant in made if variant == v}) for v in costs.VARIANTS}
    assert rounds == {**dict.fromkeys(costs.VARIANTS, 7), **costs.FEWER_ROUNDS, costs.JFR: 2}, made
    assert measure(10_000, 7, most={**costs.FEWER_ROUNDS, costs.JFR: 2})[1] == made
    # The bare run that a pair is made with is of the same round.
    assert all((n, name, "bare") in made for n, name, _ in made)


def test_a_round_that_another_machine_began_is_made_again_and_one_that_it_ended_is_kept(measure, tmp_path):
    """Ratios are of runs on one machine: of two rounds the second one lacks a run."""
    before = len(measure(10_000, 2)[1])
    file = tmp_path / "state.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("".join(line + "\n" for line in lines[:-1]))
    measure.machine = "another CPU, 2 CPUs, 8 GB"
    whole, made = measure(10_000, 2)
    again = made[before:]
    last = json.loads(lines[-1])
    assert whole and {run[:2] for run in again} == {(1, last["program"])} and len(again) == len(costs.VARIANTS)
    state = results.Results(file, None)
    assert len(state.pairs(last["program"], "locus")) == 2
    state.runs[last["program"], 1, "bare"]["machine"] = "a third CPU, 2 CPUs, 8 GB"
    assert len(state.pairs(last["program"], "locus")) == 1


def test_cpu_time_samples_of_jfr_are_for_jdks_that_have_them(measure):
    _, made = measure(10_000, 1, version=17)
    assert {variant for _, _, variant in made} == set(costs.VARIANTS) - {costs.JFR_CPU}


def test_long_forms_and_servers_are_run_with_fewer_variants():
    plan = costs.Plan(programs.load(), 25, costs.VARIANTS, costs.ROUNDS, costs.FEWER_ROUNDS)
    of = {p.name: plan.runs(p) for p in plan.programs}
    for name in ("H2, long", "H2, long, JDK 17", "Jetty"):
        assert set(of[name]) == {(n, v) for n in range(7) for v in costs.LONG_VARIANTS}
    fewer = len(costs.FEWER_ROUNDS)
    assert len(of["H2"]) == 12 * (len(costs.VARIANTS) - fewer) + fewer * 6


def test_what_a_program_measured_of_itself_counts_in_place_of_the_whole_run():
    assert costs.measured_inside("result: 1\n") == {}
    assert costs.measured_inside("measured: cpu=0.5 wall=0.25 rounds=7\nresult: 1\n") == {"cpu": 0.5, "wall": 0.25, "rounds": 7}
    assert costs.measured_inside("measured: cpu=0.5 requests=9 p50=1.5 p99.9=8\n") == {
        "cpu": 0.5, "requests": 9, "latency": {"p50": 1.5, "p99.9": 8}}


def test_the_whole_evaluation_takes_at_most_a_day_in_calls_of_80_minutes(tmp_path):
    """The plan on a machine that has measured nothing."""
    done = run_command([ROOT / "scripts/evaluate", "--status"], env={"LOCUS_BUILD": str(empty_build(tmp_path))})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    missing, whole = map(float, re.fullmatch(r"([\d.]+) of ([\d.]+) hours are missing", lines[-1]).groups())
    assert missing == whole <= 24
    assert all(re.search(r" 0 of +\d+  [\d.]+ h missing$", line) for line in lines[:-1]), lines
    script = (ROOT / "scripts/evaluate").read_text()
    assert int(re.search(r"^CALL_SECONDS = ([\d_]+)$", script, re.M)[1].replace("_", "")) <= 80 * 60


def empty_build(directory):
    """A build of Locus beside which nothing was measured: not even the page's results are of it."""
    build = directory / "build"
    build.mkdir()
    for name in ("locus", "liblocus.so"):
        (build / name).symlink_to(BUILD / name)
    (build / "liblocus-preload.so").write_text("another one")
    return build


# The page


def evaluate(directory, *options):
    """scripts/evaluate --quick into a directory: (how it ended, the page)."""
    done = run_command([ROOT / "scripts/evaluate", "--quick", "--output", directory, *options], timeout=QUICK_SECONDS)
    page = directory / "EVALUATION.md"
    return done, page.read_text() if page.exists() else ""


def tables_of(page, title):
    """The rows of each of a section's tables: {first cell: {column: cell}}."""
    section = page.split("\n## %s\n" % title, 1)[1].split("\n## ", 1)[0]
    told = []
    for block in re.findall(r"(?:^\|.*\n?)+", section, re.M):
        lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in block.splitlines()]
        told.append({line[0]: dict(zip(lines[0], line)) for line in lines[2:]})
    return told


def table(page, title):
    return tables_of(page, title)[0]


def runs_of(directory):
    """The state file's runs: {(program, variant): [run of each round]}."""
    runs = {}
    for path in directory.glob("costs-*.jsonl"):
        for entry in map(json.loads, path.read_text().splitlines()):
            if "program" in entry:
                runs.setdefault((entry["program"], entry["variant"]), []).append(entry)
    return runs


def check_drawing(path, names):
    """It is XML, and has each name as text."""
    texts = [e.text for e in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    assert set(names) <= set(texts), path


# The page has a table of Locus and its peers, and one of Locus's options: two variants of each fill both.
def test_each_variant_has_a_mark_of_its_own():
    marks = set(zip(plots.SHAPES, plots.LIGHT, strict=True))
    assert len(marks) == len(set(zip(plots.SHAPES, plots.DARK, strict=True))) >= len(costs.VARIANTS) - 1  # without the bare program


@pytest.mark.parametrize("variants", [
    pytest.param(("locus", "locus spans", "async-profiler cpu"), id="some", marks=pytest.mark.slow),
    pytest.param(costs.VARIANTS[1:], id="all", marks=pytest.mark.slow),
])
@pytest.mark.seconds(QUICK_SECONDS)
def test_quick_evaluation_has_the_figures_of_its_runs(tmp_path, variants):
    if not shutil.which("mvn"):
        pytest.skip("no mvn to build the programs with")
    done, page = evaluate(tmp_path, *("--variant=" + variant for variant in variants))
    assert done.returncode == 0 and page, done.stderr
    runs = runs_of(tmp_path)
    names = sorted({name for name, _ in runs})
    kinds = [p.kind for p in programs.load() if p.name in names]
    assert kinds == ["kernel", "program"] and len(names) == 2, names
    for title, field in (("CPU time", "cpu"), ("Run time", "wall")):
        rows, more = tables_of(page, title)
        for name in names:
            bare = runs[name, "bare"][0][field]
            assert rows[name]["n"] == "1" and float(rows[name]["bare, s"]) == pytest.approx(bare, abs=0.005)
            for variant in variants:
                told = (rows if variant in figures.GROUPS[0] else more)[name][figures.title(variant)]
                assert float(told) == pytest.approx(runs[name, variant][0][field] / bare, abs=0.0005), (name, variant)
    memory, buckets = table(page, "Peak memory"), table(page, "Samples by bucket")
    for name in names:
        more = runs[name, "locus"][0]["rss_mb"] - runs[name, "bare"][0]["rss_mb"]
        assert float(memory[name]["Locus"].split()[0]) == pytest.approx(more, abs=0.5)
        samples = runs[name, "locus"][0]["report"]["samples"]
        assert int(buckets[name]["samples"]) == samples["total"] > 0
        for bucket in samples.keys() - {"total"}:
            assert float(buckets[name][bucket].rstrip("%")) == pytest.approx(100 * samples[bucket] / samples["total"], abs=0.05)
    for plot in ("cpu", "memory"):
        check_drawing(tmp_path / ("evaluation-%s.svg" % plot), names)


FACTS = {"build": "0123", "processor": "a CPU", "CPUs": 2, "memory_gb": 8, "system": "a system", "jdk": "a JDK", "date": "2026-01-01",
         "async-profiler": "4.3"}
SAMPLES = {"total": 100, "object": 60, "heap_class": 20, "heap_unknown": 1, "jvm": 10, "native": 7, "no_address": 2, "lost": 0}


def write_state(directory, runs):
    """A state file of runs (program, variant, round, seconds or why it failed)."""
    lines = [{"fact": name, "is": value} for name, value in FACTS.items()]
    for program, variant, number, cpu in runs:
        figures_of = {"failed": cpu} if isinstance(cpu, str) else {
            "cpu": cpu, "wall": cpu, "rss_mb": 100 + 10 * cpu, **({"report": {"samples": SAMPLES, "java_code": 60, "top": []}}
                                                                 if variant in costs.LOCUS_OPTIONS else {})}
        lines.append({"program": program.name, "call": costs.call(program, "quick"), "round": number, "variant": variant,
                      "load": 1.0, "took": 1.0, **figures_of})
    state = directory / ("costs-jdk%d.jsonl" % jdks.jdks()[-1][0])
    state.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return state


def test_page_has_means_with_intervals_and_names_what_does_not_count(tmp_path):
    """A run that failed is no pair, and is named."""
    program = programs.load()[0]
    ratios = (1.01, 1.03, 1.02, 1.06, 1.045, 1.05)
    runs = [(program, "bare", n, 2.0) for n in range(7)] + [(program, "locus", n, 2 * r) for n, r in enumerate(ratios)]
    runs += [(program, costs.JFR, n, 2.2) for n in range(6)] + [(program, costs.JFR, 6, "ended with 1: no /usr/lib/thing here")]
    write_state(tmp_path, runs)
    done, page = evaluate(tmp_path, "--page")
    assert done.returncode == 1 and "left out: %s, %s, round 7: ended with 1" % (program.name, costs.JFR) in done.stderr
    row = table(page, "CPU time")[program.name]
    assert row == {"program": program.name, "n": "6", "bare, s": "2.00", "Locus": "1.038 [1.010, 1.060]",
                   costs.JFR: "1.100 [1.100, 1.100]"}
    assert table(page, "Runs that were left out") == {program.name: {
        "program": program.name, "variant": costs.JFR, "round": "7", "why": "ended with 1: no ... here"}}
    targets = table(page, "Targets")
    kind = dict(figures.KINDS)[program.kind]
    assert targets["CPU time, geometric mean of 1 %s" % kind][""] == "NOT met"
    assert targets["CPU time, worst of 1 %s" % kind][""] == "met"
    for name in ("long forms", "servers"):
        assert targets["CPU time, " + name]["measured"] == "not measured" and targets["CPU time, " + name][""] == "NOT measured"
    assert targets["CPU time, worst of everything on this page (1)"]["measured"] == "1.038 (%s)" % program.name
    assert targets["peak memory, each of 1"][""] == "met"
    assert targets["coverage of the intervals of medians"]["measured"] == "96.9% at least (n = 6)"
    assert targets["unexplained samples, worst of 1"] == {
        "what": "unexplained samples, worst of 1", "target": "3%", "measured": "5.00%% (%s)" % program.name, "": "NOT met"}
    assert "## Accuracy" not in page and "Not measured with this build: agreement, delays, accuracy, " in page


STORMS = """overflow   bare 2.60 s, Locus 4.10 s (starting 0.20 and 0.40): ratio 1.54 (1.40 to 1.70), per array 1.50; 9 arrays; jvm_walks 3
trees      bare 2.00 s, Locus 2.40 s (starting 0.20 and 0.40): ratio 1.11 (1.05 to 1.20), per array 1.10; 9 arrays; jvm_walks 3
"""


def test_the_worst_is_of_everything_on_the_page_and_servers_have_latencies(tmp_path):
    """A storm costs more than each program. The median of two runs' 99th percentile is 30 ms alone, and 40 ms with Locus."""
    jetty = next(p for p in programs.load() if p.name == "Jetty")
    write_state(tmp_path, [(jetty, v, n, 2.0 if v == "bare" else 2.1) for n in range(2) for v in ("bare", "locus")])
    state = next(tmp_path.glob("costs-*"))
    lines = [json.loads(line) for line in state.read_text().splitlines()]
    for line in [line for line in lines if "program" in line]:
        line["latency"] = {name: 10.0 * (3 + (line["variant"] == "locus")) for name in figures.LATENCIES}
    state.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "storms.txt").write_text(STORMS)
    _, page = evaluate(tmp_path, "--page")
    rows = table(page, "Targets")
    assert rows["CPU time, worst of everything on this page (3)"]["measured"] == "1.500 (storm: overflow)"
    assert rows["storms of call paths, CPU time, worst of 2"]["measured"] == "1.50 (storm: overflow)"
    assert rows["CPU time, worst of 1 servers"] == {"what": "CPU time, worst of 1 servers", "target": "1.05", "measured": "1.050 (Jetty)", "": "met"}
    assert table(page, "Storms of call paths")["trees"]["ratio without the start: median [least, most]"] == "1.11 [1.05, 1.20]"
    latencies = page.split("## Latency of servers")[1].split("\n## ")[0]
    assert "| Jetty | p99 | 2 | 30.00 | 40.00 |" in latencies, latencies
    assert "| Jetty |" not in page.split("## Run time")[1].split("\n## ")[0]  # the load's rate makes it


def test_peers_have_the_pairs_of_other_builds_on_the_same_machine(tmp_path):
    """Locus has those of its own build only; another JDK is another machine, and a run that failed is no pair."""
    program = programs.load()[0]
    calls = {program.name: costs.call(program, "quick")}

    def of_build(name, ratio, **facts):
        (tmp_path / name).mkdir()
        path = write_state(tmp_path / name, [(program, v, 0, 2.0 * (ratio if v != "bare" else 1)) for v in costs.VARIANTS]
                           + [(program, costs.JFR, 1, "ended with 1"), (program, "bare", 1, 2.0)])
        state = results.Results(path, calls)
        state.facts.update(facts)
        return state

    own = of_build("own", 1.5)
    for other in (of_build("same", 1.25), of_build("other", 3.0, jdk="another JDK")):
        own.add_pairs(other, costs.PEERS)
    assert own.builds == 2
    assert figures.ratios(own, program.name, "locus", "cpu") == [1.5]
    for peer in costs.PEERS:
        assert figures.ratios(own, program.name, peer, "cpu") == [1.5, 1.25]


def test_the_archive_has_all_of_the_pages_build_and_what_counts_of_others(tmp_path):
    """Another machine has the same results of its own build and of a later one, and those of peers beside an earlier one."""
    here, there = tmp_path / "here", tmp_path / "there"
    program = programs.load()[0]
    calls = {program.name: costs.call(program, "quick")}
    own, other, bare, later = (here / ("results-" + name) for name in ("own", "other", "bare", "later"))
    for directory, variants in ((own, costs.VARIANTS), (other, costs.VARIANTS), (bare, ("bare", "locus")), (later, ("bare", "locus"))):
        directory.mkdir(parents=True)
        write_state(directory, [(program, v, n, 2.0) for n in range(2) for v in variants])
        (directory / "merge.json").write_text("[]")
        (directory / "profiles-jdk25").mkdir()
    (state,) = [p.name for p in own.glob("costs-*")]
    for directory, date in ((own, "2026-11-27"), (other, "2026-11-26"), (later, "2026-11-30")):
        file = directory / state
        file.write_text(file.read_text().replace(FACTS["date"], date))
    first = archive.pack(here, own, tmp_path).read_bytes()
    assert archive.pack(here, own, tmp_path).read_bytes() == first
    archive.unpack(tmp_path / archive.NAME, there)
    assert {str(p.relative_to(there)) for p in there.rglob("*") if p.is_file()} == {
        "results-own/merge.json", "results-own/" + state, "results-other/" + state, "results-later/merge.json", "results-later/" + state}
    for whole in ("own", "later"):
        assert (there / ("results-" + whole) / state).read_text() == (here / ("results-" + whole) / state).read_text()
    found = results.Results(there / "results-other" / state, calls)
    assert found.facts == {**FACTS, "date": "2026-11-26"} and {v for _, _, v in found.runs} == {"bare", *costs.PEERS}
    # Results of this machine stay, and those of another machine are added.
    lines = (own / state).read_text().splitlines()
    mine = json.dumps({**json.loads(lines[-1]), "cpu": 77.0})
    (there / "results-own" / state).write_text(mine + "\n")
    (there / "results-own/merge.json").write_text("[1]")
    for _ in range(2):
        archive.unpack(tmp_path / archive.NAME, there)
        assert (there / "results-own" / state).read_text().splitlines() == [mine, *lines[:-1]]
    assert (there / "results-own/merge.json").read_text() == "[1]"
    archive.unpack(tmp_path / "none.tar.xz", there)


def test_runs_of_a_program_that_is_called_in_another_way_do_not_count(tmp_path):
    program = programs.load()[0]
    state = write_state(tmp_path, [(program, v, 0, 2.0) for v in ("bare", "locus")])
    state.write_text(state.read_text().replace(json.dumps(costs.call(program, "quick")), '["other"]'))
    done, page = evaluate(tmp_path, "--page")
    assert done.returncode == 1 and not page and "no program was run" in done.stderr


OVERLAPS = """(() => {
    const boxes = Array.from(document.querySelectorAll("text"), (e) => [e.textContent, e.getBoundingClientRect()]);
    const whole = document.querySelector("svg").getBoundingClientRect();
    const found = boxes.filter(([, b]) => b.left < whole.left || b.right > whole.right || b.bottom > whole.bottom).map(([t]) => t);
    boxes.forEach(([t, a], i) => boxes.slice(i + 1).forEach(([u, b]) => {
        if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2)
            found.push(t + " / " + u);
    }));
    return found;
})()"""


@pytest.mark.slow
def test_no_label_of_a_plot_reaches_into_another(browser, tmp_path):
    """With all programs and variants; one costs more than the scale has."""
    runs = [(p, v, n, (1 + 0.02 * i + 0.001 * n) * (9 if p.name == "Queens" and i else 1))
            for p in programs.load() for i, v in enumerate(costs.VARIANTS) for n in range(3)]
    write_state(tmp_path, runs)
    done, _ = evaluate(tmp_path, "--page")
    assert done.returncode == 0, done.stderr
    for name in ("cpu", "memory"):
        page = tmp_path / "plot.html"  # marked as the viewer marks its page when it is drawn
        page.write_text('<html data-ready="1"><body>%s</body></html>' % (tmp_path / ("evaluation-%s.svg" % name)).read_text())
        plot = browser.page(page)
        assert plot.evaluate(OVERLAPS) == []
        assert plot.evaluate('document.querySelectorAll("text").length') > 20


def first_column(markdown):
    return [line.split(" | ")[0].strip("| ") for line in markdown.splitlines() if line.startswith("| ")][2:]


def test_loops_of_libraries_with_tests_are_those_whose_share_is_told():
    told = others.loops("""commons-a-1.0-sources.jar: 200 loops, 190 extracted, 180 compile (90.0%)
  150 of these are executed by the library's tests; 120 pass their regression test: 60.0% of all loops, 80.0% of those that are executed
     12  a reason
other-2.0-sources.jar: 100 loops, 90 extracted, 50 compile (50.0%)
all: what the script adds up
""")
    assert first_column(told) == ["commons-a-1.0", "other-2.0", "*all*"]
    assert "| *all* | 300 | 230 | 150 | 120 |" in told and "120 of the 200 loops of libraries with tests have" in told and "60.0%" in told


def test_a_benchmark_that_was_not_measured_is_told():
    told = others.truth("""kernel                    expert's ns  generated ns   ratio    95% interval  \n\
Sums                             12.5          12.6    1.01    0.98 .. 1.03  ok, within 10%
  without sink                   12.5           0.3    0.02    0.02 .. 0.02  ok, wrong by more than 30%
Walk                             10.0          14.0    1.40    1.30 .. 1.50  NOT within 10%
Tokens: NOT measured: there is no benchmark
""")
    assert first_column(told) == ["Sums", "without sink", "Walk", "Tokens"]
    assert "NOT measured: there is no benchmark" in told and "1 of 3 kernels" in told


def test_the_accuracy_of_spans_is_judged_for_each_kind():
    def of(program, accuracy, **more):
        return {"program": program, "pairs": 8, "cycles": 1200, "ratio": [1.02, 1, 1.05], "accuracy": accuracy, "target": 0.97, **more}

    def judged(*rows):
        return {r[0]: r[1:] for r in targets.span_rows(list(rows))}
    old = judged(of("SpanTiny", 0.99), of("SpanPhone", 0.89))  # measured before there were kinds
    assert old["cycles of streams, accuracy, mean of 2 programs"] == ["97%", "94.0%", "NOT met"]
    assert old["cycles of tasks, accuracy"] == ["97%", "not measured", "NOT measured"]
    rows = [of("SpanTiny", 0.98, kind="streams"), of("stream100", 0.91, kind="stream"), of("SpanForks", 0.99, kind="tasks", perturbation=1.125),
            of("Task1000", 0.96, kind="task", perturbation=None)]
    now = judged(*rows)
    assert now["cycles of streams, accuracy, worst of 1 programs"] == ["90%", "98.0% (SpanTiny)", "met"]
    assert now["cycles of streams of known length, accuracy, mean of 1 streams"] == ["97%", "91.0%", "NOT met"]
    assert now["cycles of tasks, accuracy, mean of 2 programs and tasks of known length"] == ["97%", "97.5%", "met"]
    assert now["cycles of tasks, accuracy, worst of 2 programs and tasks of known length"] == ["90%", "96.0% (Task1000)", "met"]
    told = others.spans([*rows, of("SpanSmall", 0.9)])
    assert "| program of tasks | SpanForks | 8 | 1200 | 1.125 | 1.020 [1.000, 1.050] | 99.0% | 97% | met |" in told, told
    assert "| program of streams | SpanSmall | 8 | 1200 |  | 1.020" in told and "NOT met" in told.splitlines()[-1], told


def test_what_was_not_measured_has_no_table():
    assert [others.loops(""), others.truth(""), others.spans(None), others.accuracy(None), others.known(None), others.merge(None)] == [""] * 6


def test_what_is_said_of_programs_that_know_the_truth_has_a_table_for_each_kind():
    told = others.known({
        "estimates": [{"jdk": 17, "collector": "G1", "interval": "16k", "sites": 6, "within": 5, "median_error": 0.012, "largest_error": 0.25}],
        "names": [{"jdk": 25, "compiled": True, "patterns": 20, "right": 17, "none": 1}],
        "findings": [{"jdk": 25, "of": 13, "right": 12, "other": 1, "calm": 0}],
        "calm": [{"jdk": 17, "mode": "a", "samples": 90, "findings": []}, {"jdk": 17, "mode": "b", "samples": 80, "findings": ["hot-object"]}],
        "nodes": [{"jdk": 17, "mode": "gc", "samples": 900, "true": 0.476, "remote": 0.431}, {"jdk": 25, "skipped": "no kernel in /srv/build/guest"}],
    })
    for row in ("| 17 | G1 | 16k | 6 | 5 | 1.2% | 25.0% |", "| 25 | compiled | 20 | 17 | 2 | 1 |", "| 25 | 13 | 12 | 1 | 0 |", "| 17 | 2 | 80 | b (hot-object) |",
                "| 17 | gc | 900 | 47.6% | 43.1% |", "| 25 | skipped: no kernel in ... |  |  |  |"):
        assert row in told, told
    assert len([line for line in told.splitlines() if line.startswith("| --- |")]) == 5


def test_false_findings_are_of_twenty_programs():
    def target(names, **found):
        return targets.calm_row([{"mode": name, "findings": found.get(name, [])} for name in names])[2:]
    twenty = ["p%d" % i for i in range(20)]
    assert target(twenty * 2) == ["0 in 40 runs", "met"]
    assert target(twenty, p3=["hot-object"]) == ["1 in 20 runs", "NOT met"]
    assert target(twenty[:19] * 2) == ["not measured", "NOT measured"]


def test_merging_has_medians_with_the_least_and_the_most():
    def of(median):
        return {"median": median, "least": median - 1, "most": median + 2}
    told = others.merge([{"inputs": "whole", "profiles": 64, "jobs": 2, "paths": 3_250_000, "million_paths_per_cpu_s": of(11.25),
                          "times_decompressing": of(4.5), "all_s": of(3), "max_rss_mb": of(70)}])
    assert "| whole | 64 | 2 | 3.2 | 11.2 [10.2, 13.2] | 4.5 [3.5, 6.5] | 3.00 [2.00, 5.00] | 70 |" in told, told


def test_a_program_that_fails_is_named_and_what_others_say_is_kept(monkeypatch, capsys, tmp_path):
    def fails(version, *_):
        yield {"jdk": version}
        raise subprocess.CalledProcessError(3, ["numa-guest"])
    monkeypatch.setattr(known, "KINDS", {"nodes": fails, "names": lambda version, *_: [{"jdk": version}]})
    monkeypatch.setattr(known, "jdks", lambda: [(17, "/jdk17"), (25, "/jdk25")])
    monkeypatch.setattr(sys, "argv", ["known.py", "--json", str(tmp_path / "told")])
    assert known.main() == 1
    assert json.loads((tmp_path / "told").read_text()) == {"names": [{"jdk": 17}, {"jdk": 25}]}
    said = capsys.readouterr().err
    assert [("nodes with JDK %d: Command '['numa-guest']'" % jdk) in said for jdk in (17, 25)] == [True, True], said


def test_what_the_truth_is_held_against_is_taken_from_the_report():
    """Errors of two sites of one method: 3 and 4 are 5 together. Arrays that loading a class makes are none of its own."""
    def estimate(name, method, objects, high):
        return {"class": name, "objects": objects, "objects_high": high, "allocation_path": [{"class": "SampledSites", "method": method}]}
    report = {"estimates": [estimate("SampledSites$Node", "newNode", 100, 103), estimate("SampledSites$Node", "newNode", 50, 54),
                            estimate("byte[]", "newNode", 7, 8), estimate("byte[]", "newSmall", 30, 36)]}
    assert known.estimate_of(report, "newNode") == (150, 5)
    assert known.estimate_of(report, "newSmall") == (30, 6)
    path = [{"class": "java.util.Arrays", "method": "copyOf"}, {"class": "Names", "method": "copyOf"}, {"class": "Names", "method": "main"}]
    site = {"allocation_path": path, "class": "int[]", "names": [{"kind": "field", "name": "Names.grown"}]}
    nameless = {"allocation_path": path, "class": "int[]"}
    assert oracles.names_by_pattern({"sites": [site, nameless]}) == {("copyOf", "int[]"): {(("field", "Names.grown"),), ()}}
    phases = [{"cpu_ns": [[10, 30], [0, 20]]}, {"cpu_ns": [[20, 10], [10, 0]]}]
    assert oracles.time_truth({"phases": phases}) == pytest.approx(0.5)


def test_agreement_is_a_row_for_each_program_and_each_delay(tmp_path):
    side = {"absent": None, "counted": 3, "largest_difference": 0.021}
    sides = [{**side, "name": name} for name in ("bare", "locus", "jfr")]
    sides += [{**side, "name": "async", "counted": 2, "largest_difference": None}, {**side, "name": "perf", "absent": "no perf", "counted": 0}]
    pairs = [{"a": "locus", "b": "async", "overlap": 0.91, "common_top_5": 5}, {"a": "locus", "b": "jfr", "overlap": 0.555, "common_top_5": 3}]
    seen = [{"profiler": "locus", "error": -0.004, "found": 0.96}, {"profiler": "jfr", "error": 0.05, "found": 1.4}]
    delays = [{"method": "A.a", "why": None, "added": {"mean": 0.101}, "seen": seen}, {"method": "A.b", "why": "is native", "added": None, "seen": []}]
    told = {"rounds": 9, "union_1": 2, "union_1_of_runs": 3, "union_5": 7, "profilers": sides, "pairs": pairs, "delays": delays}
    all_told = {"Sieve": told, "Queens": {**told, "union_1": 1, "delays": []}, "none": {**told, "profilers": sides[:1], "delays": []}}
    text = agreement.markdown(all_told)
    lines = text.splitlines()
    assert "| Sieve | 2 | 2 | 3 | 7 | 56% (locus, jfr) | 2.1 |  | 2.1 |" in lines
    assert "All profilers have the same hottest method in 1 of 2." in lines
    table_of_delays = agreement.delays_markdown(all_told)
    assert table_of_delays.splitlines()[2:] == ["| Sieve | 9 | A.a | 10.1% | -0.4 (96%) |  | +5.0 (140%) |"]
    assert "none" not in text and "perf" not in text
    assert agreement.markdown({}) == agreement.delays_markdown({}) == "" and agreement.delays_target({}) == []
    assert agreement.delays_target(all_told) == [
        ["delays of known length (programs: 1), at their method", "within 2 points", "1 of 1; 0.4 points at worst (A.a of Sieve)", "met"]]
    delays[1] = {**delays[0], "method": "B.b", "seen": [{**seen[0], "error": -0.021}]}
    assert agreement.delays_target(all_told)[0][2:] == ["1 of 2; 2.1 points at worst (B.b of Sieve)", "NOT met"]
    # With intervals and verdicts, which older results lack.
    pairs[1]["overlap_width"] = 0.031
    seen[0].update(error_width=0.012, saw=True)
    seen[1].update(error_width=0.02, saw=False)
    assert "| 56% ± 3 (locus, jfr) |" in agreement.markdown(all_told)
    assert "| -0.4 ± 1.2 (96%, seen) |  | +5.0 ± 2.0 (140%, not seen) |" in agreement.delays_markdown(all_told)
    assert agreement.delays_markdown(all_told).endswith(agreement.SEEN)
    # Each is asked and read by itself.
    (sieve,) = [p for p in programs.load() if p.name == "Sieve"]
    agreement.DELAYS.path(tmp_path, sieve).write_text(json.dumps(told))
    assert agreement.read(agreement.DELAYS, tmp_path, [sieve]) == {"Sieve": told} and agreement.read(agreement.METHODS, tmp_path, [sieve]) == {}


def test_agreement_is_run_in_parts(tmp_path):
    """A round counts if each profiler that is there had its run, also with each delay that could be put in."""
    result = tmp_path / "agree-sieve.json"
    assert agreement.rounds_done(result) == 0
    runs = [{"profiler": p, "delay": d, "round": r} for r in (1, 2, 3) for p in ("bare", "locus") for d in (None, 0, 2)]
    told = {"rounds": 9, "profilers": [{"name": "bare", "absent": None}, {"name": "locus", "absent": None}, {"name": "perf", "absent": "none"}],
            "delays": [{"why": "is native"}, {"why": None}], "runs": runs}
    for left, rounds in ((runs, 3), (runs[:-1], 2), ([r for r in runs if r["delay"] != 2], 0)):
        result.write_text(json.dumps({**told, "runs": left}))
        assert agreement.rounds_done(result) == rounds
    result.write_text(json.dumps({**told, "delays": [], "runs": [r for r in runs if r["delay"] is None]}))
    assert agreement.rounds_done(result) == 3


def test_the_page_is_what_the_results_beside_it_tell(tmp_path):
    """Nobody edits it: each table and each plot comes out of the archive, on a machine that measured nothing."""
    docs, build = ROOT / "docs", tmp_path / "build"
    ours = "results-" + re.search(r", build ([0-9a-f]{12}) ", (docs / "EVALUATION.md").read_text())[1]
    with tarfile.open(docs / archive.NAME) as packed:
        (version,) = [re.search(r"-jdk(\d+)\.", n)[1] for n in packed.getnames() if n.startswith(ours + "/costs-")]
    home = dict(jdks.jdks()).get(int(version)) or pytest.skip("the page is of JDK %s, which is not here" % version)
    (build / "evaluation").mkdir(parents=True)
    (build / "locus").symlink_to(BUILD / "locus")
    readme = (ROOT / "README.md").read_text()
    (tmp_path / "README.md").write_text(re.sub(COST_BEGIN + ".*(?=" + COST_END + ")", COST_BEGIN, readme, flags=re.S))
    assert (tmp_path / "README.md").read_text() != readme
    words = ["--page", "--build", ours.partition("-")[2], "--jdk", home, "--output", tmp_path / "page"]
    done = run_command([ROOT / "scripts/evaluate", *words], env={"LOCUS_BUILD": str(build)})
    assert done.stdout == "%s\n" % (tmp_path / "page/EVALUATION.md"), done.stderr
    names = ["EVALUATION.md", "cost.md", *sorted(p.name for p in docs.glob("evaluation-*.svg"))]
    for name in names:
        assert (tmp_path / "page" / name).read_text() == (docs / name).read_text(), name
    assert len(names) > 4
    assert (tmp_path / "README.md").read_text() == readme
    # No figure of cost stands in README beside them, where it would grow old.
    assert not re.search(r"\b1\.\d\d", re.sub(COST_BEGIN + ".*" + COST_END, "", readme, flags=re.S))


def test_a_gain_that_a_case_study_contradicts_fails_the_evaluation(tmp_path):
    """The page's own results, with a case whose finding says less than the change gains: it is named, and the status is 1."""
    docs, build = ROOT / "docs", tmp_path / "build"
    ours = "results-" + re.search(r", build ([0-9a-f]{12}) ", (docs / "EVALUATION.md").read_text())[1]
    archive.unpack(docs / archive.NAME, build / "evaluation")
    (version,) = [re.search(r"-jdk(\d+)\.", p.name)[1] for p in (build / "evaluation" / ours).glob("costs-*")]
    home = dict(jdks.jdks()).get(int(version)) or pytest.skip("the page is of JDK %s, which is not here" % version)
    (build / "locus").symlink_to(BUILD / "locus")
    told = build / "evaluation" / ours / "cases.json"
    studies = json.loads(told.read_text())
    gain = {"at_most": 1.1, "low": 1.05, "high": 1.2}
    studies["codec-base64"]["finding"]["gains"] = {"accesses": gain, "with_object": gain}
    told.write_text(json.dumps(studies))
    words = ["--page", "--build", ours.partition("-")[2], "--jdk", home, "--output", tmp_path / "page"]
    done = run_command([ROOT / "scripts/evaluate", *words], env={"LOCUS_BUILD": str(build)})
    assert done.returncode == 1
    assert re.search(r"^evaluate: NOT met: codec-base64: the change gains [\d.]+x, more than 1.20x$", done.stderr, re.M), done.stderr
    page = (tmp_path / "page/EVALUATION.md").read_text()
    assert "| codec-base64 | 1.10 (1.05 to 1.20) | 1.10 (1.05 to 1.20) |" in page and "NOT met: codec-base64" in page
