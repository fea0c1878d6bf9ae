# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser, over real profiles: H2, Lucene with spans, google-java-format merged, and NumaCollect in a guest of two nodes."""

import json
import re
import subprocess
import urllib.parse

import pytest
from conftest import BUILD, ROOT
from helpers import page_data
from synthetic import Block, Profile, frame
from test_golden_reports import objects as made_profile
from test_labels import HOSTILE, merge, record

PROFILES = ROOT / "tests" / "data" / "profiles"
REAL = ("h2", "lucene", "google-java-format")
NUMA = "numa-collect"
OBJECTS = "view=objects"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages and JSON reports of the profiles."""
    directory, made = tmp_path_factory.mktemp("pages"), {}
    for name in (*REAL, NUMA):
        page = directory / (name + ".html")
        subprocess.run([BUILD / "locus", "report", PROFILES / name, "-f", page], check=True)
        done = subprocess.run([BUILD / "locus", "report", PROFILES / name, "--format=json"], check=True, capture_output=True)
        made[name] = page, json.loads(done.stdout)
    return made


def state(browser):
    """The state in the address."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(browser.url()).fragment))


def rows(browser):
    """Share, label, hottest line, origin of the rows that are drawn."""
    return [text.split("\n") for text in browser.texts("#view-objects .row")]


def in_sight(browser, selector):
    """Is all of the first such element in the window, and in what scrolls around it?"""
    return browser.evaluate("""(() => {
        const e = document.querySelector(%s), b = e && e.getBoundingClientRect();
        if (!b || !b.width || !b.height)
            return false;
        for (let p = e.parentElement; p; p = p.parentElement) {
            const c = p.getBoundingClientRect(), clips = getComputedStyle(p).overflow !== "visible";
            if (clips && (b.bottom > c.bottom + 1 || b.right > c.right + 1 || b.top < c.top - 1))
                return false;
        }
        return b.bottom <= innerHeight && b.right <= innerWidth;
    })()""" % json.dumps(selector))


# The first look


@pytest.mark.few(1)
@pytest.mark.parametrize("name", REAL)
def test_the_first_finding_its_line_and_its_origin_are_in_sight(browser, pages, name):
    page, report = pages[name]
    browser.page(page, OBJECTS)
    first = report["findings"][0]
    assert "%.1f%%" % (100 * first["share"]) in browser.text("#findings .card")
    for selector in ("#findings .card", "#view-objects .row .hot", "#view-objects .row .from", ".flame .frame", "#found"):
        assert selector == "#found" or in_sight(browser, selector), selector
    assert browser.evaluate("document.getElementById('head').offsetHeight") < 45  # one line
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight")
    best = report["ranking"]["rows"][0]
    share, *words = rows(browser)[0]
    assert share.lstrip("~") == "%.1f%%" % (100 * best["share"])
    text = "\n".join(words)
    at = best["accessed_at"][0]
    lines = ["%s:%d" % (line["method"], line["line"]) for line in (at, at.get("in")) if line]  # the own line alone, if both do not fit
    assert any(line in text for line in lines) or ".." in text
    assert browser.messages() == []


@pytest.mark.few(1)
@pytest.mark.parametrize("name", REAL)
def test_rows_are_those_of_the_json_report(browser, pages, name):
    page, report = pages[name]
    browser.page(page, OBJECTS)
    shown = [r[0].lstrip("~") for r in rows(browser)]
    ranked = [r for r in report["ranking"]["rows"] if not r["rest"]]
    assert shown == ["%.1f%%" % (100 * r["share"]) for r in ranked][:len(shown)] and len(shown) >= min(9, len(ranked))
    groups = page_data(page.read_text())["lenses"][0]["groups"]
    for group in groups.values():
        assert sum(r["samples"] for r in group["rows"]) == report["ranking"]["samples"]


