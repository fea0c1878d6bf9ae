# SPDX-License-Identifier: Apache-2.0
"""The first screen of `locus report`, its findings, and a program with and without each of them."""

import json
import math
import os
import pathlib
import re
import shutil

import helpers
import pytest
from conftest import run_command
from oracles import FINDINGS, kinds_of, without_code


def run_of(profile_once, workload, jdk, mode):
    command = helpers.command(workload, jdk, "Findings", mode, 2.5, java=["-Xmx2g"])
    return profile_once("findings-%d-%s" % (jdk.major, mode), command)


def found_in_directory(locus, directory):
    done = locus("report", "--format=json", directory)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def found_in(locus, run):
    return found_in_directory(locus, run.directory)


@pytest.mark.recording("findings-{of[mode]}")
@pytest.mark.parametrize("of", FINDINGS, ids=lambda of: "%s-%s" % (of["mode"], of["site"]))
def test_a_program_has_the_finding_it_was_written_for(profile_once, locus, workload, jdk, of):
    report = found_in(locus, run_of(profile_once, workload, jdk, of["mode"]))
    assert kinds_of(report, of["site"]) == {of["kind"]}, report["findings"]
    assert report["no_finding"] is None
    for f in report["findings"]:
        assert 0 < f["low"] <= f["share"] <= f["high"] <= 1 and (f["gain_at_most"] or 1) >= 1
        assert f["text"].endswith(".") and f["id"].startswith(f["kind"]) and f.get("change", f["kind"] == "hot-object")
        assert "at most" not in f["text"]  # what accesses alone are worth bounds no change
        gains = f["gains"]
        assert (gains["accesses"]["at_most"] or math.inf) <= (gains["with_object"]["at_most"] or math.inf)
    lows = [f["gains"]["with_object"]["low"] for f in report["findings"]]
    assert lows == sorted(lows, reverse=True)


@helpers.each_pair(mode=("short-lived", "longer-lived"), gc=helpers.COLLECTORS)
def test_large_arrays_that_no_collection_finds_alive_are_a_finding(profile_once, locus, workload, jdk, mode, gc):
    command = helpers.command(workload, jdk, "Findings", mode, 2, java=["-Xmx512m", "-Xmn48m", *helpers.collector(gc)])
    report = found_in(locus, profile_once("findings-%d-%s-%s" % (jdk.major, mode, gc), command))
    found = [f for f in report["findings"] if f["kind"] == "short-lived"]
    if mode == "longer-lived":
        assert not found
        return
    line = helpers.marked_lines("Findings", "site")["scratch"]
    (row,) = [r for r in report["ranking"]["rows"] if r["allocated_at"] and r["allocated_at"]["line"] == line]
    assert row["collected"]["outlived_bytes"] < 0.05 * row["bytes"]
    (told,) = found
    assert not row["touched"]["never_read"]  # it is cleared, and then written and read
    assert "Findings.scratch:%d:" % line in told["text"] and "%d arrays" % row["allocations"] in told["text"]
    assert told["share"] == pytest.approx(row["gc_model_ns"] / report["bill"]["process_ns"])


@pytest.mark.slow
def test_what_cannot_be_followed_is_not_called_short_lived(tmp_path, locus, workload, jdk):
    """If copies are not seen, all objects that a collection may have moved are forgotten, and seem to be gone."""
    sealed = helpers.native_library(jdk, "sealed", tmp_path)
    if not sealed:
        pytest.skip("no C compiler on this machine")
    line = helpers.command(workload, jdk, "Findings", "longer-lived", 1.5, java=["-Xmx512m", "-Xmn48m", "-XX:+UseParallelGC"])
    run = run_command(helpers.by_hand(line, tmp_path / "prof"), env={"LD_PRELOAD": str(sealed)})
    assert run.returncode == 0
    (said,) = helpers.complaints(run.stderr)
    assert "cannot see how this JVM moves objects (Permission denied)" in said
    counters = json.loads((tmp_path / "prof" / "manifest.json").read_text())["processes"][0]["counters"]
    assert counters["gc_incomplete"] >= 5 and counters["gc_collected"] == 0
    report = json.loads(locus("report", "--format=json", tmp_path / "prof").stdout)
    assert not [f for f in report["findings"] if f["kind"] == "short-lived"]
    assert not [r for r in report["ranking"]["rows"] if "collected" in r]


