# SPDX-License-Identifier: Apache-2.0
"""The page's view of own code in a real browser: methods, filter, search, address; numbers are those of the JSON report."""

import collections
import json
import re

import pytest
from test_own_code import is_own, nearest
from test_page import PROFILES, REAL, pages, state  # noqa: F401 (a fixture)

WAITS = "view=waits"


def waits(browser):
    """(share, method, objects, allocated) of the rows that are drawn."""
    return browser.evaluate("""Array.from(document.querySelectorAll("#view-waits .wait"), (r) =>
        [".left b", ".middle b", ".hot", ".from"].map((s) => (r.querySelector(s) || { textContent: "" }).textContent))""")


def short(method):
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z$])", "", "%s.%s" % (method["class"], method["method"]))


def expected(report):
    methods, total = report["code"]["own_methods"], report["samples"]["total"]
    made = sum(m["bytes"] for m in methods)
    return [("%.1f%%" % (100 * m["samples"] / total), short(m)) for m in methods], total, made


def by_class(report, method):
    """Samples by class of the objects that are accessed with `method` as the nearest own one."""
    found = collections.Counter()
    for place in [*report["sites"], *report["classes"]]:
        for access in place["accesses"]:
            if nearest(report["code"]["own"]["patterns"], access["path"]) == method:
                found[place["class"]] += access["samples"]
    return +found


@pytest.mark.few(1)
@pytest.mark.parametrize("name", REAL)
def test_methods_are_those_of_the_json_report(browser, pages, name):
    page, report = pages[name]
    browser.page(page, WAITS)
    wanted, total, _ = expected(report)
    shown = waits(browser)
    assert sorted(tuple(r[:2]) for r in shown) == sorted(wanted)[:len(shown)] or len(wanted) > len(shown) == 200
    assert [float(r[0][:-1]) for r in shown] == sorted((float(r[0][:-1]) for r in shown), reverse=True)
    first = report["code"]["own_methods"][0]
    for c in first["classes"][:2]:
        assert "%.1f%%" % (100 * c["samples"] / total) in shown[0][2], shown[0]
    text = browser.text("#view-waits .list")
    assert "%.1f%% no own frame" % (100 * report["code"]["not_own"] / total) in text
    assert "own code: " + ", ".join(report["code"]["own"]["patterns"]) in text
    assert browser.evaluate("document.querySelector('nav [role=tab]:not([hidden])').id") == "tab-waits"
    assert browser.messages() == []


@pytest.mark.few(1)
@pytest.mark.parametrize("name", REAL)
def test_a_chosen_method_filters_rows_and_flame_graph(browser, pages, name):
    page, report = pages[name]
    browser.page(page, WAITS)
    method = report["code"]["own_methods"][0]
    browser.click("#view-waits .wait")
    assert browser.text("#view-waits h2") == "%s.%s" % (method["class"], method["method"])
    frames = browser.evaluate("Array.from(document.querySelectorAll('#view-waits .frame'), (f) => f.title)")
    outermost = sum(int(re.search(r": ([\d,]+) samples", t)[1].replace(",", "")) for t in frames[:1])
    assert 0 < outermost <= method["samples"] and len(frames) > 3
    assert "%s" % method["samples"] in browser.text("#view-waits .numbers")
    browser.click("#tab-objects")
    browser.evaluate("""(() => { const s = document.getElementById("switch-group"); s.value = "class"; s.dispatchEvent(new Event("change")); })()""")
    browser.evaluate("document.querySelector('#view-objects .more .link')?.click()")
    shown = {title.split("\n")[0]: share for title, share in browser.evaluate(
        "Array.from(document.querySelectorAll('#view-objects .row'), (r) => [r.title, r.querySelector('.left b').textContent.replace('~', '')])")}
    truth = by_class(report, (method["class"], method["method"]))
    same_name = sum((m["class"], m["method"]) == (method["class"], method["method"]) for m in report["code"]["own_methods"])
    assert same_name == 1 and truth
    for class_name, share in shown.items():
        assert share == "%.1f%%" % (100 * truth[class_name] / method["samples"]), class_name
    assert sum(truth[c] > 0 for c in shown) >= min(5, len(truth))
    assert state(browser)["own"] == "%s.%s" % (method["class"], method["method"])
    browser.click("#own")
    assert "own" not in state(browser) and browser.evaluate("!document.getElementById('own')")
    assert browser.messages() == []


