# SPDX-License-Identifier: Apache-2.0
"""`locus repeat`: of synthetic profiles with known contents, and of real programs that end in every way."""

import json
import math
import os
import re
import signal
import subprocess
import time

import pytest
from conftest import BUILD, ROOT, run_command
from helpers import on_a_terminal, open_page, page_data
from synthetic import Block, Profile, engine, frame

QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
MAIN = frame("com.acme.Main", "main", 10)
NODE, PAGE = (("com.acme." + c, (frame("com.acme.Main", "load", line), MAIN)) for c, line in (("Node", 20), ("Page", 21)))
CHASE, SCAN = frame("com.acme.Chaser", "chase", 33), frame("com.acme.Scanner", "scan", 44)
T4 = 2.776445  # Student's t, 95%, 4 degrees of freedom


def profile(path, node, page, allocated=1000, **more):
    """A hundred samples: `node` in nodes at Chaser.chase, `page` in pages at Scanner.scan; 10 nodes are allocated."""
    block = Block().allocate(*NODE, 10, allocated)
    for site, where, samples in ((NODE, CHASE, node), (PAGE, SCAN, page)):
        if samples:
            block.access("object", (where, MAIN), samples, site)
    block.count("native", 100 - node - page)
    return Profile(path, **more).append(block).close()


def repeat(locus, *args, status=0):
    done = locus("repeat", "--format=json", *args)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def table(found, kind):
    return next(t for t in found["tables"] if t["kind"] == kind)


def states(found):
    return [r["state"] for r in found["runs"]]


# Profiles with known contents


@pytest.fixture
def five(tmp_path):
    return [profile(tmp_path / ("p%d" % i), node, 30) for i, node in enumerate((40, 42, 44, 28, 48))]


def test_numbers_are_those_worked_out_by_hand(locus, five):
    found = repeat(locus, *five)
    assert (found["counted"], found["withheld"], found["asked"]) == (5, None, 5)
    objects = table(found, "objects")
    first, second = objects["entries"]
    # 40, 42, 44, 28, 48: the mean is 40.4, the squares of what they differ by add up to 227.2.
    half = T4 * math.sqrt(227.2 / 4 / 5) / 100
    assert first["class"] == "com.acme.Node" and first["at"]["line"] == 20
    assert first["share"]["mean"] == pytest.approx(0.404)
    assert (first["share"]["low"], first["share"]["high"]) == pytest.approx((0.404 - half, 0.404 + half), abs=1e-6)
    assert first["difference"] == pytest.approx(0.2)
    assert (first["first"], second["first"], objects["firsts"]) == (4, 1, 2)
    assert second["share"]["low"] == second["share"]["high"] == pytest.approx(0.3) and second["equal"]
    assert objects["largest_difference"] == pytest.approx(0.2)
    assert objects["largest_difference_of"] == first["label"]
    # 0.404 - 0.094 is above 0.3: no tie.
    assert [(e["best"], e["worst"]) for e in objects["entries"]] == [(1, 1), (2, 2)]
    for kind, place in (("lines", "chase:33"), ("methods", "chase")):
        entry = table(found, kind)["entries"][0]
        assert entry["label"].endswith("Chaser." + place) and entry["shares"] == pytest.approx([.4, .42, .44, .28, .48])
    assert table(found, "allocated")["largest_difference"] == 0
    assert found["bytes"] == {"mean": 1000, "low": 1000, "high": 1000, "least": 1000, "most": 1000, "equal": True}


def test_rows_tie_where_intervals_overlap(locus, tmp_path):
    found = repeat(locus, *[profile(tmp_path / str(i), node, 36) for i, node in enumerate((40, 42, 44, 28, 48))])
    assert [(e["best"], e["worst"]) for e in table(found, "objects")["entries"]] == [(1, 2), (1, 2)]
    lines = locus("repeat", *[tmp_path / str(i) for i in range(5)]).stdout.splitlines()
    assert [line.split()[0] for line in lines if "Node <-" in line or "Page <-" in line][:2] == ["1-2", "1-2"]


def test_text_says_what_came_first_and_whether_it_is_stable(locus, five):
    done = locus("repeat", *five)
    assert done.returncode == 0 and not done.stderr
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), [line for line in lines if len(line) > 80]
    text = re.sub(r"\s+", " ", done.stdout)
    assert "5 runs; first object: 2 different ones: c.a.Node (in 4 runs), c.a.Page (in 1 run); first method" in text
    assert "self-difference 20.0 points at most: c.a.Node, 28.0% to 48.0%" in text
    assert "top 10 stable" in text and "intervals Student's, 95%, over the runs" in text
    assert re.search(r"1 40.4% 31.0-49.8 20.0 4/5 c.a.Node <- c.a.Main.load:20", text)
    assert re.search(r"1 100.0% 100.0-100.0 equal 5/5 c.a.Node", text)


