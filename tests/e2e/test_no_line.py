# SPDX-License-Identifier: Apache-2.0
"""A row without a line of allocation says why, in each format, and reports say how to get the lines."""

import json

import pytest
from synthetic import Block, Profile, frame

MAIN = frame("com.acme.Main", "main", 10)
WALK = frame("com.acme.Walk", "walk", 20)
BEFORE = ("(before the attach)", "", "", "", -1, -1)
LONG = "java.lang.Long"


def profile(path, *, attached=False, gc="G1", pid=4711, counters=None, limits=None, hot=None, **options):
    """Samples in objects of two classes without a line, in old ones that have moved, and in some with a line."""
    p = Profile(path, gc=gc, pid=pid, counters=counters, options={"interval": "5ms", "min-size": "1k", **options})
    process = p.manifest["processes"][0]
    process |= {"attached": True} if attached else {}
    process |= {"limits": limits} if limits else {}
    process |= {"tracked_hot": [{"name": name, "time_ns": 2_000_000_000} for name in hot]} if hot else {}
    block = Block()
    block.access("heap_class", (WALK, MAIN), 400, (LONG, ()))
    block.access("heap_class", (WALK, MAIN), 300, ("com.acme.Node", ()))
    block.access("object", (WALK, MAIN), 200, (LONG, (BEFORE,)))
    block.access("object", (WALK, MAIN), 100, ("byte[]", (MAIN,)))
    return p.append(block).close()


def reasons(locus, *paths):
    """Why each row has no line, and what its row of the first screen says of that."""
    r = json.loads(locus("report", "--format=json", *paths).stdout)
    text = locus("report", *paths).stdout
    rows = [(row["class"], (row["allocated_at"] or {}).get("class"), row.get("no_line")) for row in r["ranking"]["rows"]]
    said = [line.split("  ")[-1] for line in text.splitlines() if " to " in line and line.startswith((" 40", " 30"))]
    return rows, said


CASES = {
    "not tracked": ({}, "unknown", ""),
    "another class": ({"track": "java.lang.Longer;java.lang.Long[]", "attached": True}, "unknown", ""),
    "attached": ({"track": "java.lang.L*", "attached": True}, "before", ", made before tracking"),
    "from the start": ({"track": LONG}, "unknown", ""),
    "hidden": ({"track": LONG, "attached": True, "gc": "Z"}, "collector", ", line not known: collector"),
    "no hooks": ({"track": LONG, "attached": True, "counters": {"classes_running": 1}}, "unknown", ""),
    "forgotten": ({"track": LONG, "attached": True, "counters": {"small_forgotten": 3}}, "unknown", ""),
    "chosen": ({"track": "hot", "hot": ["byte[]", LONG]}, "before", ", made before tracking"),
    "chosen, attached": ({"track": "hot;a.B", "hot": [LONG], "attached": True}, "before", ", made before tracking"),
    "not chosen": ({"track": "hot", "attached": True}, "unknown", ""),
    "another one chosen": ({"track": "hot", "hot": ["java.lang.Longer"], "attached": True}, "unknown", ""),
    "chosen, hidden": ({"track": "hot", "hot": [LONG], "gc": "Shenandoah"}, "collector", ", line not known: collector"),
    "chosen, no hooks": ({"track": "hot", "hot": [LONG], "counters": {"classes_running": 1}}, "unknown", ""),
    "beyond the memory limit": ({"track": LONG, "attached": True, "counters": {"small_passes_limited": 1}}, "unknown", ""),
    "not held": ({"track": "hot", "hot": [LONG], "counters": {"small_unheld": 1}}, "unknown", ""),
    "unchanged": ({"track": LONG, "attached": True, "limits": [{"kind": "unchanged", "text": "x"}]}, "unknown", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_a_row_of_a_tracked_class_says_why_it_has_no_line(locus, tmp_path, case):
    how, word, text = CASES[case]
    rows, said = reasons(locus, profile(tmp_path / "p", **how))
    assert rows == [(LONG, None, word), ("com.acme.Node", None, "unknown"), (LONG, "(before the attach)", "before"),
                    ("byte[]", "com.acme.Main", None)]
    assert said == ["j.l.Long" + text, "c.a.Node"]


def test_each_object_is_tracked_with_min_size_0(locus, tmp_path):
    rows, _ = reasons(locus, profile(tmp_path / "p", attached=True, **{"min-size": "0"}))
    assert [row[2] for row in rows] == ["before", "before", "before", None]


def test_processes_that_differ_give_no_reason(locus, tmp_path):
    paths = [profile(tmp_path / "p", track=LONG, attached=True), profile(tmp_path / "q", track=LONG, pid=5)]
    assert reasons(locus, *paths)[0][0] == (LONG, None, "unknown")
    paths[1] = profile(tmp_path / "r", track=LONG, pid=5, attached=True)
    assert reasons(locus, *paths)[0][0] == (LONG, None, "before")
    paths.append(profile(tmp_path / "s", track="hot", hot=[LONG], pid=6))
    assert reasons(locus, *paths)[0][0] == (LONG, None, "before")
    assert locus("merge", "-o", tmp_path / "m", *paths).returncode == 0
    assert reasons(locus, tmp_path / "m")[0][0] == (LONG, None, "before")


def test_the_page_and_markdown_say_why(locus, tmp_path, browser):
    path = profile(tmp_path / "p", track=LONG, attached=True)
    assert "| `j.l.Long` | made before tracking | 100% at" in locus("report", "--format=markdown", path).stdout
    page = tmp_path / "p.html"
    assert locus("report", path, "-f", page).returncode == 0
    browser.page(page, "view=objects")
    texts = browser.texts("#view-objects .row")
    assert "(made before tracking)" in texts[0] and "(allocation unknown)" in texts[1], texts
    assert browser.text("#view-objects .origin") == "allocated at (made before tracking)"
    browser.evaluate("document.querySelectorAll('#view-objects .row')[1].click()")
    assert browser.text("#view-objects .origin") == "allocated at (allocation unknown); to find it: locus run --track 'com.acme.Node' ..."
