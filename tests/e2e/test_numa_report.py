# SPDX-License-Identifier: Apache-2.0
"""`locus numa` on synthetic profiles, the numbers expected of them worked out by hand."""

import html.parser
import json
import random

import pytest
import synthetic
from helpers import open_page, page_data, with_script
from synthetic import Block, Profile, engine, frame
from test_report import html as html_page, report

MAIN = frame("com.acme.Main", "main", 10)
FILL = frame("com.acme.Solver", "<init>", 20)
READ = frame("com.acme.Solver", "relax", 31)
GRID = ("double[]", (FILL, MAIN))
OWN = ("byte[]", (frame("com.acme.Worker", "run", 44),))
FAULT = engine("fault", "page-faults", 1, "page faults")


def node(number, *distances, cpus="", memory=1 << 30):
    return {"node": number, "memory_bytes": memory, "cpus": cpus, "memory_allowed": memory > 0,
            "distances": list(distances)}


def numa(*nodes, active=True, error=None, **more):
    return {"active": active, "balancing": False, "error": error, "pages_migrated": 0,
            "pages_asked": 9, "pages_unknown": 0, "owner_changes": 0, "samples_dropped": 0,
            "nodes": list(nodes), **more}


TWO = numa(node(0, 10, 21, cpus="0-1"), node(1, 21, 10, cpus="2-3"))


def write(path, threads, machine=TWO, **more):
    """`threads`: name to block."""
    profile = Profile(path, engines=[engine(), FAULT], **more)
    if machine:
        profile.manifest["processes"][0]["numa"] = machine
    for index, (name, block) in enumerate(threads.items()):
        profile.append(block, index=index, name=name)
    return profile.close()