def test_methods_of_a_thread_are_those_of_the_report(browser, pages, locus):
    page, whole = pages["h2"]
    thread = next(t for t in whole["threads"] if t["samples"])
    report = json.loads(locus("report", "--format=json", "--app=Database", "--thread=%d" % thread["tid"], PROFILES / "h2").stdout)
    browser.page(page, WAITS + "&thread=%d" % thread["tid"])
    assert [tuple(r[:2]) for r in waits(browser)] == expected(report)[0]


def test_methods_follow_the_chosen_time(browser, pages):
    page, _ = pages["h2"]
    browser.page(page, WAITS)
    whole = waits(browser)
    browser.press("[")
    part = waits(browser)
    assert part != whole and part and float(part[0][0][:-1]) <= 100
    browser.press("0")
    assert waits(browser) == whole


def test_search_finds_methods_and_says_how_much_matches(browser, pages):
    page, report = pages["lucene"]
    browser.page(page, WAITS)
    browser.press("/")
    browser.type("searchengine.index")
    browser.evaluate("new Promise((done) => setTimeout(done, 200))")
    method = next(m for m in report["code"]["own_methods"] if m["method"] == "index")
    assert [r[1] for r in waits(browser)] == ["SearchEngine.index"]
    assert browser.text("#found") == "1 of %d methods, matched %.1f%%" % (len(report["code"]["own_methods"]),
                                                                         100 * method["samples"] / report["samples"]["total"])


def test_the_address_and_the_keys_choose_a_method(browser, pages):
    page, report = pages["lucene"]
    names = ["%s.%s" % (m["class"], m["method"]) for m in report["code"]["own_methods"]]
    browser.page(page, WAITS + "&own=" + names[1])
    assert browser.text("#view-waits h2") == names[1]
    assert browser.evaluate("document.querySelector('.wait[aria-selected=true] .middle b').textContent") == names[1]
    browser.evaluate("document.querySelector('#view-waits .list').focus()")
    browser.press("ArrowUp")
    assert state(browser)["own"] == names[0]
    browser.press("1")
    assert state(browser)["view"] == "waits"
    browser.click(".wait[aria-selected=true]")
    assert "own" not in state(browser) and browser.text("#view-waits h2") == "All code"


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", ("light", "dark"))
@pytest.mark.parametrize("width", (400, 1280))
@pytest.mark.parametrize("name", REAL)
def test_nothing_is_clipped(browser, pages, name, width, scheme):
    page, _ = pages[name]
    browser.page(page, WAITS, width=width, scheme=scheme)
    browser.click("#view-waits .wait")
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    clipped = browser.evaluate("""Array.from(document.querySelectorAll(
        "#view-waits .wait, #view-waits .wait span, #view-waits .wait b, #view-waits .more, #view-waits li, #view-waits h2, #own"))
        .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline" && e.clientWidth).map((e) => e.outerHTML)""")
    assert clipped == []


def test_there_is_no_view_without_own_code(browser, locus, tmp_path):
    done = locus("report", "--app=nothing.*", "-f", tmp_path / "p.html", PROFILES / "h2")
    assert done.returncode == 3, done.stderr
    browser.page(tmp_path / "p.html", WAITS)
    assert browser.evaluate("document.getElementById('tab-waits').hidden") and state(browser)["view"] == "objects"
    assert not is_own(["nothing.*"], "Database") and browser.messages() == []