@pytest.mark.recording("findings-{mode}")
@pytest.mark.parametrize("mode,walk,step", [("by-column", "stride", 1500 * 8), ("by-row", "sequential", 8)])
def test_the_step_of_a_loop_is_the_one_that_the_program_takes(profile_once, locus, workload, jdk, mode, walk, step):
    run = run_of(profile_once, workload, jdk, mode)
    row = found_in(locus, run)["ranking"]["rows"][0]
    touched = row["touched"]
    assert row["class"] == "double[]" and touched["walk"] == walk
    assert touched["steps"][0]["bytes"] == step and touched["steps"][0]["samples"] > 0.5 * row["samples"]
    assert sum(s["samples"] for s in touched["steps"]) <= touched["stepped"] <= touched["samples"] == row["samples"]
    assert sum(touched["ends"].values()) <= row["samples"] and touched["hot_end"] is None
    words = "in steps of %d bytes" % step if walk == "stride" else "sequentially"
    assert "all over, " + words in " ".join(locus("report", "--full", run.directory).stdout.split())


@pytest.mark.recording("findings-at-random")
def test_an_order_that_is_calculated_is_not_known(profile_once, locus, workload, jdk):
    touched = found_in(locus, run_of(profile_once, workload, jdk, "at-random"))["ranking"]["rows"][0]["touched"]
    assert touched["walk"] == "unknown" and touched["stepped"] < 0.1 * touched["samples"]


@pytest.mark.recording("findings-part")
def test_the_end_of_an_array_that_is_used_alone_is_hot(profile_once, locus, workload, jdk):
    touched = found_in(locus, run_of(profile_once, workload, jdk, "part"))["ranking"]["rows"][0]["touched"]
    assert touched["hot_end"] == "first" and touched["ends"]["first"] > 10 * touched["ends"]["middle"]


@pytest.mark.parametrize("mode,site", [("divisions", "table"), ("more-divisions", "records")])
def test_an_array_beside_divisions_is_no_finding(profile_once, locus, workload, jdk, mode, site):
    """Samples between divisions are at the array that is divided; without the array, the divisions take as long."""
    report = found_in(locus, run_of(profile_once, workload, jdk, mode))
    assert kinds_of(report, site) == set(), report["findings"]
    line = helpers.marked_lines("Findings", "site")[site]
    (row,) = [r for r in report["ranking"]["rows"] if r["allocated_at"] and r["allocated_at"]["line"] == line]
    touched = row["touched"]
    assert row["low"] > 0.3 and touched["elsewhere"] > 0.7 * touched["samples"]


def test_a_table_that_fits_the_first_cache_is_no_finding(profile_once, locus, workload, jdk):
    run = run_of(profile_once, workload, jdk, "in-first-cache")
    report = found_in(locus, run)
    assert kinds_of(report, "table") == set(), report["findings"]
    line = helpers.marked_lines("Findings", "site")["table"]
    (row,) = [r for r in report["ranking"]["rows"] if r["allocated_at"] and r["allocated_at"]["line"] == line]
    assert row["low"] > 0.3 and row["bytes"] == 16 * 1024 + 16


def test_one_small_object_is_no_finding(profile_once, locus, workload, jdk):
    report = found_in(locus, run_of(profile_once, workload, jdk, "one-object"))
    assert not [f for f in report["findings"] if "Cursor" in f["text"]], report["findings"]
    (row,) = [r for r in report["ranking"]["rows"] if r["class"] == "Findings$Cursor"]
    assert row["low"] > 0.3 and not row["allocated_at"] and row["touched"]["header"] == 0


@pytest.mark.recording("findings-header")
def test_what_is_read_behind_a_header_is_seen_in_the_code(profile_once, locus, workload, jdk):
    """The class is loaded first, so it is waited for; that the field of its cache line is read next takes no time."""
    on = {}
    for mode in ("header", "header-and-field"):
        rows = found_in(locus, run_of(profile_once, workload, jdk, mode))["ranking"]["rows"]
        (touched,) = [r["touched"] for r in rows if r["class"] == "Findings$Square"]
        assert touched["header"] > 0.7 * touched["known"]
        on[mode] = touched["reads_on"] / touched["header"]
    assert on["header"] < 0.1 and on["header-and-field"] > 0.5, on