def test_the_face_of_references_has_those_of_json(browser, tmp_path):
    made_profile(tmp_path / "p")
    subprocess.run([BUILD / "locus", "report", tmp_path / "p", "-f", tmp_path / "p.html"], check=True)
    done = subprocess.run([BUILD / "locus", "report", tmp_path / "p", "--format=json"], check=True, capture_output=True)
    browser.page(tmp_path / "p.html", OBJECTS)
    seen = 0
    for i, row in enumerate(json.loads(done.stdout)["ranking"]["rows"][:4]):
        browser.evaluate("document.querySelectorAll('#view-objects .row')[%d].click()" % i)
        has_face = browser.evaluate("!!document.querySelector('.faces [data-face=reached]')")
        assert has_face == bool(row["reached"]["samples"] if "reached" in row else 0), row
        if not has_face:
            continue
        browser.click(".faces [data-face=reached]")
        cells = browser.evaluate("""Array.from(document.querySelectorAll(".face tbody tr"), (r) => Array.from(r.cells, (c) => c.textContent))""")
        whole = row["reached"]["samples"]
        for way in row["reached"]["through"]:
            name = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z$])", "", way["name"])
            assert [name, str(way["samples"]), "%.1f%%" % (100 * way["samples"] / whole)] in [c[:3] for c in cells], (name, cells)
        assert len(cells) == len(row["reached"]["through"]) + len(row["reached"]["header_read_for"]) + (whole > row["reached"]["known"])
        seen += 1
    assert seen >= 3 and browser.messages() == []


@pytest.mark.few(2)
@pytest.mark.parametrize("width", (1280, 700, 400))
@pytest.mark.parametrize("name", REAL)
def test_no_two_rows_look_alike(browser, pages, name, width):
    page, _ = pages[name]
    browser.page(page, OBJECTS, width=width)
    browser.evaluate("document.querySelector('#view-objects .more .link')?.click()")
    seen, step = {}, 0
    while step < 200:
        for row in browser.evaluate("""Array.from(document.querySelectorAll("#view-objects .row"), (r) =>
                [r.querySelector(".middle b").textContent + "\\n" + r.querySelector(".from").textContent, r.title,
                 r.querySelector(".middle").scrollWidth - r.querySelector(".middle").clientWidth])"""):
            assert row[2] <= 1, "%s is cut by the column's end" % row[0]
            assert seen.setdefault(row[0], row[1]) == row[1], row[0]
        step += 1
        if browser.evaluate("""(() => { const l = document.querySelector("#view-objects .list"), t = l.scrollTop;
                l.scrollTop += l.clientHeight; return l.scrollTop === t; })()"""):
            break
    assert len(seen) > 20


# Views, faces, switches


@pytest.mark.few(1)
@pytest.mark.parametrize("name", REAL)
def test_every_view_and_face_opens_by_mouse_and_by_keyboard(browser, pages, name):
    page, _ = pages[name]
    browser.page(page)
    views = browser.evaluate("""Array.from(document.querySelectorAll("nav [role=tab]")).filter((t) => !t.hidden).map((t) => t.id.slice(4))""")
    assert {"waits", "objects", "code", "threads", "about"} <= set(views) and ("spans" in views) == (name == "lucene")
    assert views[0] == state(browser)["view"] == "waits" and len(browser.text("#view-waits")) > 100
    for i, view in enumerate(views):
        browser.click("#tab-" + view)
        by_mouse = browser.text("#view-" + view)
        assert len(by_mouse) > 100, view
        browser.press(str((i + 1) % len(views) + 1), str(i + 1))
        assert browser.text("#view-" + view) == by_mouse and state(browser)["view"] == view
    browser.press(str(views.index("objects") + 1))
    faces = browser.evaluate("Array.from(document.querySelectorAll('.faces button'), (b) => b.dataset.face)")
    assert {"touched", "source"} <= set(faces)
    for face in faces:
        browser.click(".faces [data-face=%s]" % face)
        by_mouse = browser.text(".face")
        assert browser.evaluate("document.querySelector('.face').dataset.face") == face and len(by_mouse) > 10
        browser.press(*["f"] * len(faces))
        assert browser.text(".face") == by_mouse
    assert browser.messages() == []


