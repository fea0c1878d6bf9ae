# SPDX-License-Identifier: Apache-2.0
"""Case studies of libraries: each is well-formed, and one is measured, in its quick form."""

import dataclasses
import importlib
import json
import pathlib
import shutil
import sys

import pytest
from conftest import ROOT

OWN = ("cases", "case_spans", "maven", "stats", "jdks")
QUICK = "codec-base64"  # a small library without dependencies
KEYS = {"library", "java", "full", "quick", "result", "pays", "wrong", "change"}
MORE = {"object", "span", "compile", "runtime", "program", "peers"}


def load():
    """The module; no test after these finds by their short names what other scripts have too."""
    before = dict(sys.modules)
    sys.path[:0] = [str(ROOT / "scripts/evaluate.d"), str(ROOT / "scripts")]
    try:
        return importlib.import_module("cases")
    finally:
        del sys.path[:2]
        for name in OWN:
            if name not in before:
                sys.modules.pop(name, None)


cases = load()
DIRECTORIES = sorted(path for path in cases.CASES.iterdir() if path.is_dir())


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda d: d.name)
def test_case_is_well_formed(directory):
    entry = json.loads((directory / "case.json").read_text(encoding="utf-8"))
    assert KEYS <= set(entry) <= KEYS | MORE and ("object" in entry) != ("span" in entry)
    program = set() if "program" in entry else {"change.patch", "Main.java"}
    assert {path.name for path in directory.iterdir()} == {"case.json"} | program
    needed = [*entry.get("compile", []), *entry.get("runtime", [])]
    assert all(coordinates.count(":") == 2 for coordinates in [*needed, *filter(None, [entry["library"]])])
    for words in (needed, entry["java"], entry["full"], entry["quick"]):
        assert all(isinstance(word, str) for word in words)
    assert set(entry["result"]) == {"full", "quick"} and "?" not in entry["result"].values()
    of = set(entry.get("object", {"class": "", "method": ""}))
    assert of in ({"class", "method"}, {"finding", "says"}) and isinstance(entry["pays"], bool)
    assert set(entry.get("span", cases.case_spans.KEYS)) == cases.case_spans.KEYS
    assert entry["wrong"].endswith(".") and entry["change"].endswith(".")
    patch = cases.read(directory).patch
    paths = cases.patched(patch)
    assert paths and all(path.endswith(".java") and not path.startswith("/") for path in paths)
    changed = cases.changed_lines(patch).splitlines()
    assert any(line.startswith("+") for line in changed)


def test_there_are_six_cases_that_pay_and_two_that_do_not():
    pays = [case.pays for case in cases.load()]
    assert pays.count(True) >= 6 and pays.count(False) >= 2
    assert pays == sorted(pays, reverse=True)


def test_case_that_does_not_exist_is_said():
    with pytest.raises(cases.Failed, match="there is no case nothing"):
        cases.load(["nothing", QUICK])


def test_ratio_is_the_median_of_pairs():
    """By hand: 6/2, 4/2, 5/1, 4/1, 2/2 and 6/1 are 3, 2, 5, 4, 1 and 6; fewer than six have no interval."""
    both = ((6, 2), (4, 2), (5, 1), (4, 1), (2, 2), (6, 1))
    pairs = [{"before": {"cpu": b, "wall": 1}, "after": {"cpu": a, "wall": 2}} for b, a in both]
    assert cases.ratio({"pairs": pairs}, "cpu") == "3.50 (1.00 to 6.00)"
    assert cases.ratio({"pairs": pairs}, "wall") == "0.50 (0.50 to 0.50)"
    assert cases.ratio({"pairs": pairs[:3]}, "cpu") == "3.00"


def test_findings_and_rows_of_a_screen_are_told_apart():
    screen = "\n".join([
        "Main, JDK 17, 1 s, 9 samples", "50% of the samples (95%: 1 to 2) are at accesses to objects", "",
        "1. a (int[]) of A.a:1: 50% of the samples", "   are at it. [hot-1]", "2. b of B.b:2: 9% of the samples.", "",
        " 50.0% 40.0 to 60.0  a (int[]) <- A.a:1", "                     all over", "  9.0%  1.0 to 20.0  b ~ B.b:2",
        "  1.0%               the rest: 3 rows", "", "more: --full"])
    findings, rows = cases.blocks(screen)
    assert findings == ["1. a (int[]) of A.a:1: 50% of the samples\n   are at it. [hot-1]", "2. b of B.b:2: 9% of the samples."]
    assert rows[0] == " 50.0% 40.0 to 60.0  a (int[]) <- A.a:1\n                     all over"
    assert rows[1].startswith("  9.0%") and "the rest" not in "".join(rows) and len(rows) == 2


