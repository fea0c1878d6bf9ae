# SPDX-License-Identifier: Apache-2.0
"""`locus spans` on synthetic profiles, the numbers expected of them worked out by hand."""

import csv
import io
import json
import re
import subprocess
import time

import pytest
import synthetic
from conftest import BUILD
from helpers import marked_lines, open_page, page_data, with_script
from synthetic import Block, Profile, engine, frame, spans

MS = 1_000_000
S = 1000 * MS
MAIN = frame("com.acme.Main", "main", 10)
QUERY = frame("com.acme.Query", "run", 20)
INNER = frame("com.acme.Query", "lambda$run$0", 22)
SUBMIT = frame("com.acme.Pool", "go", 30)
MAKE = frame("com.acme.Work", "<init>", 5)
NODE = ("com.acme.Node", (MAKE, MAIN))
WORK = "com.acme.Work"
CPUS = {"active": False, "balancing": False, "error": None, "pages_migrated": 0, "pages_asked": 0,
        "pages_unknown": 0, "owner_changes": 0, "samples_dropped": 0,
        "nodes": [{"node": 0, "memory_bytes": 1 << 30, "cpus": "0-3", "memory_allowed": True,
                   "distances": [10]}]}


def main_block():
    """20 streams of 5,000,000 with 100 inner ones each, 30 parallel ones; what work was created for."""
    block = Block()
    block.span("anonymous", (QUERY, MAIN), [5_000_040] * 20, overhead=40, switches=3,
               nested=(2000, 0, 0, 0), gc=(2, 7 * MS), intervals=[(2 * S, 5 * S)])
    block.span("anonymous", (INNER,), [944] * 2000, level=1, overhead=44, intervals=[(2 * S, 5 * S)])
    block.span("primordial", (MAIN,), [1_000_000] * 30, intervals=[(6 * S, 7 * S)])
    block.span("pulled", (INNER,), [], executions=7)
    block.span("foreign", (INNER,), [30, 10], overhead=25)
    block.made(WORK, (MAKE,), 3000).made(WORK, (MAKE,), 2990, "execute", (SUBMIT,))
    block.access("object", (QUERY,), 90, NODE).count("native", 10)
    block.span_access("anonymous", (QUERY, MAIN), "object", NODE, (QUERY,), 90)
    block.span_access("anonymous", (QUERY, MAIN), "native", None, (), 10)
    for i in range(20):
        block.slice((10 + 3 * i) * 100 * MS, 90 * MS, 2, 1)
    return block.pause(3 * S, 5 * MS)


def worker_block(number, traced=False):
    block = Block()
    block.span("support", (MAIN,), [3_000_000] * (62 if number == 1 else 2),
               intervals=[(6 * S, 7 * S)])
    block.span("task", (MAKE,), [2050 + 10 * i for i in range(700)], type=WORK, submit="execute",
               submitted=(SUBMIT,), overhead=50, intervals=[(8 * S, 9 * S)], wait=(700, 70_000),
               folded=3)
    for i in range(80, 90):
        block.slice(i * 100 * MS, 50 * MS, 400, 20)
    if traced:
        trace(block, number)
    return block


def trace(block, number):
    """703 executions as counted: one in 234 runs inside another one, which it belongs to."""
    for i in range(703):
        start, inside = 8 * S + i * MS, i % 234 == 1 and i < 700
        if inside:
            start -= MS - 1000
        block.trace(number * 1000 + i, "task", (MAKE,), start, 500 if inside else 900_000, 2050,
                    outer=number * 1000 + i - 1 if inside else 0, logical=number * 1000 + i,
                    type=WORK, submit="none" if inside else "execute",
                    submitted=() if inside else (SUBMIT,), flags=1 if inside else 2, creator=0,
                    overhead=50, switches=1)


def write(path, traced=False, **more):
    profile = Profile(path, engines=[engine()], spans=more.pop("recording", spans()), **more)
    profile.manifest["processes"][0]["numa"] = CPUS
    profile.append(main_block(), index=0, name="main", end=11 * S)
    for number in range(1, 5):
        profile.append(worker_block(number, traced), index=number,
                       name="pool-1-thread-%d" % number, end=11 * S)
    return profile.close()