def test_switches_give_what_the_report_gives_with_options(browser, pages, locus):
    page, whole = pages["h2"]
    browser.page(page, OBJECTS)
    thread = whole["threads"][0]
    for group in ("class", "field", "package", "site", "class+line"):
        browser.choose("#switch-group", group)
        report = json.loads(locus("report", PROFILES / "h2", "--format=json", "--group=" + group).stdout)
        assert rows(browser)[0][0].lstrip("~") == "%.1f%%" % (100 * report["ranking"]["rows"][0]["share"]), group
    browser.choose("#switch-thread", "0")
    report = json.loads(locus("report", PROFILES / "h2", "--format=json", "--group=class", "--thread=%d" % thread["tid"]).stdout)
    browser.choose("#switch-group", "class")
    assert rows(browser)[0][0].lstrip("~") == "%.1f%%" % (100 * report["ranking"]["rows"][0]["share"])
    browser.choose("#switch-thread", "-1")
    browser.choose("#switch-metric", "bytes")
    report = json.loads(locus("report", PROFILES / "h2", "--format=json", "--group=class").stdout)["ranking"]["rows"]
    allocated = [r["bytes"] + r.get("object_bytes", {"estimate": 0})["estimate"] for r in report]
    assert rows(browser)[0][0].lstrip("~") == "%.1f%%" % (100 * max(allocated) / sum(allocated))


def test_nodes_are_those_of_locus_numa(browser, pages, locus):
    page, _ = pages[NUMA]
    numa = json.loads(locus("numa", PROFILES / NUMA, "--format=json").stdout)["numa"]
    whole, site = numa["all"], numa["sites"][0]
    assert whole["remote"] > 1000 and site["diagnosis"]["pattern"] == "master-initialised"
    browser.page(page, OBJECTS)
    browser.click("#tab-numa")

    def heat(selector):
        return [int(text.split()[0].replace(",", "")) for text in browser.texts(selector + " .heat tbody td")]

    assert heat("#view-numa") == [n for row in whole["matrix"][:2] for n in row[:2]]
    listed = [text.split() for text in browser.texts("#view-numa tr.row")]
    assert listed[0][0] == "%.1f%%" % (100 * whole["remote_share"])
    assert listed[1][:2] == ["%.1f%%" % (100 * site["remote_share"]), site["class"]]
    browser.click("#tab-objects")
    browser.choose("#switch-metric", "remote")
    assert rows(browser)[0][0] == "%.1f%%" % (100 * site["remote"] / whole["remote"])
    browser.click(".faces [data-face=numa]")
    assert heat("#view-objects") == [n for row in site["matrix"][:2] for n in row[:2]] and "master-initialised" in browser.text(".face")
    assert browser.messages() == []


def test_what_is_of_the_whole_recording_says_so_where_a_part_is_chosen(browser, pages):
    browser.page(pages[NUMA][0], OBJECTS)
    told = {}
    for part in (False, True):
        if part:
            browser.press("[")
        for view in ("threads", "numa", "code", "objects"):
            browser.click("#tab-" + view)
            told[part, view] = browser.text("#whole")
        for face in ("life", "numa", "touched"):
            browser.click(".faces [data-face=%s]" % face)
            told[part, face] = browser.text("#whole")
    shown = {key: text.split(":")[0] for key, text in told.items() if text}
    assert shown == {(True, "threads"): "Threads", (True, "numa"): "NUMA", (True, "life"): "Life"}, told


def test_the_code_of_a_thread_is_that_of_the_report(browser, pages, locus):
    page, whole = pages[NUMA]
    report = json.loads(locus("report", PROFILES / NUMA, "--format=json", "--engine=1", "--thread=%d" % whole["threads"][0]["tid"]).stdout)
    browser.page(page, OBJECTS)
    browser.choose("#switch-thread", "0")
    browser.click("#tab-code")
    listed = [re.split(r"[\t\n]+", text) for text in browser.texts("#view-code tr.row")]
    methods = {(row[4], *row[:3]) for row in listed if row[3] == "method"}
    shares = [(m["share"], m["total"] / report["samples"]["total"], m["in_objects"] / m["samples"]) if m["samples"] else () for m in report["code"]["methods"]]
    told = {(m["class"] + "." + m["method"], *("%.1f%%" % (100 * n) for n in s)) for m, s in zip(report["code"]["methods"], shares)}
    assert len(methods) > 5 and any(s[2] for s in shares if s) and methods <= told, methods - told