def test_below_five_runs_intervals_are_withheld(locus, five):
    found = repeat(locus, *five[:4])
    assert "withheld" in found["withheld"]
    entry = table(found, "objects")["entries"][0]
    assert entry["share"]["low"] is entry["share"]["high"] is entry["best"] is None
    assert entry["difference"] == pytest.approx(0.16)
    assert "withheld: they need 5 counted runs" in locus("repeat", *five[:4]).stdout


def test_the_same_profile_again_differs_in_nothing(locus):
    """A real one, of Lucene, with spans and estimates."""
    found = repeat(locus, *5 * [ROOT / "tests" / "data" / "profiles" / "lucene"])
    assert [t["kind"] for t in found["tables"]] == ["objects", "lines", "methods", "spans", "allocated", "estimated"]
    for of in found["tables"]:
        assert of["firsts"] == 1 and of["unstable"] == 0 and of["largest_difference"] in (0, None)
        assert all(e["equal"] and e["difference"] == 0 for e in of["entries"])
    assert sum(e["values"][0] for e in table(found, "lines")["entries"]) <= found["samples"]["mean"]
    spans = table(found, "spans")
    assert sum(e["share"]["mean"] for e in spans["entries"]) == pytest.approx(1)
    assert {e["label"].split()[0] for e in spans["entries"]} <= {"streams", "tasks"}
    report = json.loads(locus("report", "--format=json", ROOT / "tests" / "data" / "profiles" / "lucene").stdout)
    best = report["ranking"]["rows"][0]
    assert table(found, "objects")["entries"][0]["values"][0] == best["samples"]
    assert table(found, "objects")["entries"][0]["class"] == best["class"]


def test_runs_of_different_programs_are_told(locus, five, tmp_path):
    other = profile(tmp_path / "other", 40, 30, jdk="25.0.3")
    assert repeat(locus, *five)["other_program"] is None
    assert repeat(locus, *five, other)["other_program"] == "Main, JDK 25.0.3 G1"
    assert "not all runs have the same program and JDK: one has Main, JDK 25.0.3 G1" in " ".join(
        locus("repeat", *five, other).stdout.split())


def test_without_samples_allocations_are_the_answer(locus, tmp_path):
    paths = [Profile(tmp_path / str(i)).append(Block().allocate(*NODE, 10, 1000)).close() for i in range(5)]
    found = repeat(locus, *paths)
    assert [t["kind"] for t in found["tables"]] == ["allocated"]
    assert found["summary"] == "5 runs; most bytes: c.a.Node, in all 5 runs"


@pytest.mark.parametrize("group", ["class", "field", "package", "site"])
def test_objects_are_grouped_as_in_a_report(locus, five, group):
    found = repeat(locus, "--group", group, *five)
    entry = table(found, "objects")["entries"][0]
    assert found["group"] == group and entry["share"]["mean"] == pytest.approx(0.704 if group == "package" else 0.404)
    assert entry["class"] == ("com.acme" if group == "package" else "com.acme.Node")


def test_a_class_whose_lines_some_runs_cannot_tell_is_one_row(locus, tmp_path):
    """Four of five runs know by enough sampled objects which line made them."""
    klass, where = ("com.acme.Small", ()), ("com.acme.Small", (frame("com.acme.Main", "load", 50), MAIN))

    def run(number, samples, objects):
        block = Block().access("heap_class", (CHASE, MAIN), samples, klass).access("object", (SCAN, MAIN), 20, PAGE)
        block.count("native", 80 - samples).split("hits", klass, where, samples, samples**2 / objects)
        block.estimate(where, 10, 100, 1000, 6400, 1 << 24, [0] * 5)
        return Profile(tmp_path / str(number)).append(block).close()

    told = [run(i, 40 + i, 9) for i in range(4)]
    runs = [*told, run(4, 44, 3)]
    small, page = table(repeat(locus, *runs), "objects")["entries"]
    assert (small["class"], small["all_lines"], small.get("at"), small["values"]) == ("com.acme.Small", True, None, [40, 41, 42, 43, 44])
    assert (small["top"], small["unstable"], "all_lines" in page) == (5, False, False)
    said = "c.a.Small: only some runs know where they were allocated, so each class is one row"
    assert table(repeat(locus, *runs), "objects")["lines"] == said
    assert said in " ".join(locus("repeat", *runs).stdout.split())
    # The line of allocations is known in each of them.
    assert table(repeat(locus, *runs), "estimated")["entries"][0]["at"]["line"] == 50
    by_line = table(repeat(locus, *told), "objects")
    assert by_line["entries"][0]["at"]["line"] == 50 and by_line["lines"] is None


