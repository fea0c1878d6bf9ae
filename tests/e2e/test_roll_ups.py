# SPDX-License-Identifier: Apache-2.0
"""Sums over rows are those of what they roll up: in every group, format and filter."""

import json
import re

import helpers
import pytest
import test_golden_reports as golden
from oracles import without_code

GROUPS = ("class+line", "class", "field", "package", "site")
FILTERS = ([], ["--thread=worker"], ["--engine=timer"])


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    return golden.objects(tmp_path_factory.mktemp("roll") / "p")


@pytest.fixture
def recorded(profile_once, workload, jdk):
    """A program with tracked arrays, small objects of two classes, and estimates of their lines."""
    command = helpers.command(workload, jdk, "Findings", "header", 2.5, java=["-Xmx2g"])
    return profile_once("findings-%d-header" % jdk.major, command).directory


def report(locus, path, *options):
    done = locus("report", "--format=json", *options, path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_json(found):
    """Returns the samples of all rows."""
    ranking, total = found["ranking"], found["samples"]["total"]
    rows = ranking["rows"]
    assert sum(found["samples"][b] for b in found["samples"] if b != "total") == total
    known = sum(a["samples"] for a in found["other_accesses"] if a["bucket"] in ("object", "heap_class"))
    in_objects = found["samples"]["object"] + found["samples"]["heap_class"]
    assert in_objects - known <= ranking["samples"] <= in_objects
    assert sum(r["samples"] for r in rows) == ranking["samples"]
    assert ranking["rest_samples"] == sum(r["samples"] for r in rows if r["rest"])
    assert [r["rest"] for r in rows] == sorted(r["rest"] for r in rows)
    for r in rows:
        assert r["share"] == pytest.approx(r["samples"] / total)
        assert 0 <= r["low"] <= r["share"] <= r["high"] <= 1
        assert r["rest"] == (r["samples"] < 5 or r["low"] <= 0)
        assert sum(part["samples"] for part in r["sites"]) == r["samples"]
        assert sum(line["samples"] for line in r["accessed_at"]) == r["samples"]
        assert all(sum(c["samples"] for c in line["callers"]) <= line["samples"] for line in r["accessed_at"])
        assert 0 <= r["estimated"] <= r["samples"]
        assert r["touched"]["header"] <= r["touched"]["known"]
        assert sum(f["samples"] for f in r.get("fields", [])) == r["touched"]["known"]
    return ranking["samples"]


def text_rows(text):
    """(share in tenths of a percent of each row, of the rest)."""
    text = without_code(text)
    rows = re.findall(r"^ *([\d.]+)% +[\d.]+ to [\d.]+ ", text, re.M)
    rest = re.findall(r"^ *([\d.]+)% +the rest: ", text, re.M)
    return [float(r) for r in rows], sum(map(float, rest))


def check_own_methods(found):
    """Each sample is below one own method, or below none; each method has its classes' samples, and others."""
    methods = found["code"]["own_methods"]
    assert sum(m["samples"] for m in methods) + found["code"]["not_own"] == found["samples"]["total"]
    for m in methods:
        assert not re.match(r"(java|javax|jdk|sun)\.", m["class"]) and m["low"] <= m["share"] <= m["high"], m
        assert sum(c["samples"] for c in m["classes"]) <= m["samples"]
    by_class = {}
    for m in methods:
        for c in m["classes"]:
            by_class[c["class"]] = by_class.get(c["class"], 0) + c["samples"]
    whole = {}
    for s in [*found["sites"], *found["classes"]]:
        whole[s["class"]] = whole.get(s["class"], 0) + s["samples"]
    assert all(n <= whole[c] for c, n in by_class.items()), (by_class, whole)


def check_all(locus, path, filters):
    totals, allocated = set(), set()
    for group in GROUPS:
        options = ["--group", group, *filters]
        found = report(locus, path, *options)
        check_own_methods(found)
        totals.add(check_json(found))
        if group != "field":  # nobody allocates a field
            allocated.add((sum(r["allocations"] for r in found["ranking"]["rows"]),
                           sum(r["bytes"] for r in found["ranking"]["rows"])))
        whole = 100 * found["ranking"]["samples"] / found["samples"]["total"]
        for view in ("brief", "objects"):
            text = locus("report", "--view", view, "--top=100000", *options, path).stdout
            rows, rest = text_rows(text)
            assert len(rows) == sum(not r["rest"] for r in found["ranking"]["rows"]), (view, text)
            assert sum(rows) + rest == pytest.approx(whole, abs=0.05 * (len(rows) + 1) + 0.01), view
        text = locus("report", "--view=alloc", "--top=100000", *options, path).stdout
        shares = re.findall(r"^ *([\d.]+)% +~?[\d.]+ [KMGT]?B  ", text, re.M)
        assert not shares or sum(map(float, shares)) == pytest.approx(100, abs=0.05 * len(shares) + 0.01)
    assert len(totals) == 1 and len(allocated) == 1, (totals, allocated)
    stacks = locus("report", "--format=collapsed", *filters, path).stdout.splitlines()
    in_objects = sum(int(s.rsplit(" ", 1)[1]) for s in stacks)
    assert in_objects >= totals.pop()


@pytest.mark.parametrize("filters", FILTERS, ids=" ".join)
def test_rows_of_two_processes_and_three_engines_add_up(locus, synthetic, filters):
    check_all(locus, synthetic, filters)


@pytest.mark.recording("findings-header")
@pytest.mark.parametrize("filters", ([], ["--thread=main"]), ids=" ".join)
def test_rows_of_a_recorded_program_add_up(locus, recorded, filters):
    check_all(locus, recorded, filters)


def test_threads_add_up_to_all(locus, synthetic):
    whole = report(locus, synthetic)
    by_thread = [report(locus, synthetic, "--thread=%d" % tid) for tid in (100, 101)]
    assert sum(r["samples"]["total"] for r in by_thread) == whole["samples"]["total"]
    assert sum(r["ranking"]["samples"] for r in by_thread) == whole["ranking"]["samples"]


@pytest.mark.parametrize("columns", (40, 60, 80, 120, 200))
@pytest.mark.parametrize("of", (golden.objects, golden.numa, golden.one_node, golden.damaged))
def test_the_first_screen_fits(locus, tmp_path, of, columns):
    text = locus("report", of(tmp_path / "p"), env={"COLUMNS": str(columns)}).stdout
    lines = text.splitlines()
    wide = [line for line in lines if len(line) > columns]
    assert wide in ([], ["  locus run --track-from PROFILE -- COMMAND"]) and (columns < 80 or len(lines) <= 40), text
    assert "\x1b" not in text