def test_a_stretch_of_time_is_chosen_by_dragging(browser, pages):
    page, report = pages["h2"]
    data = page_data(page.read_text())
    browser.page(page, OBJECTS)
    before = browser.text("#bar").strip(), rows(browser)
    browser.drag("#strip svg", 0.5, 0.999)
    begin, end = (int(n) for n in state(browser)["time"].split("-"))
    first, last = min(data["epochs"]["begin"]) / 1e6, max(data["epochs"]["end"]) / 1e6
    assert abs(begin - (first + last) / 2) < 0.02 * (last - first) and last - end < 0.02 * (last - first)
    middle = [(b + e) / 2e6 for b, e in zip(data["epochs"]["begin"], data["epochs"]["end"])]
    totals = data["totals"]
    chosen = [(b, n) for b, n, e in zip(totals["bucket"], totals["samples"], totals["epoch"]) if begin <= middle[e - 1] <= end]
    heap = sum(n for b, n in chosen if b < 3) / sum(n for _, n in chosen)
    assert "heap %.1f%%" % (100 * heap) in browser.text("#legend")
    assert 0 < sum(n for _, n in chosen) < report["samples"]["total"]
    browser.press("0")
    assert "time" not in state(browser) and (browser.text("#bar").strip(), rows(browser)) == before


def test_times_of_pauses_and_epochs_are_in_the_data(pages):
    data = page_data(pages["h2"][0].read_text())
    assert len(data["pauses"]) >= 5 and all(0 < at < 60e9 and 0 < length < 1e9 for _, at, length in data["pauses"])
    spans = list(zip(data["epochs"]["begin"], data["epochs"]["end"]))
    assert all(b < e for b, e in spans) and max(e for _, e in spans) < 60e9


# Flame graphs


def shown_frames(browser):
    return browser.evaluate("Array.from(document.querySelectorAll('.flame .frame'), (f) => [f.title, f.offsetLeft, f.offsetTop, f.offsetWidth])")


def test_a_flame_graph_has_the_samples_of_its_row(browser, pages):
    page, report = pages["h2"]
    browser.page(page, OBJECTS)
    best = report["ranking"]["rows"][0]
    top = [f for f in shown_frames(browser) if f[2] == 0]
    width = browser.evaluate("document.querySelector('.flame').clientWidth")
    lines = {}
    for at in best["accessed_at"]:
        for line in range(at["line"], at.get("last_line", at["line"]) + 1):
            lines["%s.%s (%s:%d)" % (at["class"], at["method"], at["file"], line)] = at["samples"]
    hottest = best["accessed_at"][0]
    text, _, _, wide = top[0]
    assert text.split(":")[0] + ":" + re.search(r":(\d+)\)", text).group(1) + ")" in lines
    assert abs(wide / width - hottest["samples"] / best["samples"]) < 0.03 or "last_line" in hottest
    samples = [float(re.search(r"\): ([\d.,]+) samples", f[0]).group(1).replace(",", "")) for f in top]
    assert sum(samples) <= best["samples"] + 0.5


def test_zoom_turn_and_callers(browser, pages):
    browser.page(pages["h2"][0], OBJECTS)
    before = shown_frames(browser)
    below = next(f for f in before if f[2] == 40)
    browser.evaluate("Array.from(document.querySelectorAll('.flame .frame')).find((f) => f.offsetTop === 40).click()")
    zoomed = shown_frames(browser)
    full = browser.evaluate("document.querySelector('.flame').clientWidth")
    wide = next(f for f in zoomed if f[0] == below[0])
    assert wide[3] > 0.98 * full - 2 and [f[0] for f in zoomed if f[2] < 40][1:] != []
    browser.press("Escape")
    assert shown_frames(browser) == before
    browser.press("i")
    turned = shown_frames(browser)
    assert any("main (" in f[0] for f in turned if f[2] == 0)
    browser.press("i")
    assert shown_frames(browser) == before
    browser.evaluate("document.querySelector('.flame').focus()")
    browser.press("ArrowDown", "ArrowDown", "s")
    assert "Callers above, callees below" in browser.text(".flame-detail") or "Callers above" in browser.text("#view-objects .detail")
    browser.press("Escape")
    assert shown_frames(browser) == before