@pytest.mark.recording("findings-calm")
def test_a_program_that_calculates_has_none(profile_once, locus, workload, jdk):
    run = run_of(profile_once, workload, jdk, "calm")
    report = found_in(locus, run)
    assert report["findings"] == [] and report["no_finding"].startswith("no finding")
    assert "no finding" in locus("report", run.directory).stdout


@pytest.mark.recording("findings-{mode}")
@pytest.mark.parametrize("mode", ("header", "columns", "calm"))
def test_the_report_is_one_screen_and_its_first_row_that_of_the_json(profile_once, locus, workload, jdk, mode):
    run = run_of(profile_once, workload, jdk, mode)
    text = locus("report", run.directory, env={"COLUMNS": "80"}).stdout
    lines = text.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80, text
    shown = [r for r in found_in(locus, run)["ranking"]["rows"] if not r["rest"]]
    rows = [line for line in without_code(text).splitlines() if re.match(r" *[\d.]+% +[\d.]+ to ", line)]
    assert len(rows) == min(5, len(shown)) and (rows or mode == "calm"), text
    for first, row in zip(shown[:1], rows):
        at = first["allocated_at"]
        assert row.split()[0] == "%.1f%%" % (100 * first["share"])
        assert first["class"].split(".")[-1] in row and (not at or "%s:%d" % (at["method"], at["line"]) in row)


@pytest.mark.recording("findings-header")
def test_a_narrow_screen_breaks_the_line_on_the_program_and_cuts_nothing(profile_once, locus, workload, jdk):
    run = run_of(profile_once, workload, jdk, "header")

    def head(columns):
        text = locus("report", "--since=1500ms", run.directory, env={"COLUMNS": str(columns)}).stdout
        return text[: text.index("\nnote: only what")].splitlines()

    (wide,), narrow = head(1000), head(40)
    assert len(narrow) > 1 and all(len(line) <= 40 for line in narrow)
    assert " ".join(line.strip() for line in narrow) == wide
    assert re.match(r"Findings, JDK .*, from [\d.]+ m?s to [\d.]+ s, \d+ samples", wide)


@pytest.mark.recording("findings-header")
@pytest.mark.parametrize("group", ("class+line", "class", "field", "package", "site"))
def test_rows_of_each_group_add_up(profile_once, locus, workload, jdk, group):
    run = run_of(profile_once, workload, jdk, "header")
    for options in ([], ["--thread=main"]):
        report = json.loads(locus("report", "--format=json", "--group", group, *options, run.directory).stdout)
        rows, known = report["ranking"]["rows"], report["samples"]
        assert sum(r["samples"] for r in rows) == report["ranking"]["samples"] == known["object"] + known["heap_class"]
        for r in rows:
            assert sum(s["samples"] for s in r["sites"]) == r["samples"]
            assert sum(a["samples"] for a in r["accessed_at"]) == r["samples"]
            assert all(sum(c["samples"] for c in a["callers"]) <= a["samples"] for a in r["accessed_at"])
        assert report["ranking"]["rest_samples"] == sum(r["samples"] for r in rows if r["rest"])


def test_what_is_falsely_shared_is_a_finding_and_what_is_padded_is_none(profile_once, locus, workload, jdk):
    run = profile_once("findings-%d-sharing" % jdk.major, helpers.command(
        workload, jdk, "FalseSharing", 1.5, java=["-Xmx256m", "-XX:+UseParallelGC"]), "-e", "timer")
    report = found_in(locus, run)
    texts = [f["text"] for f in report["findings"] if f["kind"] == "false-sharing"]
    named = {name for name in ("newAdjacent", "newPadded", "newSame", "newRead", "newObjects", "Counter")
             if any(name in text for text in texts)}
    assert "newAdjacent" in named and not named & {"newPadded", "newSame", "newRead"}, texts