@pytest.fixture
def profile(tmp_path):
    return write(tmp_path / "p")


def seen(locus, path, *options):
    done = locus("spans", "--format=json", *options, path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["format"] == 1
    return found


def by(rows, **wanted):
    (row,) = [r for r in rows if all(r[k] == v for k, v in wanted.items())]
    return row


# JSON


def test_clock_and_calibration_head_every_report(locus, profile, tmp_path):
    found = seen(locus, profile)
    assert found["clock"] == {"name": "tsc_switches", "hz": 2_500_000_000, "reason": "no rdpmc"}
    assert found["calibration"]["costs"]["anonymous"] == {"mean_cycles": 44, "variation": 0.01}
    assert found["warnings"] == []
    warned = write(tmp_path / "w", recording=spans(calibration_warning="coefficient of variation 0.61"))
    for form in ("text", "json", "html", "csv"):
        out = locus("spans", "--format=" + form, warned).stdout
        out = json.dumps(page_data(out)) if form == "html" else out
        assert "coefficient of variation 0.61" in out and "tsc_switches" in out, form
    assert "0.61" in locus("spans", "--format=trace", write(
        tmp_path / "t", True, recording=spans(calibration_warning="0.61"))).stdout


def test_streams_by_place_kind_and_level(locus, profile):
    found = seen(locus, profile)
    outer = by(found["streams"], method="run", kind="anonymous")
    assert (outer["class"], outer["line"], outer["level"]) == ("com.acme.Query", 20, 0)
    assert outer["executions"] == 20
    assert (outer["cycles"], outer["compensated_cycles"]) == (20 * 5_000_040, 20 * 5_000_000)
    assert (outer["context_switches"], outer["gc_pauses"], outer["gc_ns"]) == (3, 2, 7 * MS)
    assert outer["nested"]["anonymous"] == 2000
    assert (outer["first_ns"], outer["last_ns"]) == (1 * S, 4 * S)  # since the program's start
    inner = by(found["streams"], kind="anonymous", level=1)
    assert inner["executions"] == 2000
    assert inner["histogram"] == [[896, 2000]]  # 900: of 896 to 1023
    support = by(found["streams"], kind="support")
    assert (support["executions"], support["compensated_cycles"]) == (68, 204_000_000)
    assert by(found["streams"], kind="pulled")["executions"] == 7
    foreign = by(found["streams"], kind="foreign")
    assert (foreign["compensated_cycles"], foreign["negative"]) == (-10, 1)
    assert sum(s["share_of_cycles"] for s in found["streams"]) == pytest.approx(1)
    assert {s["kind"] for s in found["streams"]} == {
        "anonymous", "primordial", "support", "pulled", "foreign"}


def test_every_row_is_in_the_totals(locus, profile):
    found = seen(locus, profile)
    totals = found["totals"]
    assert totals["anonymous"] == 2020 and totals["support"] == 68 and totals["task"] == 2800
    assert totals["streams"] == 2020 + 30 + 7 + 2
    assert sum(loc["streams"] for loc in found["locations"]) == totals["streams"]
    assert sum(loc["share_of_streams"] for loc in found["locations"]) == pytest.approx(1)
    assert sum(loc["share_of_cycles"] for loc in found["locations"]) == pytest.approx(1)
    assert sum(loc["compensated_cycles"] for loc in found["locations"]) == totals["stream_cycles"]
    assert sum(t["share_of_cycles"] for t in found["types"]) == pytest.approx(1)
    assert sum(w["share_of_cycles"] for w in found["workers"]) == pytest.approx(1)
    assert (totals["created"], totals["submitted"], totals["executed"]) == (3000, 2990, 2812)
    assert (totals["folded"], totals["dropped"], totals["negative"]) == (12, 188, 1)
    assert sum(c["streams"] for c in found["heat_map"]["streams"]) == 2020 + 30 + 2
    cells = sum(c["cycles"] for m in ("streams", "support") for c in found["heat_map"][m])
    assert cells == pytest.approx(totals["stream_cycles"])


def test_heat_map(locus, profile):
    cells = seen(locus, profile)["heat_map"]
    assert cells["base"] == 2
    assert by(cells["streams"], level=1)["from_cycles"] == 512
    assert by(cells["streams"], level=1)["cycles"] == pytest.approx(2000 * 900)
    assert by(cells["streams"], from_cycles=4_194_304)["streams"] == 20
    assert by(cells["support"], level=0)["streams"] == 68


def test_tasks_and_their_granularity(locus, profile):
    found = seen(locus, profile)
    (task,) = found["tasks"]
    assert (task["type"], task["kind"], task["submit_kind"]) == (WORK, "task", "execute")
    assert (task["creation"]["line"], task["submission"]["line"]) == (5, 30)
    assert (task["executions"], task["submitted"], task["folded"]) == (2800, 2990, 12)
    assert task["compensated_cycles"] == 4 * sum(2000 + 10 * i for i in range(700))
    assert (task["waits"], task["wait_ns"]) == (2800, 280_000)
    (kind,) = found["types"]
    assert (kind["created"], kind["executed"], kind["dropped"]) == (3000, 2812, 188)
    assert kind["p50"] == pytest.approx(2000 + 10 * 350, rel=0.125)
    assert kind["p90"] == pytest.approx(2000 + 10 * 630, rel=0.125)
    assert kind["cdf"][-1][1] == 1
    for cycles, part in kind["cdf"]:
        assert part == sum(2000 + 10 * i <= cycles for i in range(700)) / 700


def test_workers_and_their_variation(locus, profile):
    found = seen(locus, profile)
    stream = by(found["locations"], method="main")
    assert [w["thread"] for w in stream["workers"]][:2] == ["pool-1-thread-1", "main"]
    cycles = [186e6, 30e6, 6e6, 6e6, 6e6]
    mean = sum(cycles) / 5
    variation = (sum((c - mean) ** 2 for c in cycles) / 5) ** 0.5 / mean
    assert stream["variation"] == pytest.approx(variation)
    assert found["types"][0]["variation"] == pytest.approx(0)
    busiest = found["workers"][0]
    assert (busiest["thread"], busiest["streams"]["executions"]) == ("pool-1-thread-1", 62)
    assert (busiest["cpu_ns"], busiest["voluntary"], busiest["involuntary"]) == (500 * MS, 4000, 200)


def test_timelines_pauses_and_active_time_on_one_clock(locus, profile):
    found = seen(locus, profile)
    (process,) = found["timeline"]["processes"]
    assert found["timeline"]["interval_ns"] == 100 * MS
    points = {p[0]: p[1:] for p in process["points"]}
    assert points[0] == [90 * MS, 2, 1]
    assert points[7 * S] == [4 * 50 * MS, 1600, 80]
    assert len(points) == 30
    assert len(found["timeline"]["threads"]) == 5
    assert found["gc_pauses"] == [{"process": 0, "start_ns": 2 * S, "duration_ns": 5 * MS}]
    assert by(found["locations"], method="run")["active"] == [[1 * S, 4 * S]]
    assert found["types"][0]["active"] == [[7 * S, 8 * S]]


def test_objects_that_a_stream_waited_for(locus, profile):
    sites = seen(locus, profile)["sites"]
    assert (sites["engine"], sites["samples"]) == ("timer", 100)
    (place,) = sites["places"]
    assert (place["location"]["line"], place["samples"], place["finished"]) == (20, 100, True)
    (thing,) = place["objects"]
    assert (thing["class"], thing["samples"], thing["share"]) == ("com.acme.Node", 90, 0.9)
    assert [f["line"] for f in thing["allocation_path"]] == [5, 10]
    assert thing["access_path"][0]["line"] == 20


def test_diagnoses(locus, profile):
    found = {d["pattern"]: d for d in seen(locus, profile)["diagnoses"]}
    assert set(found) == {"unbalanced", "fine-grained", "tiny-inner-streams"}
    fine = found["fine-grained"]
    assert (fine["verdict"], fine["type"]) == ("finding", WORK)
    assert (fine["creation"]["line"], fine["submission"]["line"]) == (5, 30)
    assert fine["execution"]["threads"] == 4
    assert fine["execution"]["busiest"].startswith("pool-1-thread-")
    assert any("1680.0 context switches in 100 ms" in e for e in fine["evidence"])
    assert any("at other busy times: 3.0" in e for e in fine["evidence"])
    assert "merge them" in fine["change"]
    uneven = found["unbalanced"]
    assert (uneven["verdict"], uneven["location"]["line"]) == ("finding", 10)
    tiny = found["tiny-inner-streams"]
    assert tiny["verdict"] == "no-verdict" and "less than 5%" in tiny["why_no_verdict"]


# The other formats


def test_text(locus, profile):
    done = locus("spans", profile)
    assert (done.returncode, done.stderr) == (0, "")
    out = done.stdout
    for part in ("clock     tsc_switches, 2.5 GHz\n          no rdpmc\ncosts     calibration cached; cycles:\n          inner 37.5", "2020 sequential, 30 parallel (68 tasks",
                 "7 pulled, 2 foreign", "2812 executed, 12 of them as part of another",
                 "3000 created, 2990 submitted, 188 never executed",
                 "fine-grained (finding)  com.acme.Work", "Places of streams",
                 "com.acme.Query.run(Query.java:20)", "Tasks by type", "coefficient of variation",
                 "1 GC pauses of 5 ms", "Objects that streams and tasks waited for",
                 "com.acme.Node of com.acme.Work.<init>(Work.java:5)"):
        assert part in out, part
    assert max(map(len, out.splitlines())) < 220


def test_page_holds_the_same_data(locus, profile, tmp_path):
    page = tmp_path / "spans.html"
    assert locus("spans", "--format=html", "-f", page, profile).returncode == 0
    html = page.read_text()
    assert page_data(html) == seen(locus, profile)
    assert "<!--" not in html  # every mark was replaced
    assert not re.search(r'(src|href)="(?!#)', html)  # nothing is loaded
    assert "createElementNS" in html and "default-src 'none'" in html


def opened(locus, browser, tmp_path, profile):
    """The page after its script ran, as text without scripts."""
    page = tmp_path / "page.html"
    assert locus("spans", "--format=html", "-f", page, profile).returncode == 0
    dom = open_page(browser, page)
    assert 'data-ready="true"' in dom
    return re.sub(r"<script.*?</script>", "", dom, flags=re.S)


def test_page_in_a_browser(locus, profile, tmp_path, browser):
    body = opened(locus, browser, tmp_path, profile)
    for part in ("tsc_switches", "fine-grained", "merge them", "4 threads, most by pool-1", "com.acme.Query.run (Query.java:20)",
                 "com.acme.Node", "pool-1-thread-1", "GC pause at 2 s: 5 ms", "coefficient of variation",
                 "level 0, from 4,194,304 cycles: 20", "2,812 tasks executed", "half at most"):
        assert part in body, part
    assert body.count("<svg") == 5  # two heat maps, granularity, workers, time


LABELS = """
    const boxes = [...document.querySelectorAll("#heat svg")].flatMap((map) =>
        [...map.querySelectorAll("text")].map((t) => [map, t.textContent, t.getBoundingClientRect()]));
    const over = [];
    boxes.forEach(([map, a, p], i) => boxes.slice(i + 1).forEach(([other, b, q]) => {
        if (map === other && p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom)
            over.push(a + " | " + b);
    }));
    document.body.append("labels " + boxes.length + ", over each other " + over.length + ": " + over.join("; "));"""


def test_labels_of_the_heat_map_do_not_overlap(locus, tmp_path, browser):
    """Streams of all sizes, from nothing to hours, so many that numbers are as wide as they get."""
    block = Block()
    for level in range(3):
        for power in range(44):
            cycles = [2**power] * (1100 + 7 * power)
            block.span("anonymous", (QUERY, MAIN), cycles, level=level)
            block.span("support", (MAIN,), cycles, level=level)
    path = Profile(tmp_path / "p", spans=spans()).append(block, end=11 * S).close()
    page = tmp_path / "page.html"
    assert locus("spans", "--format=html", "-f", page, path).returncode == 0
    with_script(page, LABELS)
    for width in (1400, 700):
        dom = open_page(browser, page, width=width)
        (found,) = re.findall(r"labels (\d+), over each other (\d+): ([^<]*)", dom)
        assert int(found[0]) == 2 * (3 * 44 + 44 + 3 + 1)
        assert int(found[1]) == 0, found[2][:300]


def test_text_cuts_a_very_long_command_between_characters(locus, tmp_path):
    """400 bytes of it at most, in each text that begins with it; JSON has all."""
    command = "java -cp " + "\u00fc" * 300  # byte 400 is the second of a character
    path = Profile(tmp_path / "p", command=command, spans=spans())
    where = (frame("A", "a", 1),)
    block = Block().span("anonymous", where, [1000]).access("native", where, 1)
    path = path.append(block, end=2 * S).close()
    for word, options in (("report", ["--full"]), ("spans", [])):
        done = locus(word, *options, path)
        assert done.returncode == 0, done.stderr
        line = next(line for line in done.stdout.splitlines() if line.startswith("program"))
        assert line == "program   java -cp " + "\u00fc" * 195 + " ... (210 more bytes)"
        shown = json.loads(locus(word, path, "--format=json").stdout)
        assert command in (shown.get("program", {}).get("command"), shown["processes"][0]["command"])


def test_page_runs_no_script_from_a_name(locus, tmp_path, browser):
    evil = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
    odd = (evil, evil, "()V", evil, 1, 1)
    block = Block().span("anonymous", (odd,), [1000]).span("task", (odd,), [1000], type=evil)
    block.span_access("anonymous", (odd,), "object", (evil, (odd,)), (odd,), 3)
    path = Profile(tmp_path / "p", command=evil, spans=spans(clock_reason=evil))
    body = opened(locus, browser, tmp_path, path.append(block, name=evil, end=2 * S).close())
    assert "<title>Locus spans: &lt;/script&gt;" in body and "<img" not in body


def tables(text):
    parts = re.split(r"^# (\w+)\n", text, flags=re.M)[1:]
    return {name: list(csv.DictReader(io.StringIO(body.strip() + "\n")))
            for name, body in zip(parts[::2], parts[1::2])}


def test_csv(locus, profile):
    found, report = tables(locus("spans", "--format=csv", profile).stdout), seen(locus, profile)
    assert set(found) == {"recording", "diagnoses", "locations", "streams", "types", "tasks",
                          "workers", "heat_map", "cdf", "timeline", "gc_pauses", "active", "sites", "paths"}
    for name in ("diagnoses", "locations", "streams", "types", "tasks", "workers", "gc_pauses"):
        assert len(found[name]) == len(report[name]), name
    for row, want in zip(found["streams"], report["streams"]):
        for member in ("class", "method", "kind"):
            assert row[member] == want[member]
        for member in ("executions", "cycles", "compensated_cycles", "context_switches"):
            assert int(row[member]) == want[member]
    assert [int(r["executions"]) for r in found["cdf"]] == [n for _, n in report["types"][0]["histogram"]]
    assert sum(not r["thread"] for r in found["timeline"]) == 30
    assert found["sites"][0]["object_class"] == "com.acme.Node"
    one = locus("spans", "--format=csv", "--table=tasks", profile).stdout
    assert next(csv.DictReader(io.StringIO(one)))["type"] == WORK
    assert "#" not in one


def test_trace_events(locus, tmp_path):
    path = write(tmp_path / "p", True)
    done = locus("spans", "--format=trace", path)
    assert (done.returncode, done.stderr) == (0, "")
    events = json.loads(done.stdout)["traceEvents"]
    whole = [e for e in events if e["ph"] == "X" and e["cat"] == "task"]
    assert len(whole) == 4 * 703
    first = min(whole, key=lambda e: (e["tid"], e["ts"]))
    assert (first["name"], first["pid"], first["tid"]) == (WORK, 4711, 4712)
    assert (first["ts"], first["dur"]) == (7e6, 900)
    assert first["args"]["compensated_cycles"] == 2000
    assert first["args"]["submitted_at"] == "com.acme.Pool.go(Pool.java:30)"
    assert first["args"]["creating_thread"] == "main"
    names = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert {"main", "pool-1-thread-4"} <= names
    cpus = [e for e in events if e["ph"] == "C" and e["name"] == "CPUs in use"]
    assert len(cpus) == 30 and cpus[-1]["args"]["cpus"] == 2
    (pause,) = [e for e in events if e.get("cat") == "gc"]
    assert (pause["ts"], pause["dur"]) == (2e6, 5000)
    assert locus("spans", "-f", tmp_path / "x.trace.json", path).returncode == 0
    assert (tmp_path / "x.trace.json").read_text() == done.stdout


def test_single_spans_agree_with_the_counts(locus, tmp_path):
    found = seen(locus, write(tmp_path / "p", True))
    # Streams are counted only: 2020 sequential, 30 parallel, 68 tasks of theirs, 2 foreign.
    assert found["trace"] == {"spans": 2812, "spans_counted": 2812 + 2120, "tasks": 2812,
                              "tasks_counted": 2812, "folded": 12, "folded_counted": 12,
                              "objects": 2812}
    assert found["warnings"] == ["of 4932 counted executions, 2812 are single spans in the trace; "
                                 "the others were not written"]
    profile = Profile(tmp_path / "q", spans=spans())
    whole = Block().span("task", (MAKE,), [2050] * 700, type=WORK, folded=3)
    trace(whole, 1)
    assert seen(locus, profile.append(whole, end=11 * S).close())["warnings"] == []


def test_single_spans_that_disagree_are_told(locus, tmp_path):
    profile = Profile(tmp_path / "p", spans=spans())
    block = Block().span("task", (MAKE,), [2050], type=WORK, folded=1)
    block.trace(1, "task", (MAKE,), 8 * S, 900, 2050, type=WORK)
    block.trace(2, "task", (MAKE,), 8 * S, 900, 2050, type=WORK)  # in none, though one was folded
    profile.append(block, name="w", end=11 * S)
    found = seen(locus, profile.close())
    assert found["warnings"] == ["by the single spans, 0 task executions belong to another task; "
                                 "the agent counted 1"]


def test_a_virtual_threads_spans_are_asynchronous(locus, tmp_path):
    profile = Profile(tmp_path / "p", spans=spans())
    block = Block().trace(5, "task", (MAKE,), 8 * S, 900, 2050, type=WORK, flags=16)
    profile.append(block, name="carrier", end=11 * S)
    events = json.loads(locus("spans", "--format=trace", profile.close()).stdout)["traceEvents"]
    assert [(e["ph"], e["id"], e["ts"]) for e in events if e.get("id") and e["cat"] == "task"] == [
        ("b", "5", 7e6), ("e", "5", 7_000_000.9)]


# Choices


def test_top_sort_and_thread(locus, profile):
    assert len(seen(locus, profile, "--top=1")["streams"]) == 1
    assert seen(locus, profile, "--sort=executions")["locations"][0]["method"] == "lambda$run$0"
    assert seen(locus, profile, "--sort=switches")["locations"][0]["method"] == "run"
    one = seen(locus, profile, "--thread=pool-1-thread-2")
    assert one["totals"]["support"] == 2 and one["totals"]["anonymous"] == 0
    assert [w["thread"] for w in one["workers"]] == ["pool-1-thread-2"]
    assert any("--thread" in w for w in one["warnings"])


def test_a_program_that_still_runs(locus, tmp_path):
    found = seen(locus, write(tmp_path / "p", complete=False))
    assert found["processes"][0]["complete"] is False
    assert any("still running" in w and "10.0 s" in w for w in found["warnings"])
    assert found["totals"]["streams"] == 2059


def test_whole_paths(locus, tmp_path):
    profile = Profile(tmp_path / "p", spans=spans())
    block = Block()
    for number, root in enumerate((MAIN, SUBMIT, MAKE)):
        block.span("anonymous", (QUERY, root), [1000 * (number + 1)] * 2)
    profile.append(block, end=2 * S)
    directory = profile.close()
    (place,) = seen(locus, directory)["locations"]
    assert place["streams"] == 6
    assert [(p["executions"], p["compensated_cycles"], p["path"][1]["line"]) for p in place["paths"]] == [
        (2, 6000, 5), (2, 4000, 30), (2, 2000, 10)]
    assert all((p["kind"], p["level"]) == ("anonymous", 0) for p in place["paths"])
    shown = locus("spans", directory, "--format=csv", "--table=paths").stdout
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert [(r["of"], r["executions"], r["compensated_cycles"]) for r in rows] == [
        ("stream", "2", "6000"), ("stream", "2", "4000"), ("stream", "2", "2000")]
    assert all(len(r["path"].split(";")) == 2 and not r["submission_path"] for r in rows)
    lines = locus("spans", directory, "--format=collapsed").stdout.splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == ["6000", "4000", "2000"]
    assert all(line.count(";") == 2 and "[anonymous level 0]" in line for line in lines)


def test_without_whole_paths_there_are_no_flame_graphs(locus, tmp_path):
    profile = Profile(tmp_path / "p", spans=spans())
    block = Block()
    block.span("anonymous", (QUERY,), [1000] * 2)
    profile.append(block, end=2 * S)
    directory = profile.close()
    done = locus("spans", directory, "--format=collapsed")
    assert done.returncode != 0 and "--span-paths" in done.stderr
    assert [place["paths"] for place in seen(locus, directory)["locations"]] == [[]]


def test_merged_profiles(locus, profile, tmp_path):
    merged = tmp_path / "merged"
    assert locus("merge", "--keep-threads", "-o", merged, profile, synthetic.another(profile, tmp_path / "q")).returncode == 0
    one, two = seen(locus, profile), seen(locus, merged)
    for name in ("anonymous", "support", "task", "streams", "stream_cycles", "created", "folded"):
        assert two["totals"][name] == 2 * one["totals"][name], name
    assert len(two["timeline"]["processes"]) == 2
    assert len(two["types"][0]["workers"]) == 8


def test_what_was_not_recorded_is_said(locus, tmp_path):
    off = spans(streams=False, streams_error="AbstractPipeline has no method evaluate")
    found = seen(locus, write(tmp_path / "p", recording=off))
    assert found["recorded"]["streams"] is False
    assert any("no method evaluate" in w for w in found["warnings"])
    none = seen(locus, write(tmp_path / "q", recording=spans(costs=[], calibration="none")))
    assert any("no calibration" in w for w in none["warnings"])


def test_errors_are_one_line(locus, profile, tmp_path):
    bare = Profile(tmp_path / "bare").append(Block().count("native", 1)).close()
    for options, line in [
        (["--top"], "needs a value"),
        (["--format=pdf", profile], "unknown value 'pdf'"),
        (["--sort=name", profile], "unknown value 'name'"),
        (["--top=0", profile], "not a number of rows"),
        (["--format=csv", "--table=nothing", profile], "unknown table 'nothing'; use one of recording, "),
        (["--table=tasks", profile], "needs --format=csv"),
        (["--engine=pebs", profile], "no samples of 'pebs'"),
        (["--format=trace", profile], "--trace"),
        ([bare], "--spans=streams,tasks"),
        ([tmp_path / "none"], "cannot read profile"),
    ]:
        done = locus("spans", *options)
        usage = any(w in line for w in ("unknown", "needs", "number of"))
        assert done.returncode == (2 if usage else 1) and done.stdout == "", options
        assert done.stderr.count("\n") == 1 and line in done.stderr


def test_names_of_any_bytes(locus, tmp_path):
    profile = Profile(tmp_path / "p", spans=spans())
    odd = frame(b"\xff</script>\"\n", b"=go\"", 3, file="")
    block = Block().span("anonymous", (odd,), [1000] * 3)
    block.span("task", (odd,), [1000], type=b"=1+1\"\n\xff")
    block.trace(1, "task", (odd,), 8 * S, 900, 2050, type=b"=1+1\"\n\xff")
    profile.append(block, name="t\"\n\x1b[31m", end=2 * S)
    path = profile.close()
    found = seen(locus, path)
    assert found["streams"][0]["class"] == "\ufffd</script>\"\n"
    assert found["types"][0]["type"] == "=1+1\"\n\ufffd"
    assert "\x1b" not in locus("spans", path).stdout
    rows = tables(locus("spans", "--format=csv", path).stdout)
    assert rows["types"][0]["type"].startswith("'=1+1")
    assert locus("spans", "--format=html", path).stdout.count("</script>") == 2
    json.loads(locus("spans", "--format=trace", path).stdout)


def test_help_and_manual(locus):
    assert "locus spans" in locus("help", "spans").stdout
    assert "spans" in locus("help").stdout
    assert "\\-\\-table" in locus("help", "--roff", "spans").stdout


def test_the_report_on_objects_tells_of_spans(locus, profile, tmp_path):
    report = json.loads(locus("report", "--format=json", profile).stdout)
    assert report["spans"] == {"streams": 2059, "tasks": 2812}
    text = locus("report", profile).stdout
    assert "note: 2059 streams and 2812 tasks were recorded too; 'locus spans' shows them" in text
    bare = Profile(tmp_path / "bare").append(Block().count("native", 1)).close()
    assert "spans" not in json.loads(locus("report", "--format=json", bare).stdout)
    assert "locus spans" not in locus("report", bare).stdout


# A real program


@pytest.mark.seconds(300)
def test_a_live_program(locus, jdk, workload, tmp_path):
    """The data after a second or so can be seen, and more of it when the program has ended."""
    path = tmp_path / "live"
    line = [BUILD / "locus", "run", "--spans=streams,tasks", "-o", path, "--", jdk.java, "-cp",
            workload(jdk, "LiveSpans"), "LiveSpans"]
    program = subprocess.Popen([str(word) for word in line], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        before = None
        for _ in range(240):
            time.sleep(0.5)
            assert program.poll() is None, program.stderr.read()
            done = locus("spans", "--format=json", path)
            if done.returncode == 0:
                before = json.loads(done.stdout)
                if before["totals"]["anonymous"] and before["totals"]["task"]:
                    assert "is still running: this is what it has written so far\n" in done.stderr
                    assert done.stderr.count("\n") == 1
                    break
        assert before["totals"]["anonymous"] and before["totals"]["task"], before["warnings"]
        assert before["processes"][0]["complete"] is False
        assert any("still running" in w for w in before["warnings"])
        _, errors = program.communicate(b"\n", timeout=300)
        assert program.returncode == 0, errors
    finally:
        program.kill()
        program.wait()
    assert locus("spans", path).stderr == ""
    after = seen(locus, path)
    assert after["processes"][0]["complete"] is True
    assert not any("still running" in w for w in after["warnings"])
    assert after["totals"]["anonymous"] > before["totals"]["anonymous"]
    lines = marked_lines("LiveSpans", "LINE")
    places = {(s["line"], s["level"]): s for s in after["streams"] if s["class"] == "LiveSpans"}
    outer, inner = places[lines["stream"], 0], places[lines["stream"], 1]
    assert inner["executions"] == 1000 * outer["executions"]
    task = max(after["types"], key=lambda t: t["executed"])
    assert task["type"].startswith("LiveSpans$$Lambda")
    assert task["executed"] == 10 * outer["executions"]
    assert (task["creation"]["line"], task["submission"]["line"]) == (lines["task"],) * 2
    assert after["timeline"]["processes"][0]["points"]