# Search, keys, address


def test_search_says_how_much_matches(browser, pages):
    page, report = pages["h2"]
    browser.page(page, OBJECTS)
    browser.press("/")
    browser.type("valueinteger")
    browser.evaluate("new Promise((done) => setTimeout(done, 150))")
    found = browser.text("#found")
    count, part = re.match(r"(\d+) rows?, matched ([\d.]+)%", found).groups()
    least = sum(r["share"] for r in report["ranking"]["rows"] if "ValueInteger" in r["class"])
    assert int(count) >= 1 and float(part) >= 100 * least - 0.1
    assert state(browser)["find"] == "valueinteger"
    assert browser.evaluate("document.querySelectorAll('.frame.match').length") >= 0
    browser.press("Escape")
    assert browser.text("#found") == "" and "find" not in state(browser)
    browser.press("/")
    browser.type("no such thing")
    browser.evaluate("new Promise((done) => setTimeout(done, 150))")
    assert "Nothing found" in browser.text("#view-objects .list") and browser.messages() == []


def test_keys_and_help(browser, pages):
    page, report = pages["h2"]
    browser.page(page, OBJECTS)
    browser.press("n")
    assert state(browser)["finding"] == report["findings"][0]["id"]
    assert report["findings"][0]["change"][:40] in browser.text(".finding")
    browser.press("n")
    assert state(browser)["finding"] == report["findings"][1]["id"]
    browser.press("?")
    assert "next finding" in browser.text("#dialog")
    browser.press("Escape", "t")
    assert state(browser)["thread"] == str(report["threads"][0]["tid"])
    browser.press("m")
    assert state(browser)["metric"] == "bytes"
    browser.press("g")
    assert state(browser)["group"] == "class"
    browser.press("]")
    assert "time" in state(browser)
    assert browser.messages() == []


