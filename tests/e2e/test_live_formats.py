# SPDX-License-Identifier: Apache-2.0
"""Live objects, of made profiles, in every format: the same numbers, which a diff compares."""

import json
import re
import sqlite3

import pytest
from conftest import ROOT
from synthetic import Block, Profile, frame
from test_pprof import pprof

NS = 10**9
DIRECT = "java.nio.DirectByteBuffer (off-heap)"
NODE = "com.acme.Node"
LOAD = (frame("com.acme.Cache", "load", 20), frame("com.acme.Main", "main", 5))
FILL = (frame("com.acme.Cache", "fill", 30), frame("com.acme.Main", "main", 6))
LEAK, NODES, BLOCK = ("byte[]", LOAD), (NODE, FILL), (DIRECT, FILL)
STRETCHES = 30
MB = 1 << 20
CHAIN = "static com.acme.Cache.map -> java.util.HashMap.table[]"
LINE = "com.acme.Main.main:5;com.acme.Cache.load:20;[byte[]]"


def profile(path, end=30 * MB, live=True, old=STRETCHES):
    """A line grows by a 30th of `end` each second; another is steady, and estimated."""
    block = Block().access("object", LOAD, 40, LEAK).access("native", FILL, 60).allocate(*LEAK, 300, 300 * MB)
    block.off_heap(*BLOCK, 2, 8192)
    for i in range(STRETCHES if live else 0):
        at = (i + 1) * NS
        block.live("least", at, None, 2, 40 * MB + i * end // STRETCHES, sampled=int(i < old))
        block.live("least", at, LEAK, i + 1, (i + 1) * end // STRETCHES)
        if not i:
            block.live("least", at, NODES, 0, 0, 20, (2000, 200000), (80000, 20 << 20))
            block.live("least", at, BLOCK, 2, 8192)
    if live:
        at = (STRETCHES + 1) * NS
        block.live("now", at, None, 60, 75 * MB, sampled=30).live("now", at, LEAK, 30, end).live("now", at, BLOCK, 2, 8192)
        block.live("now", at, NODES, 0, 0, 20, (2000, 200000), (80000, 20 << 20)).live("young", at, LEAK, 3, 3 * MB)
        block.held_by(at - 5, LEAK, "static old.Walk.map", 16).held_by(at + 1, LEAK, CHAIN, 12).held_by(at + 1, LEAK, "thread -> A.b", 3)
        block.held_by(at + 1, LEAK, "", 1)
        block.ages(at - 1, LEAK, 900, 0, 0, 0, 0).ages(at, LEAK, 3, 6, 6, 6, 9).ages(at, NODES, 0, 0, 500, 500, 1000)
    return Profile(path, counters={"heap_max_bytes": 256 * MB}).append(block, end=(STRETCHES + 1) * NS).close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return profile(tmp_path_factory.mktemp("live") / "p")


def lines_of(locus, made):
    live = json.loads(locus("report", "--format=json", made).stdout)["live"]
    return {line["class"]: line for line in live["lines"]}


def test_holders_are_those_of_the_last_walk(locus, made, tmp_path):
    lines = lines_of(locus, made)
    assert lines["byte[]"]["holders"] == {"looked_at": 16, "chains": [{"objects": 12, "chain": CHAIN}, {"objects": 3, "chain": "thread -> A.b"}]}
    assert "holders" not in lines[NODE]
    text = " ".join(locus("report", "--view=live", made).stdout.split())
    assert "held by %s (12 of 16 objects looked at) held by thread -> A.b (3 of 16 objects looked at)" % CHAIN in text and "old.Walk" not in text
    found = [f for f in json.loads(locus("report", "--format=json", made).stdout)["findings"] if f["kind"] == "grows"]
    assert "12 of 16 objects looked at are held by static Cache.map -> HashMap.table[]." in found[0]["text"]
    both = tmp_path / "both"
    assert locus("merge", "-o", both, made, profile(tmp_path / "other")).returncode == 0
    assert lines_of(locus, both)["byte[]"]["holders"]["chains"][0] == {"objects": 24, "chain": CHAIN}


def test_ages_are_those_after_the_last_collection(locus, made):
    live = json.loads(locus("report", "--format=json", made).stdout)["live"]
    assert lines_of(locus, made)["byte[]"]["ages"] == [3, 6, 6, 6, 9] and "ages" not in lines_of(locus, made)[DIRECT]
    assert [a["collections"] for a in live["ages"]] == [12, 24, 36, 48, 60] and [a["seconds"] for a in live["ages"]] == [6, 12, 18, 24, 30]
    text = " ".join(locus("report", "--view=live", made).stdout.split())
    assert "youngest first: up to 12 (6.0 s), 24 (12.0 s), 36 (18.0 s), 48 (24.0 s), 60 (30.0 s)." in text, text
    assert "ages 10%, 20%, 20%, 20%, 30%" in text and "ages 0%, 0%, 25%, 25%, 50%" in text, text


@pytest.mark.parametrize("old, grows", [(STRETCHES, True), (STRETCHES * 3 // 4, True), (STRETCHES // 2, False)])
def test_a_line_grows_to_the_end_of_the_recording(locus, tmp_path, old, grows):
    """Without a collection of old objects in the last third, nothing tells whether a line that grew has stopped."""
    path = profile(tmp_path / "p", old=old)
    line, found = lines_of(locus, path)["byte[]"], json.loads(locus("report", "--format=json", path).stdout)["findings"]
    assert (len(line["series"]), line["growth"]["to_the_end"]) == (old, grows) and line["growth"]["z"] > 4
    assert ("grows" in [f["kind"] for f in found]) == grows


def test_without_a_collection_the_view_says_what_to_do(locus, tmp_path):
    block = Block().access("native", FILL, 60).off_heap(*BLOCK, 2, 8192).live("now", NS, None, 0, 0).live("now", NS, BLOCK, 2, 8192)
    Profile(tmp_path / "p", counters={"heap_max_bytes": 256 * MB}).append(block, end=2 * NS).close()
    text = " ".join(locus("report", "--view=live", tmp_path / "p").stdout.split())
    assert text.startswith("No collection was seen") and "jcmd PID GC.run" in text and "8.0 KB live" in text, text


@pytest.mark.parametrize("known, reached, grows", [(5000, 128, True), (5000, 112, False), (128, 125, True), (100, 80, False)])
def test_a_walk_of_the_heap_tells_whether_what_young_collections_leave_is_live(locus, tmp_path, known, reached, grows):
    """Without a collection of old objects, the dead ones are bounded by those that the walk has not reached."""
    looked_for = min(known, 128)
    path = tmp_path / "p"
    block = Block().access("object", LOAD, 40, LEAK).allocate(*LEAK, 300, 300 * MB)
    for i in range(STRETCHES):
        block.live("least", (i + 1) * NS, None, 2, (40 + i) * MB).live("least", (i + 1) * NS, LEAK, i + 1, (i + 1) * MB)
    block.live("now", (STRETCHES + 1) * NS, None, 60, 75 * MB).live("now", (STRETCHES + 1) * NS, LEAK, STRETCHES, STRETCHES * MB)
    block.held((STRETCHES + 1) * NS - 5, LEAK, known, looked_for, reached).held_by((STRETCHES + 1) * NS - 5, LEAK, CHAIN, 16)
    Profile(path, counters={"heap_max_bytes": 256 * MB}).append(block, end=(STRETCHES + 1) * NS).close()
    line, found = lines_of(locus, path)["byte[]"], json.loads(locus("report", "--format=json", path).stdout)["findings"]
    assert line["walk"] == {"known": known, "looked_for": looked_for, "reached": reached} and len(line["series"]) == (STRETCHES if grows else 0)
    assert [f["kind"] for f in found if f["kind"] == "grows"] == (["grows"] if grows else [])
    text = " ".join(locus("report", path).stdout.split())
    assert ("%d of %d objects looked for in the heap are live" % (reached, looked_for) in text) == grows
    if grows:
        assert line["growth"]["by_walk"] and line["growth"]["bytes_per_second"] == pytest.approx(MB)
        assert line["growth"]["low"] < MB * (1 - (looked_for - reached) / looked_for) <= MB


@pytest.mark.parametrize("old", [0, 7, 8])
def test_a_note_names_the_line_that_may_grow(locus, tmp_path, old):
    """Eight collections of old objects tell that it does not grow to the end."""
    path = profile(tmp_path / "p", old=old)
    text = " ".join(locus("report", path).stdout.split())
    note = "byte[] of c.a.Cache.load:20 grows by 60.0 MB a minute, unless its old objects are dead: 30 of 60 collections looked at old objects. "
    assert (note + "A recording with --holders tells whether they are" in text) == (old < 8)


def test_a_part_of_the_time_has_its_own_growth(locus, tmp_path):
    """Steady for 15 s and growing for 15 s. A site without a row held as much as before, in a block that the range leaves out."""
    path = Profile(tmp_path / "p", counters={"heap_max_bytes": 256 * MB})
    for half in range(2):
        block = Block().access("object", LOAD, 400, LEAK).allocate(*LEAK, 300, 300 * MB)
        for i in range(15 * half, 15 * half + 15):
            block.live("least", (i + 1) * NS, None, 2, 40 * MB, sampled=1)
            if half or not i:
                block.live("least", (i + 1) * NS, LEAK, 1, (i + 1 - 14 * half) * MB)
            if not i:
                block.live("least", NS, NODES, 5, 5 * MB)
        if half:
            block.live("now", 31 * NS, None, 60, 41 * MB, sampled=30).live("now", 31 * NS, LEAK, 30, 16 * MB).live("now", 31 * NS, NODES, 5, 5 * MB)
        path.append(block, begin=(15 * half + 1) * NS, end=(15 * half + 16) * NS)
    path.manifest["processes"][0]["end_monotonic_ns"] = 31 * NS
    path = path.close()

    def lines(*options):
        r = json.loads(locus("report", "--format=json", *options, path).stdout)
        return r, {line["class"]: line for line in r["live"]["lines"]}

    r, since = lines("--since=15s")
    assert (since["byte[]"]["growth"]["bytes_per_second"], since[NODE]["growth"]["bytes_per_second"]) == (MB, 0) and r["live"]["collections"] == 30
    assert [p[1] for p in since[NODE]["series"]] == 15 * [5 * MB] and [f["kind"] for f in r["findings"]][:1] == ["grows"]
    r, until = lines("--until=15s")
    assert (until["byte[]"]["live"]["bytes"], until["byte[]"]["growth"]["bytes_per_second"]) == (MB, 0) and "grows" not in [f["kind"] for f in r["findings"]]


def test_the_database_has_the_state_and_the_curve(locus, made, tmp_path):
    lines = lines_of(locus, made)
    assert lines["byte[]"]["live"] == {"objects": 30, "bytes": 30 * MB} and lines[NODE]["live"]["estimated_bytes"]["value"] == 80000
    assert locus("report", made, "-f", tmp_path / "p.sqlite").returncode == 0
    with sqlite3.connect(tmp_path / "p.sqlite") as db:
        now = db.execute("SELECT class, method, off_heap, objects, live.bytes, sampled, estimated_objects, estimated_bytes, "
                         "estimated_bytes_low < estimated_bytes AND estimated_bytes < estimated_bytes_high FROM live JOIN sites ON sites.id=site "
                         "JOIN lines USING(path) ORDER BY live.bytes DESC").fetchall()
        series = db.execute("SELECT start_ns, objects, live_series.bytes FROM live_series JOIN sites ON sites.id=site WHERE class='byte[]' "
                            "ORDER BY start_ns").fetchall()
        most = db.execute(re.search("hold most.*?```sql\n(.*?)```", (ROOT / "docs" / "SQLITE.md").read_text(), re.S).group(1)).fetchall()
        heap = db.execute("SELECT start_ns, collections, old_collections, bytes FROM live_heap ORDER BY start_ns").fetchall()
        ages = db.execute("SELECT fifth, objects FROM live_ages JOIN sites ON sites.id=site WHERE class='byte[]' AND "
                          "time_ns=(SELECT max(time_ns) FROM live_ages) ORDER BY fifth").fetchall()
        chains = db.execute("SELECT chain, objects FROM holders WHERE time_ns=(SELECT max(time_ns) FROM holders) ORDER BY objects DESC").fetchall()
    assert now == [("byte[]", "com.acme.Cache.load", 0, 30, 30 * MB, 0, 0, 0, 0), (DIRECT, "com.acme.Cache.fill", 1, 2, 8192, 0, 0, 0, 0),
                   (NODE, "com.acme.Cache.fill", 0, 0, 0, 20, 2000, 80000, 1)]
    assert most == [("byte[]", "com.acme.Cache.load:20", 30 * MB), (NODE, "com.acme.Cache.fill:30", 80000)]
    assert series == [(i * NS, i + 1, (i + 1) * MB) for i in range(STRETCHES)]
    assert ages == [(1, 3), (2, 6), (3, 6), (4, 6), (5, 9)] and chains == [(CHAIN, 12), ("thread -> A.b", 3), (None, 1)]
    assert heap == [(i * NS, 2, 1, (40 + i) * MB) for i in range(STRETCHES)]


def test_stacks_have_the_bytes_of_objects(locus, made, tmp_path):
    lines = locus("report", "--format=collapsed", "--stacks=live-bytes", made).stdout.splitlines()
    live = {stack: int(n) for stack, n in (line.rsplit(" ", 1) for line in lines)}
    assert live == {LINE: 30 * MB, "com.acme.Main.main:6;com.acme.Cache.fill:30;[%s]" % NODE: 80000}
    found = pprof(tmp_path, made)
    assert dict(found.types)["inuse_objects"] == "count" and dict(found.types)["inuse_space"] == "bytes"
    assert found.stacks("inuse_space", "class") == live and found.sum("inuse_objects") == 30 + 2000
    assert found.sum("offheap_live") == 8192 and found.sum("samples") == 100


def test_the_footprint_divides_the_bytes_of_a_class(locus, made, tmp_path):
    """HashMap$Node by JOL: 12 bytes of header, four fields of 4, 4 of padding; 24 bytes with compact headers."""
    block = Block().live("now", 2 * NS, None, 1, MB).live("now", 2 * NS, NODES, 1000, 32000).live("now", 2 * NS, LEAK, 10, 1000)
    block.live("now", 2 * NS, (NODE, LOAD), 0, 0, 20, (1024, 9000), (32768, 9 << 20)).live("now", 2 * NS, ("com.acme.Other", LOAD), 1, 16)
    block.content(LEAK, dead=30, zero=5, size=25 * 84, used=25 * 21, parts=(0, 0, 0, 25, 0))
    block.layout((NODE, LOAD), 32, 0, "").access("object", LOAD, 5, LEAK)
    for i, name in enumerate(("hash", "key", "value", "next")):
        block.layout((NODE, LOAD), 12 + 4 * i, 4, name)
    sizes = dict(object_header_bytes=12, object_alignment_bytes=8, reference_bytes=4, array_base_bytes=16, array_base_longs=16, array_base_references=16)
    path = Profile(tmp_path / "p", counters=sizes).append(block).close()
    found = json.loads(locus("report", "--format=json", path).stdout)["footprint"]
    node, array, other = found["classes"]
    assert (node["class"], node["objects"], node["bytes"], node["counted_objects"], node["sampled"]) == (NODE, 2024, 64768, 1000, 20)
    assert node["objects_low"] < 2024 < node["objects_high"]
    assert node["object"] == {"header": 12, "bytes": 32, "fields": 16, "padding": 4, "compact_saves": 8, "narrower_by": 4}
    assert (array["looked_bytes"], array["unused_bytes"]) == (1000, 0.75 * (1000 - 10 * 16)) and "unused_bytes" not in node
    assert array["object"] == {"header": 16, "padding_most": 7} and other["object"] == {"header": 12}
    text = " ".join(locus("report", "--view=footprint", path).stdout.split())
    assert "~63.2 KB com.acme.Node ~2024 objects" in text and "of 32 bytes: header 12, fields 16, padding 4; all headers ~23.7 KB" in text, text
    assert "compact headers save 8 each: ~15.8 KB; fields shorter by 4 save 8 each: ~15.8 KB" in text
    assert "1000 B byte[] 10 objects; all headers 160 B (16 each, with the length), padding at most 7 each: 70 B; unused elements ~630 B of 1000 B, if" in text
    assert "1 object; all headers 12 B; its fields are not known" in text
    assert "The sizes of headers are not known" in locus("report", "--view=footprint", made).stdout


def test_a_diff_compares_and_a_leak_fails_it(locus, made, tmp_path):
    leaks = profile(tmp_path / "leaks", end=45 * MB)
    done = locus("diff", "--format=json", "--fail-on=live(byte*)>+49%", "--fail-on=live(byte*)>+50%", "--fail-on=live(Node)>0", made, leaks)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert [f["holds"] for f in found["fail_on"]][:2] == [True, False] and found["fail_on"][2]["holds"] is not True
    rows = {(r["after"] or r["before"])["class"]: r["live_bytes"] for r in found["rows"] if "live_bytes" in r}
    assert (rows["byte[]"]["before"], rows["byte[]"]["after"], rows["byte[]"]["exact"]) == (30 * MB, 45 * MB, True)
    assert rows[NODE]["estimate"] and not rows[NODE]["significant"] and DIRECT not in rows
    assert found["summary"].endswith("allocations are equal; live bytes changed in 1 of 3 rows, in all by +49.9%"), found["summary"]
    text = " ".join(locus("diff", made, leaks).stdout.split())
    assert "live bytes ~30.1 MB to ~45.1 MB, +49.9%" in text, text
    assert re.search(r"rows whose live bytes changed, most bytes first byte\[\] <- c.a.Cache.load:20 30.0 MB to 45.0 MB, \+50.0%", text), text
    markdown = locus("diff", "--format=markdown", made, leaks).stdout
    assert "- bytes live after the last collection: \\~30.1 MB to" in markdown and "30.0 MB to 45.0 MB, +50.0% |\n" in markdown, markdown


def test_what_one_side_has_not_recorded_is_not_compared(locus, made, tmp_path):
    old = profile(tmp_path / "old", live=False)
    done = locus("diff", "--format=json", "--fail-on=live>0", old, made)
    assert json.loads(done.stdout)["fail_on"][0]["holds"] is None and "live_bytes" not in json.loads(done.stdout)["total"]
    assert "inuse_space" not in dict(pprof(tmp_path, old).types)
    assert locus("report", "--format=collapsed", "--stacks=live-bytes", old).stdout == ""


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme, width", [("light", 1280), ("dark", 400)])
def test_the_page_has_a_view_with_a_curve(browser, locus, made, tmp_path, scheme, width):
    page = tmp_path / "p.html"
    assert locus("report", made, "-f", page).returncode == 0
    browser.page(page, "view=live", width=width, scheme=scheme)
    listed = [re.split(r"[\t\n]+", text) for text in browser.texts("#view-live tr.row")]
    assert [row[0] for row in listed] == ["30.0 MB", "~78.1 KB", "8.0 KB"], listed
    assert "60.0 MB" in listed[0], listed
    browser.evaluate("document.querySelectorAll('#view-live tr.row')[0].click()")
    detail = " ".join(browser.text("#view-live .detail").split())
    assert "30.0 MB live in 30 objects" in detail and "40.0% of the heap in use" in detail and "3.0 MB younger" in detail, detail
    assert "60 collections, 30 of old objects, too" in detail and "0 ns" not in detail
    points = browser.evaluate("document.querySelector('#view-live polyline').getAttribute('points')").split()
    assert len(points) == STRETCHES and float(points[-1].split(",")[1]) < float(points[0].split(",")[1])
    chains = browser.evaluate("[...document.querySelectorAll('#view-live .chains li')].map((item) => item.textContent)")
    assert chains == [CHAIN + " (12)", "thread -> A.b (3)"] and "references to 16 of the objects" in detail
    bars = browser.evaluate("[...document.querySelectorAll('#view-live .ages rect')].map((bar) => Number(bar.getAttribute('height')))")
    assert len(bars) == 5 and bars[0] < bars[1] == bars[3] < bars[4] and "up to 12 collections (6 s)" in detail, (bars, detail)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.click("#view-live .detail .link")
    assert browser.text("#view-objects h2") == "byte[]" and browser.messages() == []


def test_without_live_objects_there_is_no_view(browser, locus, tmp_path):
    page = tmp_path / "p.html"
    assert locus("report", profile(tmp_path / "old", live=False), "-f", page).returncode == 0
    browser.page(page)
    assert browser.evaluate("document.getElementById('tab-live').hidden")