def seen(locus, path, *options):
    done = locus("numa", "--format=json", *options, path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["format"] == 1
    return found["numa"]


def reader(on, samples, owner=0):
    return (Block().access("object", (READ,), samples, GRID)
            .place("object", GRID, (READ,), samples, on, owner).ran(on, samples))


@pytest.fixture
def master(tmp_path):
    """Main fills a grid on node 0; two threads of each node read it."""
    main = (Block().allocate(*GRID, 1, 1 << 20).home(GRID, 0, 1, 1 << 20)
            .count("object", 20, engine=1)
            .place("object", GRID, (FILL, MAIN), 20, 0, 0, engine=1).ran(0, 5))
    return write(tmp_path / "p", {"main": main, "r0": reader(0, 200), "r1": reader(1, 300),
                                  "r2": reader(0, 200), "r3": reader(1, 300)})


def test_a_grid_that_main_fills_and_all_read(locus, master):
    found = seen(locus, master)
    assert found["state"] == "on"
    assert found["engine"] == {"name": "timer", "event": "thread-cpu-time", "folded": 1}
    assert [n["distances"] for n in found["nodes"]] == [[10, 21], [21, 10]]
    (site,) = found["sites"]
    assert site["matrix"] == [[400, 0, 0], [600, 0, 0], [0, 0, 0]]
    assert (site["samples"], site["known"], site["remote"]) == (1000, 1000, 600)
    assert site["remote_share"] == pytest.approx(0.6)
    assert site["weighted_remote_share"] == pytest.approx(600 * 21 / (600 * 21 + 400 * 10))
    assert site["mean_distance"] == pytest.approx(16.6)
    assert site["first_touch"]["by_node"] == [20, 0, 0]
    assert site["first_touch"]["thread"] == "main"
    assert site["allocated"]["total"] == 1 << 20
    diagnosis = site["diagnosis"]
    assert (diagnosis["pattern"], diagnosis["confidence"]) == ("master-initialised", "high")
    assert diagnosis["allocation_line"] == "com.acme.Solver.<init>(Solver.java:20)"
    assert diagnosis["access_line"] == "com.acme.Solver.relax(Solver.java:31)"
    assert any("first touched by thread 'main': 100.0%" in e for e in diagnosis["evidence"])
    assert "parallel first touch" in diagnosis["advice"][0]["action"]
    assert "0.0% remote if threads keep" in diagnosis["advice"][0]["cost"]
    assert "48.0% if all threads use all" in diagnosis["advice"][0]["cost"]  # 1 - 0.4^2 - 0.6^2
    assert "--interleave=all" in diagnosis["advice"][1]["action"]
    assert [t["samples"] for t in site["threads"]] == [300, 300, 200, 200]
    assert {t["thread"]: t["by_node"] for t in found["threads"]}["r1"] == [0, 300, 0]


@pytest.mark.parametrize("policy, share, matrix", [
    ("interleave", 0.5, [[200, 200], [300, 300]]),
    ("first-touch-by-reader", 0, [[400, 0], [0, 600]]),
    ("bind:1", 0.4, [[0, 400], [0, 600]]),
])
def test_other_placements(locus, master, policy, share, matrix):
    found = seen(locus, master, "--simulate", policy)["sites"][0]
    assert found["remote_share"] == pytest.approx(0.6)
    assert found["simulated"]["policy"] == policy
    assert found["simulated"]["remote_share"] == pytest.approx(share)
    assert found["simulated"]["matrix"] == matrix
    text = locus("numa", "--simulate=" + policy, master).stdout
    assert "with %s: %.1f%% remote" % (policy, 100 * share) in text


def test_text(locus, master):
    text = locus("numa", master).stdout
    assert text.startswith("machine   2 NUMA nodes; the kernel's NUMA balancing is off\n")
    assert "60.0% remote" in text
    assert "diagnosis: master-initialised (confidence: high)" in text
    assert "com.acme.Solver.<init>(Solver.java:20)" in text
    assert "com.acme.Solver.relax(Solver.java:31)" in text
    assert "\n                  0        400         0         0\n" in text
    assert "\n                  1        600         0         0\n" in text


def test_used_from_another_node_moved_and_fine(locus, tmp_path):
    far = {"main": Block().home(GRID, 0, 1, 100), "r": reader(1, 500)}
    (site,) = seen(locus, write(tmp_path / "far", far))["sites"]
    assert site["diagnosis"]["pattern"] == "used-from-another-node"
    assert "node 1" in site["diagnosis"]["advice"][0]["action"]
    moved = reader(1, 400).ran(0, 100).ran(1, 1, 1).home(GRID, 0, 1, 100)
    found = seen(locus, write(tmp_path / "moved", {"t": moved}))
    assert found["sites"][0]["diagnosis"]["pattern"] == "thread-migrated"
    assert found["threads"][0]["migrations"] == 1
    assert found["threads"][0]["by_node"] == [100, 401, 0]
    near = {"a": reader(0, 500), "b": reader(1, 500, owner=1)}
    (site,) = seen(locus, write(tmp_path / "near", near))["sites"]
    assert site["diagnosis"]["pattern"] == "fine"
    assert site["diagnosis"]["advice"] == []
    assert site["remote_share"] == 0


def test_unknown_nodes_are_shown_and_do_not_count(locus, tmp_path):
    block = (Block().access("object", (READ,), 130, OWN)
             .place("object", OWN, (READ,), 50, 0, 1)
             .place("object", OWN, (READ,), 50, 1, 1, source="remote_dram")
             .place("object", OWN, (READ,), 20, 1, None)
             .place("object", OWN, (READ,), 10, None, 0))
    (site,) = seen(locus, write(tmp_path / "p", {"t": block}))["sites"]
    assert site["matrix"] == [[0, 50, 0], [0, 50, 20], [10, 0, 0]]
    assert (site["samples"], site["known"], site["remote"]) == (130, 100, 50)
    assert site["sources"] == {"remote_dram": 50}
    assert any("23.1% of the samples have an unknown page or CPU node" in e for e in site["diagnosis"]["evidence"])


def test_sparse_nodes_of_which_one_has_no_memory(locus, tmp_path):
    machine = numa(node(0, 10, 21, 17), node(2, 21, 10, 28), node(8, 17, 28, 10, memory=0))
    path = write(tmp_path / "p", {"a": reader(8, 300), "b": reader(2, 100)}, machine)
    found = seen(locus, path, "--simulate=first-touch-by-reader")
    assert [n["node"] for n in found["nodes"]] == [0, 2, 8]
    assert found["sites"][0]["matrix"][2] == [300, 0, 0, 0]
    assert found["sites"][0]["simulated"]["matrix"] == [[0, 0, 0], [0, 100, 0], [300, 0, 0]]
    done = locus("numa", "--simulate=bind:1", path)
    assert done.returncode == 1
    assert done.stderr == "locus: --simulate: the profile's machine has no node 1\n"


@pytest.mark.parametrize("machine, line", [
    (numa(node(0, 10), active=False), "one NUMA node: all memory is local"),
    (numa(node(0, 10, 20), node(1, 20, 10), active=False, error="cpuset of one"), "cpuset of one"),
    (None, "has no data on NUMA nodes"),
])
def test_nothing_to_say_is_one_line(locus, tmp_path, machine, line):
    path = write(tmp_path / "p", {"main": Block().access("object", (READ,), 10, GRID)}, machine)
    done = locus("numa", "--simulate=interleave", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert line in done.stdout


def test_merging_keeps_nodes_apart_by_thread(locus, master, tmp_path):
    before = seen(locus, master)
    for options in ([], ["--keep-threads"]):
        merged = tmp_path / ("m%d" % len(options))
        other = synthetic.another(master, tmp_path / ("o%d" % len(options)))
        assert locus("merge", "-o", merged, *options, master, other).returncode == 0
        after = seen(locus, merged)
        assert after["sites"][0]["matrix"] == [[800, 0, 0], [1200, 0, 0], [0, 0, 0]]
        assert after["sites"][0]["diagnosis"]["pattern"] == "master-initialised"
        assert len(after["threads"]) == 2 * len(before["threads"])
        assert after["nodes"] == before["nodes"]


def test_options_that_make_no_sense_are_refused_in_one_line(locus, master, tmp_path):
    for options, line in [
        (["--top"], "needs a value"),
        (["--simulate=first-touch", master], "unknown placement 'first-touch'"),
        (["--simulate=bind:x", master], "unknown placement 'bind:x'"),
        (["--format=html", master], "unknown value 'html'"),
        (["--top=0", master], "not a number of sites"),
        (["--engine=pebs", master], "no samples of 'pebs'"),
        ([tmp_path / "none"], "cannot read profile"),
    ]:
        done = locus("numa", *options)
        # Only the last two are about the profile, not about the words.
        status = 1 if "samples of" in line or "cannot read" in line else 2
        assert done.returncode == status and done.stdout == ""
        assert done.stderr.count("\n") == 1 and line in done.stderr


def test_one_thread_and_one_engine(locus, master):
    found = seen(locus, master, "--thread=r1")
    assert found["sites"][0]["samples"] == 300
    found = seen(locus, master, "--engine=fault")
    assert found["sites"][0]["samples"] == 20
    assert seen(locus, master, "--top=1")["sites"]


def test_names_of_any_bytes_give_valid_json(locus, tmp_path):
    site = (b"\xff\"<\n", ())
    block = (Block().access("object", (READ,), 100, site)
             .place("object", site, (READ,), 50, 0, 0).place("object", site, (READ,), 50, 1, 0)
             .home(site, 0, 1, 1))
    found = seen(locus, write(tmp_path / "p", {"t\"\n\\": block, "u": reader(1, 1)}))
    assert found["sites"][0]["class"] == "\ufffd\"<\n"
    assert "\n" not in locus("numa", tmp_path / "p").stdout.split("by threads")[1].split("(")[0][1:]


# In the reports of `locus report`


@pytest.mark.parametrize("options", ([], ["--engine=fault"], ["--engine=timer"], ["--thread=r*"], ["--top=1"]))
def test_the_json_report_holds_the_same(locus, master, options):
    assert report(locus, master, *options)["numa"] == seen(locus, master, *options)


def test_other_placements_are_in_the_json_report(locus, master):
    numa = report(locus, master)["numa"]
    for group in (numa["all"], numa["sites"][0]):
        simple, reader, bound = group["what_if"]
        assert (simple["policy"], reader["policy"], bound["policy"]) == (
            "interleave", "first-touch-by-reader", "bind:1")
        assert simple["remote_share"] == pytest.approx(0.5)
        assert simple["mean_distance"] == pytest.approx((10 + 21) / 2)
        assert reader["remote_share"] == 0 and reader["remote_share_shared"] == pytest.approx(0.48)
        assert bound["remote_share"] == pytest.approx(0.4)  # 600 of 1,000 come from node 1
        assert bound["weighted_remote_share"] == pytest.approx(400 * 21 / (400 * 21 + 600 * 10))


def test_bound_to_the_nearest_is_to_one_that_takes_pages(locus, tmp_path):
    machine = numa(node(0, 10, 21, 17), node(2, 21, 10, 28), node(8, 17, 28, 10, memory=0))
    path = write(tmp_path / "p", {"a": reader(8, 300), "b": reader(2, 100)}, machine)
    # On node 0: 300 at 17 and 100 at 21; on node 2: 300 at 28 and 100 at 10; node 8 has no memory.
    bound = report(locus, path)["numa"]["sites"][0]["what_if"][2]
    assert bound["policy"] == "bind:0"
    assert bound["mean_distance"] == pytest.approx((300 * 17 + 100 * 21) / 400)


@pytest.mark.parametrize("machine, state, line", [
    (numa(node(0, 10), active=False), "one-node", "one NUMA node: all memory is local"),
    (numa(node(0, 10, 20), node(1, 20, 10), active=False, error="cpuset of one"), "off", "cpuset of one"),
    (None, "no-data", None),
])
def test_where_there_is_nothing_to_say_reports_say_why(locus, tmp_path, browser, machine, state, line):
    path = write(tmp_path / "p", {"main": Block().access("object", (READ,), 10, GRID)}, machine)
    found = report(locus, path)["numa"]
    assert found == seen(locus, path)
    assert found["state"] == state and (line or "has no data on NUMA nodes") in found["reason"]
    assert found["sites"] == found["threads"] == [] and "all" not in found
    assert len(found["nodes"]) == {"one-node": 1, "off": 2, "no-data": 0}[state]
    text = [at for at in locus("report", "--view=recording", path).stdout.splitlines() if at.startswith("numa ")]
    assert len(text) == bool(line) and all(line in at for at in text)
    dom = Page(open_page(browser, html_page(locus, tmp_path, path)))
    assert "hidden" in dom.by_id["tab-numa"]
    assert dom.heat == []
    assert (line or "NUMA nodes") in dom.text_of["view-about"]


def test_the_text_report_says_how_much_is_remote(locus, master):
    assert "\nnuma      2 nodes: 60.0% of 1000 accesses with known nodes are remote;" in (
        locus("report", "--view=recording", master).stdout)
    assert "NUMA: 60.0% of 1000 accesses between 2 nodes are remote" in locus("report", master).stdout


def test_remote_memory_is_a_finding_and_near_memory_is_none(locus, master, tmp_path):
    def remote(profile):
        found = json.loads(locus("report", "--format=json", profile).stdout)["findings"]
        return [f for f in found if f["kind"] == "remote-memory"]

    (finding,) = remote(master)
    assert finding["share"] == pytest.approx(0.6) and "c.a.Solver.<init>:20" in finding["text"]
    assert "parallel first touch" in finding["change"]
    near = {"a": reader(0, 500), "b": reader(1, 500, owner=1)}
    assert not remote(write(tmp_path / "near", near))


class Page(html.parser.HTMLParser):
    """The parts of a page in the browser: heat maps as {(row, column): cell}, texts by ID."""

    def __init__(self, text):
        super().__init__()
        self.heat, self.by_id, self.text_of, self.inside = [], {}, {}, []
        self.table = self.cell = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if a.get("id"):
            self.by_id[a["id"]] = a
            self.text_of[a["id"]] = ""
        if tag not in ("meta", "input", "link"):
            self.inside.append((tag, a.get("id")))
        if tag == "table" and "heat" in a.get("class", "").split():
            self.table = {"caption": "", "columns": [], "cells": {}, "row": None}
        elif self.table is not None and tag in ("th", "td", "caption"):
            self.cell = [tag, a, ""]

    def handle_data(self, data):
        for _, name in self.inside:
            if name:
                self.text_of[name] += data
        if self.cell and self.inside[-1][0] != "small":  # there the number's part of all stands
            self.cell[2] += data

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop()[0] != tag:
            pass
        if self.table is not None and tag == "table":
            self.heat.append(self.table)
            self.table = None
        elif self.cell and tag in ("th", "td", "caption"):
            self.end_cell(*self.cell)
            self.cell = None

    def end_cell(self, tag, a, text):
        t = self.table
        if tag == "caption":
            t["caption"] = text
        elif a.get("scope") == "col" and a.get("class") != "corner":
            t["columns"].append(text)
            t["at"] = 0
        elif a.get("scope") == "row":
            t["row"], t["at"] = text, 0
        elif t["row"] is not None:
            t["at"] += 1
            t["cells"][t["row"], t["columns"][t["at"] - 1]] = (text, a)


def many(path, nodes):
    """A profile of a machine with so many nodes, and the truth: samples by site, path and nodes."""
    rng = random.Random(100 + nodes)
    other = frame("com.acme.Solver", "norm", 77)
    machine = numa(*(node(2 * i, *(10 if i == k else 12 + abs(i - k) for k in range(nodes)), cpus="%d" % i)
                     for i in range(nodes)))
    truth, threads = {}, {}
    for i in range(nodes):
        block = Block().ran(2 * i, 900)
        for site, leaf in ((GRID, READ), (GRID, other), (OWN, READ)):
            for to in {rng.randrange(nodes), rng.randrange(nodes), None}:
                n = rng.randrange(1, 300)
                to = to if to is None else 2 * to
                at = None if rng.random() < 0.1 else 2 * i
                block.access("object", (leaf,), n, site).place("object", site, (leaf,), n, at, to)
                key = site[0], leaf[1], at, to
                truth[key] = truth.get(key, 0) + n
        threads["t%d" % i] = block
    return write(path, threads, machine), truth


def matrix_of(truth, numbers, cls, method=None):
    order = {number: i for i, number in enumerate([*numbers, None])}
    matrix = [[0] * len(order) for _ in order]
    for (site, leaf, at, to), n in truth.items():
        if site == cls and method in (None, leaf):
            matrix[order[at]][order[to]] += n
    return matrix


def embedded(page):
    return page_data(page.read_text())


def dense(cells, nodes):
    matrix = [[0] * (nodes + 1) for _ in range(nodes + 1)]
    for a, o, n in zip(cells["accessing"], cells["owning"], cells["samples"]):
        assert n > 0 and matrix[a][o] == 0
        matrix[a][o] = n
    return matrix


@pytest.mark.parametrize("nodes", (2, 4, 8, 64))
def test_html_and_json_hold_the_same_matrices(locus, tmp_path, nodes):
    path, truth = many(tmp_path / "p", nodes)
    numbers = [2 * i for i in range(nodes)]
    found = report(locus, path)["numa"]
    page = html_page(locus, tmp_path, path)
    data = embedded(page)

    def frames(number):
        while number:
            method = data["frames"]["method"][data["paths"]["frame"][number]]
            yield data["strings"][data["methods"]["name"][method]]
            number = data["paths"]["parent"][number]

    assert len(found["sites"]) == 2
    assert all(list(zip(*m)) != [*map(tuple, m)] for m in (s["matrix"] for s in found["sites"]))
    for site, shown in zip(found["sites"], data["numa"]["sites"]):
        assert site["matrix"] == matrix_of(truth, numbers, site["class"])
        assert dense(shown["cells"], nodes) == site["matrix"]
        for access, part in zip(site["accesses"], shown["accesses"]):
            assert access["matrix"] == matrix_of(truth, numbers, site["class"], access["path"][0]["method"])
            assert dense(part["cells"], nodes) == access["matrix"]
            assert list(frames(part["path"])) == [f["method"] for f in access["path"]]
        assert list(frames(shown["allocation_path"])) == [f["method"] for f in site["allocation_path"]]
        for name in ("id", "class", "samples", "known", "remote", "remote_share", "weighted_remote_share",
                     "mean_distance", "what_if", "diagnosis"):
            assert shown[name] == site[name], name
        assert shown["threads_total"] == len(site["threads"]) >= len(shown["threads"])
    assert data["numa"]["nodes"] == found["nodes"]


@pytest.mark.parametrize("nodes", (2, 4, 8, pytest.param(64, marks=pytest.mark.slow)))
def test_the_heat_map_shows_every_cell(locus, tmp_path, browser, nodes):
    path, truth = many(tmp_path / "p", nodes)
    first = report(locus, path)["numa"]["sites"][0]
    page = html_page(locus, tmp_path, path)
    script = """document.getElementById("tab-numa").click();
        document.querySelectorAll("#view-numa .list tr.row")[1].click();
        document.querySelectorAll("#view-numa .choice")[%d].click();"""
    plain = page.read_text()
    numbers = [2 * i for i in range(nodes)]
    for choice, method in ((0, None), (1, first["accesses"][0]["path"][0]["method"])):
        page.write_text(plain)
        with_script(page, script % choice)
        dom = Page(open_page(browser, page))
        assert "hidden" not in dom.by_id["view-numa"] and "hidden" not in dom.by_id["tab-numa"]
        (heat,) = dom.heat
        matrix = matrix_of(truth, numbers, first["class"], method)
        names = [*map(str, numbers), "?"]
        seen_cells = 0
        for a, row in zip(names, matrix):
            for o, n in zip(names, row):
                text, attributes = heat["cells"].get((a, o), ("absent", {}))
                if not sum(row) and a == "?" or o == "?" and not any(r[-1] for r in matrix):
                    assert text == "absent"
                    continue
                if text == "absent":  # of many nodes those without samples are left out at first
                    assert nodes > 16 and n == 0
                    continue
                seen_cells += n
                assert text == "{:,}".format(n), (a, o)
                kind = "blind" if "?" in (a, o) else "local" if a == o else "remote"
                assert kind in attributes["class"].split()
                assert ("--heat" in attributes.get("style", "")) == (n > 0 and kind != "blind")
                assert ": {:,} samples".format(n) in attributes["title"]
        assert seen_cells == sum(map(sum, matrix))
        words = dom.text_of["view-numa"]
        for part in ("Solver.<init>", "Allocated at", "Accessed at", "Interleaved", "first touched by its reader"):
            assert part.lower() in words.lower(), part
        assert first["diagnosis"]["summary"] in words
        assert all(a["action"] in words and a["cost"] in words for a in first["diagnosis"]["advice"])


def test_the_numa_page_runs_no_script_from_a_name(locus, tmp_path, browser):
    evil = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
    site = (evil, (frame(evil, evil, 1),))
    block = (Block().access("object", (READ,), 100, site).home(site, 0, 1, 9).ran(1, 100)
             .place("object", site, (READ,), 60, 1, 0).place("object", site, (READ,), 40, 0, 0))
    page = html_page(locus, tmp_path, write(tmp_path / "p", {evil: block}))
    dom = open_page(browser, page, state="view=numa")
    assert "<title>Locus: " in dom and "pwned</title>" not in dom and "<img" not in dom
    assert evil in Page(dom).text_of["view-numa"]


def test_html_says_how_many_sites_it_left_out(locus, tmp_path, browser):
    path, _ = many(tmp_path / "p", 2)
    page = html_page(locus, tmp_path, path, "--top=1")
    numa = embedded(page)["numa"]
    assert (len(numa["sites"]), numa["sites_total"]) == (1, 2)
    assert numa["sites"][0]["id"] == report(locus, path)["numa"]["sites"][0]["id"]
    assert "first 1 of 2 sites are on the NUMA page" in Page(open_page(browser, page)).text_of["notes"]