def gain(at_most, low, high):
    return {"at_most": at_most, "low": low, "high": high}


def entry_of(measured, larger):
    """A case that gains so much in each of six pairs, and whose finding says so; None: it has none."""
    gains = larger and {"accesses": gain(1.1, 1.05, 1.15), "with_object": larger}
    pairs = [{"before": {"cpu": measured, "wall": 1}, "after": {"cpu": 1, "wall": 1}}] * 6
    return {"size": "full", "pairs": pairs, "finding": {"gains": gains}}


def test_a_gain_that_is_no_limit_or_far_above_one_is_said():
    """Each rule by itself: the change may not gain more, few numbers are far above, and nothing is said of what gains nothing."""
    case, *more = [c for c in cases.load() if c.pays and c.object][:3]
    loss = [c for c in cases.load() if not c.pays][0]

    def broken(cases_of):
        return cases.broken_limits([c for c, _ in cases_of], {c.name: e for c, e in cases_of})

    assert broken([(case, entry_of(2, gain(1.9, 1.7, 2.1)))]) == []
    assert broken([(case, entry_of(2.2, gain(1.9, 1.7, 2.1)))]) == ["%s: the change gains 2.20x, more than 2.10x" % case.name]
    assert broken([(case, entry_of(2.2, gain(None, 9, None)))]) == []
    assert broken([(case, entry_of(1.5, None))]) == ["%s: the change gains 1.50x, more than 1.00x" % case.name]
    far = [(c, entry_of(2, gain(3.1, 2.9, 3.3))) for c in (case, *more)]
    assert broken(far[:2]) == []
    assert broken(far) == ["3 cases have a gain of over 1.5 times the measured one: " + ", ".join(c.name for c, _ in far)]
    assert broken([(loss, entry_of(1, None))]) == broken([(loss, entry_of(1, gain(1.19, 1.1, 1.3)))]) == []
    (said,) = broken([(loss, entry_of(1, gain(1.3, 1.2, 1.4)))])
    assert "up to 1.30x of an object whose change does not pay" in said


def test_calls_limit_the_gain_and_are_no_estimate_of_it():
    """A change of calls that take 50% to 55% gains at most 1 / 0.45, and less is as good."""
    case = [c for c in cases.load() if c.pays][0]

    def broken(measured):
        entry = entry_of(measured, gain(1.2, 1.1, 1.3))
        entry["finding"]["calls"] = {"of": "a.B.c at Main.main:7", "less_often": True, "share": 0.52, "low": 0.5, "high": 0.55}
        assert "| calls take 52.0% (50.0 to 55.0) |" in cases.gains_table([case], {case.name: entry})
        return cases.broken_limits([case], {case.name: entry})

    assert broken(2.2) == broken(1.05) == []
    assert broken(2.3) == ["%s: the change gains 2.30x, more than 2.22x" % case.name]


def test_table_names_the_rank_of_a_finding_that_has_no_row():
    (case,) = [c for c in cases.load() if c.name == "rng-walkers"]
    entry = entry_of(1.1, gain(2.3, 2.1, 2.5))
    entry["finding"].update(place=None, finding=1, findings=["1. shared"], share=0.5, low=0.4, high=0.6)
    assert "| finding 1 | 50.0% (40.0 to 60.0) |" in cases.table([case], {case.name: entry})


def test_finding_of_calls_is_known_by_its_words():
    told = [{"kind": "repeated-calls", "text": "20.0% of the samples make formatters."},
            {"kind": "repeated-calls", "text": "9.0% of the samples parse dates."},
            {"kind": "hot-object", "text": "it parses dates", "rows": [{"class": "int[]", "allocated_at": None}]}]
    assert cases.finding_of({"findings": told}, {"finding": "repeated-calls", "says": "parse dates"}) == told[1]
    assert cases.finding_of({"findings": told}, {"class": "int[]", "method": ""}) == told[2]
    assert cases.finding_of({"findings": told}, {"class": "long[]", "method": ""}) == {}