@pytest.mark.skipif(not shutil.which("taskset"), reason="no taskset on this machine")
def test_a_program_on_one_cpu_shares_no_line(tmp_path, locus, workload, jdk):
    """Counters of one cache line, which two threads write: on one CPU each thread has the line in the core's cache."""
    cpu = str(min(os.sched_getaffinity(0)))
    line = helpers.command(workload, jdk, "FalseSharing", 1, java=["-Xmx256m", "-XX:+UseSerialGC"])
    done = locus("run", "-o", tmp_path / "prof", "--", "taskset", "-c", cpu, *line)
    assert done.returncode == 0, done.stderr
    (process,) = json.loads((tmp_path / "prof" / "manifest.json").read_text())["processes"]
    assert process["cpus"] == 1
    report = found_in_directory(locus, tmp_path / "prof")
    assert report["program"]["cpus"] == 1
    assert not [f for f in report["findings"] if f["kind"] == "false-sharing"], report["findings"]
    assert "one CPU only" in locus("report", "--view=sharing", tmp_path / "prof").stdout
    assert locus("merge", "-o", tmp_path / "merged", tmp_path / "prof").returncode == 0
    assert found_in_directory(locus, tmp_path / "merged")["program"]["cpus"] == 1
    # Nobody knows of a profile of an older Locus.
    del process["cpus"]
    manifest = json.loads((tmp_path / "prof" / "manifest.json").read_text())
    manifest["processes"] = [process]
    (tmp_path / "prof" / "manifest.json").write_text(json.dumps(manifest))
    assert "cpus" not in found_in_directory(locus, tmp_path / "prof")["program"]
    assert "one CPU only" not in locus("report", "--view=sharing", tmp_path / "prof").stdout


@pytest.mark.recording("findings-header")
def test_the_manifest_says_how_many_cpus_the_program_may_use(profile_once, workload, jdk):
    run = run_of(profile_once, workload, jdk, "header")
    (process,) = json.loads((pathlib.Path(run.directory) / "manifest.json").read_text())["processes"]
    assert process["cpus"] == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("mode,kind", [
    *(pytest.param(*of, marks=pytest.mark.quiet) for of in (
        ("fine", "fine-tasks"), ("coarse", "coarse-tasks"), ("tiny", "tiny-streams"))),
    ("uneven", "uneven-workers"), ("none", None),
])
def test_tasks_and_streams_have_the_finding_they_were_written_for(profile_once, locus, workload, jdk, mode, kind):
    command = helpers.command(workload, jdk, "SpanFindings", mode)
    run = profile_once("span-findings-%d-%s" % (jdk.major, mode), command, "--spans=streams,tasks")
    report = found_in(locus, run)
    found = {f["kind"]: f for f in report["findings"] if not f["kind"].startswith(("hot", "one", "header", "never"))}
    assert set(found) == ({kind} if kind else set()), report["findings"]
    if kind:
        line = helpers.marked_lines("SpanFindings", "site")[mode]
        spans = json.loads(locus("spans", "--format=json", run.directory).stdout)
        (told,) = [d for d in spans["diagnoses"] if d["verdict"] == "finding"]
        at = told["location"] or told["creation"]
        assert at["line"] == line and told["summary"] in found[kind]["text"] and told["change"] == found[kind]["change"]


def test_a_stream_that_repeats_itself_is_a_finding(profile_once, locus, workload, jdk):
    kinds = []
    for mode, numbers in (("slow", 1500), ("fast", 6000)):
        run = profile_once("repeated-%d-%s" % (jdk.major, mode),
                           helpers.command(workload, jdk, "SpanInvariant", mode, numbers), "--spans=streams")
        kinds.append({f["kind"] for f in found_in(locus, run)["findings"]})
    assert "same-streams" in kinds[0] and "same-streams" not in kinds[1]


def test_interpreted_code_is_no_verdict(profile_once, locus, workload, jdk):
    """Its accesses to objects are not seen: that no object is hot would be said of what nobody looked at."""
    for seconds in (2.5, 10, 40):  # a busy machine needs longer for as many samples
        command = helpers.command(workload, jdk, "Findings", "at-random", seconds, java=["-Xint", "-Xmx2g"])
        run = profile_once("findings-%d-interpreted-%g" % (jdk.major, seconds), command)
        text = locus("report", run.directory).stdout
        if "too few samples" not in text:
            break
    (line,) = re.findall(r"^no finding: (\S+)% of the samples are in interpreted code", text, re.M)
    report = found_in(locus, run)
    assert float(line) > 90 and report["findings"] == []
    assert float(line) == pytest.approx(100 * report["details"]["where"]["interpreter"] / report["samples"]["total"], abs=0.06)
