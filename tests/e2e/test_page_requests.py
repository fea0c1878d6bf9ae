# SPDX-License-Identifier: Apache-2.0
"""The page's view of request contexts: the rows of `--group=context`, of the chosen thread and time; a click shows one alone."""

import json

import pytest
from synthetic import Block, Profile, frame
from test_page import rows, state

SERVE, MAKE, IDLE = frame("com.acme.App", "serve", 10), frame("com.acme.App", "make", 20), frame("com.acme.App", "idle", 30)


def inside(name, *frames):
    """A path in a context, as the agent writes it; None: in no context."""
    return frames + (((f"context={name}", "", "", "", None, None),) if name else ())


def block(cart, order, idle, lost=0):
    """Samples of each context, and as many objects of 16 bytes."""
    made = Block().count("lost", lost) if lost else Block()
    for name, n, leaf in (("GET /cart", cart, SERVE), ("POST /order", order, SERVE), (None, idle, IDLE)):
        if n:
            site = ("byte[]" if name else "int[]", inside(name, MAKE))
            made.access("object", inside(name, leaf), n, site).allocate(*site, n, 16 * n)
    return made


@pytest.fixture(scope="module", name="recording")
def fixture_recording(tmp_path_factory):
    """Two threads in two periods each: 60 samples in GET /cart, 40 in POST /order, 20 in neither, and 1 that was lost."""
    p = Profile(tmp_path_factory.mktemp("requests") / "p")
    for index, tid, name in ((0, 11, "main"), (1, 12, "other")):
        more = {"index": index, "tid": tid, "name": name}
        p.append(block(*((10, 0, 5, 1) if index == 0 else (20, 30, 0))), begin=1_000_000_000, end=2_000_000_000, **more)
        p.append(block(*((20, 0, 5) if index == 0 else (10, 10, 10))), begin=2_000_000_000, end=3_000_000_000, **more)
    return p.close()


def listed(browser):
    """Share, context, samples, objects, bytes of each row."""
    return [text.split("\t") for text in browser.texts("#view-requests tr.row")]


def told(locus, recording, *options):
    """The same of the report's rows."""
    by = json.loads(locus("report", "--format=json", "--group=context", *options, recording).stdout)["ranking"]
    return [["%.1f%%" % (100 * r["share"]), r["context"], str(r["samples"]), str(r["allocations"]), "%d B" % r["bytes"]]
            for r in by["rows"]]


def test_rows_are_those_of_the_report_for_the_chosen_thread_and_time(browser, locus, recording, tmp_path):
    page = tmp_path / "p.html"
    assert locus("report", "--group=context", "-f", page, recording).returncode == 0
    browser.page(page)
    assert state(browser)["view"] == "requests"
    assert listed(browser) == told(locus, recording) == [
        ["49.6%", "GET /cart", "60", "60", "960 B"], ["33.1%", "POST /order", "40", "40", "640 B"], ["16.5%", "(none)", "20", "20", "320 B"]]
    browser.choose("#switch-thread", "1")
    assert sorted(listed(browser)) == sorted(told(locus, recording, "--thread=11") + [["0.0%", "POST /order", "0", "0", "0 B"]])
    browser.choose("#switch-thread", "-1")
    browser.press("]")
    assert [row[1:4] for row in listed(browser)] == [["GET /cart", "30", "30"], ["POST /order", "30", "30"], ["(none)", "5", "5"]]
    browser.press("0", "/")
    browser.type("order")
    browser.evaluate("new Promise((done) => setTimeout(done, 150))")
    assert [row[1] for row in listed(browser)] == ["POST /order"] and browser.text("#found") == "1 of 3 contexts"
    assert browser.messages() == []


def test_a_click_shows_one_request_alone(browser, locus, recording, tmp_path):
    page = tmp_path / "p.html"
    assert locus("report", "-f", page, recording).returncode == 0
    browser.page(page, "view=requests")
    browser.evaluate("document.querySelectorAll('#view-requests tr.row')[1].click()")
    assert state(browser)["request"] == "POST /order" and [row[2] for row in listed(browser)] == ["60", "40", "20"]
    alone = json.loads(locus("report", "--format=json", "--include=context=POST /order", recording).stdout)
    browser.click("#tab-objects")
    first = alone["ranking"]["rows"][0]
    assert [(r[0], r[2]) for r in rows(browser) if r[0] != "0.0%"] == [("%.1f%%" % (100 * first["share"]), first["class"])] == [("100.0%", "byte[]")]
    assert "allocation known: %d, 100.0%%" % alone["samples"]["total"] in browser.evaluate("document.getElementById('bar').title")
    kept = browser.url().split("#")[1]
    browser.page(page, kept)
    assert browser.evaluate("document.querySelector('#switch-request').selectedOptions[0].textContent") == "POST /order"
    browser.press("r")  # behind the last context: none
    assert state(browser)["request"] == "(none)"
    assert "allocation known: 20, 100.0%" in browser.evaluate("document.getElementById('bar').title")
    browser.press("r")
    assert "request" not in state(browser) and browser.messages() == []


def test_a_profile_without_contexts_has_no_such_view(browser, locus, tmp_path):
    path = Profile(tmp_path / "p").append(Block().access("object", (SERVE,), 9, ("byte[]", (MAKE,)))).close()
    assert locus("report", "-f", tmp_path / "p.html", path).returncode == 0
    browser.page(tmp_path / "p.html", "view=requests")
    assert browser.evaluate("document.getElementById('tab-requests').hidden && !document.getElementById('switch-request')")
    assert browser.messages() == []
