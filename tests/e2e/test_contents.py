# SPDX-License-Identifier: Apache-2.0
"""The contents of arrays, as the pauses of collections show them, are those that the program put there."""

import csv
import io
import json
import sqlite3

import pytest
from helpers import COLLECTORS, collector, command, complaints, counters, marked_lines, report
from synthetic import Block, Profile, frame

CLASS = "Contents"
OBJECTS = "view=objects"
MADE = ("byte[]", (frame("com.acme.Codec", "encode", 20), frame("com.acme.Main", "main", 5)))
OTHER = ("char[]", MADE[1])
SEEN = dict(dead=105, zero=5, size=100 * 8192, used=100 * 90, parts=(100, 0, 0, 0, 0), outlived=40, same=10, other=20)


def contents(workload, profile, jdk, gc, rounds):
    java = ["-Xmx256m", "-Xmn32m", *collector(gc)]
    run = profile(command(workload, jdk, CLASS, rounds, java=java))
    assert complaints(run.stderr) == []
    r = report(run, "--top=100")
    lines = marked_lines(CLASS, "site")
    seen = {}
    for row in r["ranking"]["rows"]:
        at = row["allocated_at"] or {}
        if at.get("class") == CLASS and "contents" in row:
            seen[next(name for name, line in lines.items() if line == at["line"])] = row["contents"]
    return run, r, seen


def check_contents(seen):
    little, full, sparse, zeros = (seen[name] for name in ("little", "full", "sparse", "unwritten"))
    assert min(c["dead"] for c in (little, full, sparse, zeros)) > 0
    assert little["used_bytes"] == 90 * little["dead"] and little["bytes"] == 8192 * little["dead"]
    assert little["to_64th"] == little["dead"] and little["zero"] == 0
    assert full["used_bytes"] == full["bytes"] == 8192 * full["dead"]
    assert zeros["zero"] == zeros["dead"] and zeros["bytes"] == 0
    # The last of 16 numbers at random places is in the lower half once in 65,536 arrays.
    assert sparse["used_bytes"] > 0.8 * sparse["bytes"] and sparse["to_half"] <= 1
    if "large" in seen:
        assert seen["large"]["used_bytes"] == 13000 * seen["large"]["dead"]
        assert seen["large"]["to_8th"] == seen["large"]["dead"]
    if "huge" in seen:
        assert seen["huge"]["to_64th"] == seen["huge"]["dead"]


@pytest.mark.parametrize("gc", COLLECTORS)
def test_the_used_part_of_dead_arrays_is_known(workload, profile, jdk, gc):
    run, r, seen = contents(workload, profile, jdk, gc, 250000)
    check_contents(seen)
    told = counters(run)
    assert told["contents_arrays"] >= sum(c["dead"] + c["outlived"] for c in seen.values())
    assert told["contents_bytes"] <= 65536 * (told["gc_collected"] - told["contents_paused"])
    assert told["contents_us"] * 1000 < 0.002 * r["bill"]["process_ns"]


@pytest.mark.slow
@pytest.mark.parametrize("gc", COLLECTORS)
def test_arrays_that_are_little_used_or_equal_are_findings(locus, workload, profile, jdk, gc):
    run, r, seen = contents(workload, profile, jdk, gc, 800000)
    check_contents(seen)
    kept, lines = seen["equal"], marked_lines(CLASS, "site")
    assert kept["outlived"] >= 20
    # Three in four have one of four contents, the others their own.
    assert 0.5 <= kept["equal_same_line"] / kept["outlived"] <= 0.9 and kept["equal_other_line"] == 0
    found = {f["rows"][0]["allocated_at"]["line"]: f for f in r["findings"] if f["kind"] == "oversized"}
    assert set(found) <= {lines["little"], lines["large"], lines["huge"]}
    assert "first 64th part (on average 90 B of 8.0 KB, 1.1%)" in found[lines["little"]]["text"]
    text = " ".join(locus("report", "--view=objects", "--top=100", run.directory).stdout.split())
    assert "used 1.1% of 8.0 KB on average, at most 1/64 in" in text


@pytest.mark.slow
@pytest.mark.parametrize("gc", ["Z", "Shenandoah"])
def test_where_objects_move_while_the_program_runs_nothing_is_looked_into(workload, profile, jdk, gc):
    run = profile(command(workload, jdk, CLASS, 100000, java=["-Xmx256m", *collector(gc)]))
    assert counters(run)["contents_arrays"] == 0
    assert not any("contents" in row for row in report(run)["ranking"]["rows"])


def made(path, **seen):
    block = Block().access("object", MADE[1], 50, MADE).allocate(*MADE, 2000, 2000 * 8208).allocate(*OTHER, 10, 1000)
    return Profile(path).append(block.content(MADE, **dict(SEEN, **seen))).close()


def test_every_format_has_what_was_seen_in_arrays(locus, tmp_path):
    path, larger = made(tmp_path / "p"), made(tmp_path / "larger", used=100 * 3000, parts=(0, 0, 0, 0, 100))
    assert locus("report", path, "-f", tmp_path / "p.sqlite").returncode == 0
    with sqlite3.connect(tmp_path / "p.sqlite") as db:
        assert db.execute("SELECT class, contents.* FROM contents JOIN sites ON sites.id = site").fetchall()[0][2:] == (
            105, 5, 819200, 9000, 100, 0, 0, 0, 0, 40, 10, 20)
    rows = list(csv.DictReader(io.StringIO(locus("report", "--format=csv", path).stdout)))
    assert [[row["contents_" + k] for k in ("dead", "zero", "bytes", "used_bytes", "outlived", "equal")] for row in rows] == [
        ["105", "5", "819200", "9000", "40", "30"], ["0"] * 6]
    text, same = (" ".join(locus("diff", "--top=10", path, other).stdout.split()) for other in (larger, path))
    assert "arrays looked at used 36.6% on average, before 1.1%" in text and "arrays looked at" not in same, text
    sides = next(r for r in json.loads(locus("diff", "--format=json", path, larger).stdout)["rows"] if r["after"]["class"] == "byte[]")
    assert (sides["before"]["used_share"], sides["after"]["used_share"]) == (pytest.approx(0.010986, abs=1e-6), pytest.approx(0.366211, abs=1e-6))


def test_the_page_has_them_at_the_row(browser, locus, tmp_path):
    page = tmp_path / "p.html"
    assert locus("report", made(tmp_path / "p"), "-f", page).returncode == 0
    browser.page(page, OBJECTS)
    browser.evaluate("document.querySelectorAll('#view-objects .row')[0].click()")
    browser.click(".faces [data-face=life]")
    cells = browser.evaluate("Array.from(document.querySelectorAll('.face tbody tr'), (r) => Array.from(r.cells, (c) => c.textContent))")
    assert ["dead, used on average 90 B of 8.0 KB", "100", "1.1%"] in cells and ["dead, nothing but zeros", "5", "4.8%"] in cells, cells
    assert ["of these, equal to one of another line", "20", "50%"] in [[c.replace(".0%", "%") for c in row] for row in cells], cells
    assert browser.messages() == []
