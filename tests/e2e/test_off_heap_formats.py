# SPDX-License-Identifier: Apache-2.0
"""Blocks outside the heap, of made profiles, in every format: the same numbers, which a merge adds up and a diff compares."""

import csv
import json
import re
import sqlite3

import pytest
from synthetic import Block, Profile, engine, frame
from test_pprof import pprof

DIRECT = "java.nio.DirectByteBuffer (off-heap)"
LOAD = (frame("com.acme.Cache", "load", 20), frame("com.acme.Main", "main", 5))
FILL = (frame("com.acme.Cache", "fill", 30), frame("com.acme.Main", "main", 6))
BEFORE = (frame("(before the attach)", "", 0),)
MAPPED = "mapped _0.cfs (off-heap)"
LINE = "com.acme.Main.main:5;com.acme.Cache.load:20;[%s]" % DIRECT


def profile(path, live=3, before=True, **more):
    """`live` of 10 blocks of 1,001 bytes are live; and of 4 from before, with 400 bytes, 3."""
    block = Block().off_heap(DIRECT, LOAD, 10, 10 * 1001, 10 - live, (10 - live) * 1001)
    if before:
        block.off_heap(DIRECT, BEFORE, 0, 0, 1, 100).off_heap_before(DIRECT, BEFORE, 4, 400)
        block.off_heap_before(MAPPED, BEFORE, 1, 12345)
    block.access("object", FILL, 30, (DIRECT, LOAD)).access("object", FILL, 10, ("byte[]", FILL)).access("native", FILL, 60)
    made = Profile(path, **more)
    made.append(block.allocate("byte[]", FILL, 7, 7000))
    return made.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return profile(tmp_path_factory.mktemp("off_heap") / "p")


def rows_of(locus, *arguments):
    done = locus("report", "--format=json", "--top=1000", *arguments)
    assert done.returncode == 0, done.stderr
    return {(r["class"], r["allocated_at"]["class"]): r["off_heap"] for r in json.loads(done.stdout)["ranking"]["rows"] if "off_heap" in r}


def counts(allocated=0, allocated_bytes=0, freed=0, freed_bytes=0, before=0, before_bytes=0):
    return dict(allocated=allocated, allocated_bytes=allocated_bytes, freed=freed, freed_bytes=freed_bytes, before=before, before_bytes=before_bytes)


def test_text_and_json_have_the_blocks_from_before(locus, made):
    assert rows_of(locus, made) == {
        (DIRECT, "com.acme.Cache"): counts(10, 10010, 7, 7007), (DIRECT, "(before the attach)"): counts(0, 0, 1, 100, 4, 400),
        (MAPPED, "(before the attach)"): counts(0, 0, 0, 0, 1, 12345)}
    text = " ".join(locus("report", "--view=offheap", made).stdout.split())
    assert "15.3 KB live at the end in 7 blocks, of 9.8 KB allocated in 10, 12.4 KB in 5 from before the recording" in text
    assert "3 of 10 blocks live; 9.8 KB allocated, 6.8 KB freed; 30.0% of the samples" in text
    assert "3 of 4 blocks live, 400 B in 4 from before the recording; 0 B allocated, 100 B freed" in text


def test_tables_have_the_counts_of_json(locus, made, tmp_path):
    assert locus("report", made, "-f", tmp_path / "p.csv").returncode == 0
    rows = list(csv.DictReader(open(tmp_path / "p.csv", newline="")))
    assert [(r["offheap_allocated"], r["offheap_allocated_bytes"], r["offheap_freed"], r["offheap_freed_bytes"], r["offheap_live"],
             r["offheap_live_bytes"]) for r in rows if r["allocated_method"] == "load"] == [("10", "10010", "7", "7007", "3", "3003")]
    assert sum(int(r["offheap_live_bytes"]) for r in rows) == 3003 + 300 + 12345 and all(None not in r.values() for r in rows)
    assert locus("report", made, "-f", tmp_path / "p.sqlite").returncode == 0
    with sqlite3.connect(tmp_path / "p.sqlite") as db:
        found = db.execute("SELECT class, method, allocated, allocated_bytes, freed, freed_bytes, before, before_bytes, live, live_bytes "
                           "FROM off_heap JOIN sites ON sites.id=site JOIN lines USING(path) ORDER BY live_bytes").fetchall()
    assert found == [(DIRECT, "(before the attach)", 0, 0, 1, 100, 4, 400, 3, 300), (DIRECT, "com.acme.Cache.load", 10, 10010, 7, 7007, 0, 0, 3, 3003),
                     (MAPPED, "(before the attach)", 0, 0, 0, 0, 1, 12345, 1, 12345)]