def test_the_address_brings_all_of_it_back(browser, pages):
    page, report = pages["h2"]
    browser.page(page, OBJECTS)
    browser.choose("#switch-group", "class")
    browser.choose("#switch-metric", "bytes")
    browser.press("f")
    browser.evaluate("document.querySelector('#view-objects .list').focus()")
    browser.press("ArrowDown", "ArrowDown")
    kept, text = browser.url().split("#")[1], browser.text("#view-objects .detail")
    browser.page(page, kept)
    assert browser.text("#view-objects .detail") == text and browser.url().endswith(kept)
    sites = [s for s in report["sites"] if s["samples"]]
    for site in sites[::1 + len(sites) // 12]:  # as pages of earlier versions had it
        browser.page(page, site["id"])
        at = site["allocation_path"][0]
        assert browser.text("#view-objects h2").endswith(("(%s)" % site["class"], site["class"]))
        assert "%s (%s:%d)" % (at["method"], at["file"], at["line"]) in browser.text("#view-objects .origin")


def test_the_ranking_is_copied_as_markdown(browser, pages):
    page, report = pages["h2"]
    browser.page(page, OBJECTS)
    browser.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    browser.press("c")
    copied = browser.evaluate("window.copied")
    table = [line for line in copied.splitlines() if line.startswith("| ")]
    ranked = [r for r in report["ranking"]["rows"] if not r["rest"]]
    assert len(table) == 2 + min(25, len(ranked)) and len({line.count(" | ") for line in table}) == 1
    assert table[2].startswith("| %.1f%% | " % (100 * ranked[0]["share"]))


# Light, dark, narrow, paper


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", ("light", "dark"))
@pytest.mark.parametrize("name", REAL)
def test_text_can_be_read_in_light_and_dark(browser, pages, name, scheme):
    """Contrast of all text that is shown: 4.5 to 1, as WCAG 2.1 (1.4.3) asks."""
    weak = [browser.page(pages[name][0], view, scheme=scheme).evaluate("""(() => {
        const luminance = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        const over = (css, back) => { canvas.fillStyle = "rgb(" + back.join() + ")"; canvas.fillRect(0, 0, 1, 1); canvas.fillStyle = css;
            canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)]; };
        const weak = [];
        for (const e of document.querySelectorAll("body *")) {
            if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.offsetParent || e.closest("option, svg, script, noscript, .hidden"))
                continue;
            const chain = [];
            for (let p = e; p; p = p.parentElement)
                chain.unshift(getComputedStyle(p).backgroundColor);
            let back = [255, 255, 255];
            for (const c of chain)
                back = over(c, back);
            const text = over(getComputedStyle(e).color, back), [a, b] = [luminance(text), luminance(back)].sort((x, y) => y - x);
            if ((a + 0.05) / (b + 0.05) < 4.4)
                weak.push(e.className + ": " + e.textContent.trim().slice(0, 40) + " " + text + " on " + back);
        }
        return weak;
    })()""") for view in ("view=objects", "view=waits")]
    assert weak == [[], []]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", REAL)
def test_a_narrow_window_scrolls_in_one_direction(browser, pages, name):
    browser.page(pages[name][0], width=400)
    for view in browser.evaluate("""Array.from(document.querySelectorAll("nav [role=tab]")).filter((t) => !t.hidden).map((t) => t.id)"""):
        browser.click("#" + view)
        assert browser.evaluate("document.documentElement.scrollWidth") <= 400, view


def test_print_prints_all(browser, pages):
    page, report = pages["h2"]
    browser.page(page, OBJECTS)
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    browser.media({"media": "print"})
    text = browser.text("#print")
    for row in report["ranking"]["rows"]:
        if row["samples"]:
            assert row["class"] in text
    assert all(f.get("change", "")[:40] in text for f in report["findings"])
    assert browser.evaluate("document.querySelector('main').offsetHeight") == 0


# Names that are hard


def test_hard_names_are_text(browser, locus, tmp_path):
    evil = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
    names = (evil, "Quote\"'`|", "Emoji\U0001F600\U0001F468‍\U0001F469", "Long" + "x" * 4000, "Long" + "x" * 4001, "back‮ward", "new\nline")
    block = Block()
    for i, name in enumerate(names):
        block.access("object", (frame(name, name, 10 + i),), 40 + i, (name, (frame(name, "make" + name, i + 1),)))
    page = tmp_path / "page.html"
    assert locus("report", Profile(tmp_path / "p", command="java " + evil).append(block, name=evil).close(), "-f", page).returncode == 0
    for width in (1280, 400):
        browser.page(page, OBJECTS, width=width)
        assert len(rows(browser)) == len(names)
        labels = browser.texts("#view-objects .row .middle")
        assert len(set(labels)) == len(names)
        for view in ("code", "threads", "about", "objects"):
            browser.click("#tab-" + view)
        for _ in names if width == 1280 else names[:1]:
            for face in browser.evaluate("Array.from(document.querySelectorAll('.faces button'), (b) => b.dataset.face)"):
                browser.click(".faces [data-face=%s]" % face)
            browser.evaluate("document.querySelector('#view-objects .list').focus()")
            browser.press("ArrowDown")
        assert "pwned" not in browser.evaluate("document.title") and browser.messages() == []
        assert browser.evaluate("document.querySelectorAll('img').length") == 0


def test_groups_of_hosts_are_rows_of_the_page(browser, locus, tmp_path):
    """The switch is there where something is kept apart, whichever group the page opens with; a hostile host is text."""
    for name, host, n in (("a", "web1.acme.com", 100), ("b", "web2.acme.com", 300), ("c", HOSTILE, 50)):
        record(tmp_path / "root" / name, n, host=host)
    merged, pages = merge(tmp_path / "m", "--by=host", tmp_path / "root"), []
    for i, options in enumerate((["--by=host", tmp_path / "root"], [merged], ["--group=by", merged])):
        page = tmp_path / ("%d.html" % i)
        assert locus("report", "-f", page, *options).returncode == 0
        browser.page(page, OBJECTS)
        browser.choose("#switch-group", "by")
        labels = [text.split("\n")[0] for text in browser.texts("#view-objects .row .middle")]
        assert labels[:2] == ["host=web2.acme.com", "host=web1.acme.com"] and len(labels) == 3
        assert [r[0].lstrip("~") for r in rows(browser)] == ["%.1f%%" % (100 * 16 * n / (20 * 450)) for n in (300, 100, 50)]
        assert browser.messages() == [] and '"<b>é' in browser.texts("#view-objects .row .middle")[2]
        pages.append(page_data(page.read_text())["lenses"][0]["groups"]["by"]["rows"])
    assert [[r["samples"] for r in p] for p in pages] == [[4800, 1600, 800]] * 3
    assert locus("report", "-f", tmp_path / "plain.html", tmp_path / "root").returncode == 0
    assert "by" not in page_data((tmp_path / "plain.html").read_text())["lenses"][0]["groups"]


def test_engines_are_switched_and_never_added(browser, locus, tmp_path):
    pebs = {"name": "pebs", "event": "cache-misses", "unit": "misses", "interval_ns": 1000, "reason": ""}
    timer = {"name": "timer", "event": "thread-cpu-time", "unit": "ns of thread CPU time", "interval_ns": 5_000_000, "reason": ""}
    block = Block()
    block.access("object", (frame("A", "a", 1),), 300, ("Often", (frame("A", "make", 1),)))
    block.access("object", (frame("B", "b", 2),), 100, ("Seldom", (frame("B", "make", 2),)), engine=1)
    path = Profile(tmp_path / "p", engines=[timer, pebs]).append(block).close()
    page = tmp_path / "page.html"
    assert locus("report", path, "-f", page).returncode == 0
    browser.page(page, OBJECTS)
    assert [(r[0], r[2]) for r in rows(browser)] == [("100.0%", "Often")]
    browser.choose("#switch-engine", "1")
    assert [(r[0], r[2]) for r in rows(browser)] == [("100.0%", "Seldom")] and "100 samples" in browser.text("#facts")


def test_the_page_of_a_diff_is_coloured_by_the_difference(browser, locus, tmp_path):
    grown, shrunk, same = (frame("com.acme." + c, "run", i) for i, c in enumerate(("Grown", "Shrunk", "Same"), 1))

    def profile(name, samples):
        block = Block()
        for leaf, n in zip((grown, shrunk, same), samples):
            if n:
                block.access("object", (leaf,), n, ("Of" + leaf[0].rsplit(".", 1)[1], (frame("Main", "make", leaf[4]),)))
        block.access("object", (same,), 100 if name == "before" else 0, ("Gone", (frame("Main", "make", 9),)))
        return Profile(tmp_path / name).append(block).close()

    before, after = profile("before", (500, 3000, 1400)), profile("after", (3000, 500, 1500))
    page = tmp_path / "diff.html"
    done = locus("diff", before, after, "--format=html", "-f", page)
    assert done.returncode == 0, done.stderr
    report = json.loads(locus("diff", before, after, "--format=json").stdout)
    browser.page(page, OBJECTS)
    assert page_data(page.read_text())["difference"]["headline"] in browser.text("#difference").replace("\n", " ")
    shown = {r[2]: (r[0], r[1]) for r in rows(browser)}
    assert shown["OfGrown"] == ("60.0%", "was 10.0%") and shown["OfShrunk"] == ("10.0%", "was 60.0%")
    assert browser.texts("#view-objects .changed") == ["was 10.0%", "was 60.0%"]
    browser.evaluate("document.querySelector('#difference details').open = true")
    assert "Gone" in browser.text("#difference") and "2.0% before" in browser.text("#difference")
    assert sum(r["share"]["significant"] for r in report["rows"]) >= 2
    browser.click("#tab-code")
    frames = browser.evaluate("""Array.from(document.querySelectorAll("#view-code .frame"), (f) =>
        [f.textContent, getComputedStyle(f).getPropertyValue("--hue"), parseInt(getComputedStyle(f).getPropertyValue("--strength"))])""")
    colour = {text.split(".")[0]: (hue, strength) for text, hue, strength in frames}
    assert colour["Grown"] == ("4", 70) and colour["Shrunk"] == ("220", 70) and colour["Same"][1] <= 5
    assert browser.messages() == []