def test_profiles_that_do_not_count_are_told_and_left_out(locus, five, tmp_path):
    other = profile(tmp_path / "other", 90, 5, engines=[engine(interval_ns=1_000_000)])
    cut = profile(tmp_path / "cut", 90, 5, complete=False)
    damaged = profile(tmp_path / "damaged", 90, 5)
    block = next(damaged.glob("*.lcb"))
    block.write_bytes(block.read_bytes()[:-3])
    found = repeat(locus, *five, other, cut, damaged, tmp_path / "none", status=3)
    assert states(found) == 5 * ["counted"] + ["other samples", "cut short", "no profile", "no profile"]
    assert found["counted"] == 5 and table(found, "objects")["entries"][0]["share"]["mean"] == pytest.approx(0.404)
    done = locus("repeat", *five, other)
    assert done.returncode == 3 and "5 of 6 runs counted" in done.stderr
    assert re.search(r"left out\s+\S+other: its samples are of", re.sub(r"\n\s+", " ", done.stdout)), done.stdout


def test_the_page_holds_the_same_data_and_loads_nothing(locus, five, tmp_path):
    page = tmp_path / "page.html"
    assert locus("repeat", *five, "-f", page).returncode == 0
    html = page.read_text()
    assert page_data(html) == repeat(locus, *five)
    assert "<!--" not in html and not re.search(r'(src|href)="(?!#)', html)
    assert "createElementNS" in html and "default-src 'none'" in html


def test_the_page_has_error_bars_in_a_browser(locus, five, tmp_path, browser):
    page = tmp_path / "page.html"
    assert locus("repeat", *five, tmp_path / "none", "-f", page).returncode == 3
    dom = open_page(browser, page)
    assert 'data-ready="true"' in dom
    body = re.sub(r"<script.*?</script>", "", dom, flags=re.S)
    # Two rows each of objects, lines, methods, and one of allocated: an interval with two ends, a dot for each run.
    assert body.count('class="error"') == 3 * 7 and body.count('class="run"') == 5 * 7
    for part in ("40.4%, 95% interval 31.0% to 49.8%, runs from 28.0% to 48.0%", "c.a.Node", "was left out: its profile is unreadable",
                 "Self-difference: 20.0 points at most"):
        assert part in body, part


@pytest.mark.parametrize("args, error", [
    ([], "no program to run"), (["p", "--", "java"], "'p' is before '--'"), (["-n", "5", "p"], "--runs needs a program"),
    (["--interval=1ms", "p"], "--interval needs a program"), (["--timeout=5x", "--", "java"], "is not a duration"),
    (["-n", "0", "--", "java"], "from 1 to 1000"), (["-o", "a%pb", "--", "java"], "has a %"),
    (["--event=nonsense#", "--", "java"], "event"), (["-f", "x.svg", "p"], "unknown extension"),
    (["--trace", "--", "java"], "trace")])
def test_a_wrong_command_line_runs_nothing(locus, tmp_path, args, error):
    done = locus("repeat", *args, cwd=tmp_path)
    assert done.returncode == 2 and error in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not list(tmp_path.iterdir())


# Programs


def command(jdk, classes, counter, *modes):
    return [jdk.java, *QUICK, "-cp", classes, "RepeatRuns", counter, *modes]


def test_exact_counts_have_a_self_difference_of_0(locus, workload, jdk, tmp_path):
    directory = tmp_path / "all"
    found = repeat(locus, "-n", "5", "-o", directory, "--", *command(jdk, workload(jdk, "RepeatRuns"), tmp_path / "n", "ok"))
    assert states(found) == 5 * ["counted"]
    allocated = table(found, "allocated")
    assert allocated["largest_difference"] == 0
    arrays = next(e for e in allocated["entries"] if e["class"] == "byte[]" and e["at"]["class"] == "RepeatRuns")
    assert arrays["equal"] and arrays["values"] == 5 * [200 * 5016] and arrays["difference"] == 0
    assert table(found, "objects")["entries"][0]["class"] == "int[]"
    assert all(r["wall_ns"] > 0 and r["cpu_ns"] > 0 and r["bytes"] > 200 * 5016 for r in found["runs"])
    # Standard input is empty, and what a run wrote is kept.
    assert re.fullmatch(r"\d+ -1\n", (directory / "run-003" / "stdout").read_text())
    # The directory, its result, and its profiles one by one say the same again.
    assert repeat(locus, directory) == found == json.loads((directory / "result.json").read_text())
    assert page_data((directory / "result.html").read_text())["counted"] == 5
    assert "5 runs" in (directory / "result.txt").read_text()
    assert repeat(locus, *sorted(directory.glob("run-*/profile-*")))["tables"] == found["tables"]