def test_stacks_have_the_bytes(locus, made, tmp_path):
    def collapsed(kind):
        lines = locus("report", "--format=collapsed", "--stacks=" + kind, made).stdout.splitlines()
        return {stack: int(n) for stack, n in (line.rsplit(" ", 1) for line in lines)}

    live = collapsed("offheap-live")
    assert live[LINE] == 3003 and sum(live.values()) == 3003 + 300 + 12345
    assert collapsed("offheap-bytes") == {LINE: 10010}
    found = pprof(tmp_path, made)
    assert dict(found.types)["offheap_live"] == dict(found.types)["offheap_bytes"] == "bytes"
    assert found.stacks("offheap_live", "class") == live and found.sum("offheap_bytes") == 10010
    assert found.sum("samples") == 100 and found.sum("bytes") == 7000


def test_a_merge_adds_up_and_groups_and_filters_choose(locus, made, tmp_path):
    assert locus("merge", "-o", tmp_path / "m", made, profile(tmp_path / "q", live=5)).returncode == 0
    assert rows_of(locus, tmp_path / "m") == {
        (DIRECT, "com.acme.Cache"): counts(20, 20020, 12, 12012), (DIRECT, "(before the attach)"): counts(0, 0, 2, 200, 8, 800),
        (MAPPED, "(before the attach)"): counts(0, 0, 0, 0, 2, 24690)}
    classes = json.loads(locus("report", "--format=json", "--group=class", made).stdout)["ranking"]["rows"]
    assert {r["class"]: r["off_heap"] for r in classes if "off_heap" in r} == {
        DIRECT: counts(10, 10010, 8, 7107, 4, 400), MAPPED: counts(0, 0, 0, 0, 1, 12345)}
    assert set(rows_of(locus, "--include=com.acme.Cache.load", made)) == {(DIRECT, "com.acme.Cache")}


def test_a_diff_compares_and_a_leak_fails_it(locus, made, tmp_path):
    leaks = profile(tmp_path / "leaks", live=6)
    done = locus("diff", "--format=json", "--fail-on=offheap-live(DirectByteBuffer*)>+10%", "--fail-on=offheap-bytes>0", made, leaks)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert [f["holds"] for f in found["fail_on"]] == [True, False]
    row = next(r for r in found["rows"] if r["after"] and r["after"].get("allocated_at", {}).get("method") == "load")
    assert (row["off_heap_live_bytes"]["before"], row["off_heap_live_bytes"]["after"]) == (3003, 6006) and row["off_heap_live_bytes"]["significant"]
    assert row["off_heap_bytes"]["exact"] and row["off_heap_bytes"]["change"] == 0
    text = " ".join(locus("diff", made, leaks).stdout.split())
    assert "off-heap live at the end 15.3 KB to 18.2 KB, +19.2%; allocated 9.8 KB, equal" in text, text
    assert "bytes outside the heap, live at the end: 15.3 KB to 18.2 KB" in locus("diff", "--format=markdown", made, leaks).stdout
    assert locus("diff", "--fail-on=offheap-live>0", made, made).returncode == 0


def test_faults_that_waited_for_a_disk_are_named_where_they_matter(locus, tmp_path):
    """They take no CPU time, so no sample of the timer shows them."""
    cases = {"few": (900, "timer", False), "many": (5000, "timer", True), "told": (5000, "fault", False)}
    for name, (faults, kind, said) in cases.items():
        path = profile(tmp_path / name, counters={"major_faults": faults}, engines=[engine(kind)])
        assert ("5000 page faults waited for a disk; -e fault" in locus("report", path).stdout) == said, name


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme, width", [("light", 1280), ("dark", 400)])
def test_the_page_has_a_view_of_them(browser, locus, made, tmp_path, scheme, width):
    page = tmp_path / "p.html"
    assert locus("report", made, "-f", page).returncode == 0
    browser.page(page, "view=offheap", width=width, scheme=scheme)
    listed = [re.split(r"[\t\n]+", text) for text in browser.texts("#view-offheap tr.row")]
    assert [row[0] for row in listed] == ["12.1 KB", "2.9 KB", "300 B"] and listed[1][-1] == "30.0%", listed
    browser.evaluate("document.querySelectorAll('#view-offheap tr.row')[2].click()")
    detail = " ".join(browser.text("#view-offheap .detail").split())
    assert "300 B live at the end in 3 blocks" in detail and "400 B from before the recording in 4 blocks" in detail, detail
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.evaluate("document.querySelectorAll('#view-offheap tr.row')[1].click()")
    browser.click("#view-offheap .detail .link")
    assert browser.text("#view-objects h2") == DIRECT and browser.messages() == []


def test_without_blocks_there_is_no_view(browser, locus, tmp_path):
    path, page = Profile(tmp_path / "p"), tmp_path / "p.html"
    path.append(Block().access("object", FILL, 10, ("byte[]", FILL)))
    assert locus("report", path.close(), "-f", page).returncode == 0
    browser.page(page)
    assert browser.evaluate("document.getElementById('tab-offheap').hidden")