def test_patch_of_main_needs_no_sources_of_the_library(tmp_path):
    (case,) = [c for c in cases.load() if c.name == "jts-overlay"]
    assert cases.patched(case.directory / "change.patch") == ["Main.java"]
    cases.unpack(dataclasses.replace(case, library="nobody:nothing:1"), tmp_path)
    cases.apply(case, tmp_path)
    assert "PreparedGeometry prepared" in (tmp_path / "Main.java").read_text()


def test_gains_stand_beside_what_is_measured():
    case = cases.load()[0]
    entry = entry_of(2, gain(None, 9, None))
    assert "| %s | 1.10 (1.05 to 1.15) | more than 10 | 2.00 (2.00 to 2.00) |" % case.name in cases.gains_table([case], {case.name: entry})
    assert cases.printed_gain(gain(8, 7, 11)) == "8.00 (7.00 to more)"
    assert cases.with_gains({case.name: entry}) == [case]
    old = dict(entry, finding={"place": 1})  # of a Locus that did not say the gains
    assert cases.with_gains({case.name: old}) == cases.with_gains({case.name: dict(entry, size="quick")}) == []


DIAGNOSES = """
Diagnoses

  1. fine-grained (finding)  Main$$Lambda$1
      these tasks are small
          - 200 executions
      change        merge them

  2. unbalanced (no verdict)  Main$$Lambda$1
      no verdict: too few

Places of streams
"""


def diagnosis(pattern="fine-grained", verdict="finding", method="go"):
    return {"pattern": pattern, "verdict": verdict, "why_no_verdict": None, "location": None, "change": "merge them: two by two",
            "creation": {"class": "Main", "method": method}, "evidence": ["200 executions", "12.5% of the cycles of all spans"]}


def test_a_case_of_tasks_needs_its_finding_in_the_first_three():
    """Its pattern, its place, a verdict, and words of the advice."""
    wanted = {"pattern": "fine-grained", "at": "Main.go", "advice": "merge them", "published": ""}
    others = [diagnosis("coarse-grained"), diagnosis(method="stop"), diagnosis(verdict="suspicion")]
    find = cases.case_spans.finding
    assert find([diagnosis(), diagnosis("unbalanced", "no-verdict")], DIAGNOSES, wanted) == {
        "place": 1, "rows": 2, "share": "12.5%", "printed":
        "1. fine-grained (finding)  Main$$Lambda$1\n      these tasks are small\n          - 200 executions\n      change        merge them"}
    assert "no diagnosis is a finding of fine-grained at Main.go" in find(others, DIAGNOSES, wanted)
    assert "has rank 4" in find([*others, diagnosis()], DIAGNOSES, wanted)
    assert "not 'use a loop'" in find([diagnosis()], DIAGNOSES, {**wanted, "advice": "use a loop"})


def test_a_case_of_tasks_has_a_table_of_its_own():
    case = next(c for c in cases.load() if c.name == "tasks-chi-square")
    entry = {"size": "full", "finding": {"place": 2, "rows": 9, "printed": "2. fine-grained", "share": "60.0%"},
             "pairs": [{"before": {"cpu": 3, "wall": 2}, "after": {"cpu": 3, "wall": 1}}] * 6}
    page = cases.markdown({case.name: entry})
    assert "| tasks-chi-square | hipparchus-stat 4.0.3 | fine-grained | 2 | 60.0% | 1.00 (1.00 to 1.00) | 2.00 (2.00 to 2.00) | 5.90" in page
    assert "```\n2. fine-grained\n```" in page and "not measured here: codec-base64, " in page
    assert "| case | library | object |" not in page


def test_rows_of_a_peer_are_its_table():
    text = "--- Execution profile ---\nTotal samples : 9\n\n   ns  percent  samples  top\n  ---  -------  -------  ---\n   7   70.00%   7  Main.a\n"
    assert cases.first_rows(text).splitlines() == text.splitlines()[3:]
    assert cases.first_rows("nothing") == "(no samples)"