def test_each_run_that_does_not_count_is_told_and_left_out(locus, workload, jdk17, tmp_path):
    directory = tmp_path / "all"
    modes = ("fail", "hang", "stderr", "time", "kill", "ok")
    found = repeat(locus, "-n", "7", "--timeout=15s", "-o", directory, "--",
                   *command(jdk17, workload(jdk17, "RepeatRuns"), tmp_path / "n", *modes), status=3)
    assert states(found) == ["failed", "timed out", "wrote to stderr", "output differs", "failed"] + 2 * ["counted"]
    assert found["counted"] == 2 and found["withheld"] and found["asked"] == 7
    why = [r["why"] for r in found["runs"]]
    assert why[0] == "it ended with status 3" and why[1] == "it still ran after 15.0 s (--timeout), and was stopped"
    assert why[2] == "it wrote to standard error: warning: odd" and "first in line 1 of" in why[3]
    assert why[4] == "it was killed by signal 9 (Killed)" and why[5] is why[6] is None
    # Counted where that is asked for.
    more = repeat(locus, directory, "--any-stderr", "--any-output", status=3)
    assert states(more)[2:4] == 2 * ["counted"] and more["runs"][2]["stderr_bytes"] == 13
    assert states(more)[:2] == ["failed", "timed out"]


def test_what_a_run_started_is_stopped_with_it(locus, tmp_path):
    script = tmp_path / "script"
    script.write_text("sleep 600 & echo $! > %s; trap '' TERM; wait; wait\n" % (tmp_path / "pid"))
    done = locus("repeat", "-n", "1", "--timeout=500ms", "-o", tmp_path / "all", "--", "sh", script)
    assert done.returncode == 1 and "0 of 1 runs counted" in done.stderr
    pid = int((tmp_path / "pid").read_text())
    assert not os.path.exists("/proc/%d" % pid) or "Z" in open("/proc/%d/stat" % pid).read().split()[2]


def test_after_three_runs_that_fail_no_further_one_is_begun(locus, tmp_path):
    done = locus("repeat", "-n", "20", "-o", tmp_path / "all", "--", "sh", "-c", "echo x >>%s; echo no luck >&2; exit 4" % (tmp_path / "n"))
    assert done.returncode == 1 and "0 of 20 runs counted" in done.stderr
    text = re.sub(r"\s+", " ", done.stdout)
    assert "run 3: it ended with status 4; on standard error: no luck 17 of the 20 requested runs were not started" in text
    assert (tmp_path / "n").read_text() == "x\n" * 3


def test_a_terminal_is_told_which_run_it_is(tmp_path):
    said = on_a_terminal(BUILD / "locus", "repeat", "-n", "3", "-o", tmp_path / "all", "--", "sleep", "0.1", status=1)
    for run in (1, 2, 3):
        assert "\rlocus: run %d of 3" % run in said
    assert "run 3 of 3, 2 failed, 1 s left" in said and "\r\033[K" in said


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_what_was_run(workload, jdk17, tmp_path, sent):
    counter, directory = tmp_path / "n", tmp_path / "all"
    process = subprocess.Popen(
        [BUILD / "locus", "repeat", "-n", "30", "-o", directory, "--format=json", "--",
         *command(jdk17, workload(jdk17, "RepeatRuns"), counter, "ok", "hang")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and not (counter.exists() and counter.read_text() == "2"):
        time.sleep(0.05)
    process.send_signal(sent)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 3, err
    found = json.loads(out)
    assert states(found) == ["counted", "interrupted"] and found["asked"] == 30 and found["counted"] == 1
    assert "1 of 30 runs counted" in err
    done = run_command([BUILD / "locus", "repeat", directory])
    assert done.returncode == 3 and "28 of the 30 requested runs were not started" in re.sub(r"\s+", " ", done.stdout)


def test_a_program_that_cannot_run_or_has_no_jvm(locus, tmp_path):
    done = locus("repeat", "-o", tmp_path / "all", "--", "/no/such/program")
    assert done.returncode == 127 and "/no/such/program" in done.stderr and not (tmp_path / "all").exists()
    done = locus("repeat", "-n", "2", "-o", tmp_path / "all", "--", "echo", "hello")
    assert done.returncode == 1 and "0 of 2 runs counted" in done.stderr and "'echo' started no JVM" in re.sub(r"\s+", " ", done.stdout)
    done = locus("repeat", "-n", "2", "-o", tmp_path / "asked", "--", "java", "-version")
    assert done.returncode == 1 and "'java' only asked java for its version" in re.sub(r"\s+", " ", done.stdout), done.stdout
    done = locus("repeat", "-n", "2", "-o", tmp_path / "all", "--", "echo", "hello")
    assert done.returncode == 1 and "is not empty" in done.stderr