@pytest.fixture(scope="session")
def fetched():
    """The quick case, whose library and sources are here."""
    if not shutil.which("mvn"):
        pytest.skip("no mvn to fetch the library with")
    case = cases.load([QUICK])[0]
    try:
        cases.maven.class_path([case.library])
        cases.maven.class_path([case.library + ":jar:sources"])
    except cases.maven.Failed as failed:
        pytest.skip("Maven Central gave nothing: %s" % failed)
    return case


@pytest.mark.slow
def test_quick_case_is_found_and_measured(fetched, jdk17, tmp_path, monkeypatch):
    """Main prints the same with the change; the finding is of the object; a second call measures no more."""
    monkeypatch.chdir(tmp_path)
    path = pathlib.Path("cases.json")
    measured, failed = cases.measure([fetched], "quick", 1, jdk17.home, path)
    entry = measured[QUICK]
    assert not failed
    found = entry["finding"]
    assert found["place"] == 1 and 0 < found["low"] <= found["share"] <= found["high"] <= 1
    assert "(byte[]) of o.a.c.c.b.BaseNCodec.ensureBufferSize:" in " ".join(found["findings"][0].split())
    assert "BaseNCodec.ensureBufferSize:" in found["row"]
    assert found["gains"]["with_object"]["at_most"] > found["gains"]["accesses"]["at_most"] > 1
    (pair,) = entry["pairs"]
    assert set(pair) == {"before", "after"} and all(pair[v][what] > 0 for v in pair for what in ("cpu", "wall"))
    page = cases.markdown({QUICK: entry})
    assert found["row"] in page and "| %s | commons-codec 1.17.1 |" % QUICK in page and "\n+        context.buffer" in page
    before = path.read_text()
    cases.measure([fetched], "quick", 1, jdk17.home, path)
    assert path.read_text() == before
    profile = tmp_path / "cases.json.work" / QUICK / "profile"
    absent = dataclasses.replace(fetched, object={"class": "long[]", "method": "Nobody.makes"})
    with pytest.raises(cases.Failed, match=r"no row of the report is long\[\] of Nobody.makes"):
        cases.finding(absent, profile)
    low = cases.finding(dataclasses.replace(absent, pays=False), profile)
    assert low["place"] is None and low["samples"] == found["samples"]
    assert "(no row of the report, of %d samples, is of this object)" % low["samples"] in cases.study(absent, {"finding": low, "pairs": []})
    assert "| no row |" in cases.table([absent], {QUICK: {"finding": low, "pairs": entry["pairs"]}})
    rest = dict(found, findings=[], row="", place=found["rows"] + 1)
    assert "puts together as the rest; it names %d before" % found["rows"] in cases.study(absent, {"finding": rest, "pairs": []})


def test_patch_that_does_not_apply_is_said(fetched, jdk17, tmp_path):
    directory = tmp_path / QUICK
    shutil.copytree(fetched.directory, directory)
    patch = directory / "change.patch"
    text = patch.read_text()
    patch.write_text(text.replace("final Context context", "final Other context"))
    assert patch.read_text() != text
    with pytest.raises(cases.Failed, match="change.patch does not apply to commons-codec:commons-codec:1.17.1\n(?s:.)*BaseNCodec"):
        cases.prepare(dataclasses.replace(fetched, directory=directory), jdk17.home, tmp_path / "work")


@pytest.mark.slow
def test_result_that_is_not_the_case_s_is_said(fetched, jdk17, tmp_path):
    wrong = dataclasses.replace(fetched, result={"quick": "1"})
    paths = cases.prepare(wrong, jdk17.home, tmp_path / "work")
    with pytest.raises(cases.Failed, match="not 'result: 1'"):
        cases.pair(wrong, "quick", jdk17.home, paths, tmp_path, 0)


@pytest.mark.slow
def test_case_that_fails_does_not_keep_others_from_being_measured(fetched, jdk17, tmp_path):
    directory = tmp_path / "broken"
    shutil.copytree(fetched.directory, directory)
    (directory / "Main.java").write_text("no Java")
    broken = dataclasses.replace(fetched, directory=directory)
    measured, failed = cases.measure([broken, fetched], "quick", 1, jdk17.home, tmp_path / "cases.json")
    assert set(failed) == {"broken"} and "Main.java" in failed["broken"]
    assert len(measured[QUICK]["pairs"]) == 1 and measured["broken"]["pairs"] == []
    assert "broken" not in cases.markdown(measured)
