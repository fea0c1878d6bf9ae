# SPDX-License-Identifier: Apache-2.0
"""The formats for other tools: each holds the numbers of --format=json, and every name.

Each is read by a reader that is not ours where one can be had: Go's pprof, the sqlite3 shell, Python's csv,
speedscope's own importer. A machine without a reader skips its tests.
"""

import base64
import collections
import csv
import html
import io
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest
from conftest import run_command
from helpers import npm
from synthetic import Block, Profile, engine, frame, spans
from test_golden_reports import BUILD, PROFILES, S

# Names that quotes, separators, ends of lines and lengths could break.
LONG = "com.acme." + "Lang\u00e4" * 800  # 4,009 characters
NAMES = [
    'com.acme."Quoted"', "com.acme.A\nB\r\nC", "com.acme.\U0001f600Smile", LONG, "com.acme.a;b,c|d\te",
    "com.acme.<b>&amp;`code`", "=1+1", "com.acme.'it''s'", "com.acme.[x]$Inner", "com.acme.Back\\|slash",
]


def site_of(name):
    return name, (frame("com.acme.Maker", "make", 7), (name, name, "()V", "A.java", 3, 9))


def odd(path):
    """Each name is a class of objects, and a class, method and thread of its own."""
    profile = Profile(path, command='java "x" \n\U0001f600', counters={"samples_lost": 1})
    for i, name in enumerate(NAMES):
        block = Block().allocate(*site_of(name), 3 + i, 1000 * (i + 1))
        block.access("object", ((name, name, "()V", "A.java", 3, 9),), 10 + i, site_of(name))
        block.access("heap_class", ((name, name, "()V", "A.java", 3, 9),), 6 + i, (name, ()))
        profile.append(block, index=i, name=name)
    return profile.close()


MADE = {**PROFILES, "odd": odd}
SAME = [("objects", []), ("objects", ["--engine=timer"]), ("objects", ["--include=Chaser.chase"]), ("numa", []),
        ("spans", []), ("damaged", []), ("odd", [])]


@pytest.fixture(scope="module")
def profiles(tmp_path_factory):
    directory = tmp_path_factory.mktemp("formats")
    for name, make in MADE.items():
        make(directory / name)
    return directory


def report(*arguments):
    done = run_command([BUILD / "locus", "report", *arguments])
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


def whole(number):
    """A rounded estimate."""
    return int(number + 0.5)


def sums(found):
    """Samples, bytes and objects of a JSON report: counted, and estimated in whole numbers."""
    return {
        "samples": found["samples"]["total"],
        "bytes": sum(s["bytes"] for s in found["sites"]) + sum(whole(e["bytes"]) for e in found["estimates"]),
        "allocations": (sum(s["allocations"] for s in found["sites"]) +
                        sum(whole(e["objects"]) for e in found["estimates"])),
    }


def wanted(profiles, name, options):
    found = json.loads(report("--format=json", *options, profiles / name))
    return found, sums(found)


def escaped(name):
    """The name as a line of text has it."""
    return "".join("\\u%04x" % ord(c) if ord(c) < 32 or c == "\u202e" else c for c in name)


# Collapsed stacks


def collapsed(profiles, name, kind, *options):
    stacks = collections.Counter()
    for line in report("--format=collapsed", "--stacks=" + kind, *options, profiles / name).splitlines():
        stack, number = line.rsplit(" ", 1)
        assert stack not in stacks and int(number) > 0, line
        stacks[stack] = int(number)
    return stacks


@pytest.mark.parametrize("name, options", SAME)
def test_collapsed_stacks_have_the_sums_of_json(profiles, name, options):
    _, total = wanted(profiles, name, options)
    for kind, what in (("access", "samples"), ("code", "samples"), ("alloc-bytes", "bytes"),
                       ("alloc-count", "allocations")):
        assert sum(collapsed(profiles, name, kind, *options).values()) == total[what], kind


def test_collapsed_stacks_are_of_one_kind(profiles):
    """Each is made again from JSON, which tells lines apart by bytecode as well."""
    found = json.loads(report("--format=json", profiles / "objects"))

    def path(frames):
        return [f["class"] + "." + f["method"] + (":%d" % f["line"] if f["line"] >= 0 else "") for f in frames[::-1]]

    def stacks(rows):
        made = collections.Counter()
        for frames, number in rows:
            made[";".join(escaped(f.replace(";", "_")) for f in frames)] += number
        return +made

    sites, known = found["sites"], collections.Counter()
    access, code = [], []
    for s, bucket in [(s, "object") for s in sites] + [(c, "heap_class") for c in found["classes"]]:
        for a in s["accesses"]:
            access.append((path(a["path"]) + ["[%s]" % s["class"]], a["samples"]))
            code.append((path(a["path"]) or ["[no call path]"], a["samples"]))
            known[bucket] += a["samples"]
    for a in found["other_accesses"]:
        access.append((path(a["path"]) + ["[%s]" % a["bucket"]], a["samples"]))
        code.append((path(a["path"]) or ["[no call path]"], a["samples"]))
        known[a["bucket"]] += a["samples"]
    for bucket, n in found["samples"].items():
        if bucket != "total":
            access.append((["[%s]" % bucket], n - known[bucket]))
            code.append((["[no call path]"], n - known[bucket]))
    made = [(path(s["allocation_path"]) + ["[%s]" % s["class"]], s["bytes"], s["allocations"]) for s in sites]
    made += [(path(e["allocation_path"]) + ["[%s]" % e["class"]], whole(e["bytes"]), whole(e["objects"]))
             for e in found["estimates"]]
    for kind, rows in (("access", access), ("code", code), ("alloc-bytes", [(f, b) for f, b, _ in made]),
                       ("alloc-count", [(f, n) for f, _, n in made])):
        assert collapsed(profiles, "objects", kind) == stacks(rows), kind
    assert collapsed(profiles, "objects", "access") == collections.Counter(
        {k: int(n) for k, n in (line.rsplit(" ", 1) for line in
                                report("--format=collapsed", profiles / "objects").splitlines())})


def test_names_survive_in_collapsed_stacks(profiles):
    stacks = collapsed(profiles, "odd", "alloc-count")
    for i, name in enumerate(NAMES):
        n = escaped(name.replace(";", "_"))
        assert stacks["%s.%s:9;com.acme.Maker.make:7;[%s]" % (n, n, n)] == 3 + i


def test_stacks_go_with_collapsed_alone(locus, profiles):
    done = locus("report", "--format=json", "--stacks=code", profiles / "objects")
    assert (done.returncode, done.stderr) == (2, "locus: --stacks needs --format=collapsed\n")


# CSV

TEXTS = {"kind", "package", "class", "field", "names", "allocated_class", "allocated_method", "allocated_file",
         "allocation_path", "touched", "accessed_class", "accessed_method"}


def table(profiles, name, *options):
    text = report("--format=csv", *options, profiles / name)
    rows = list(csv.DictReader(io.StringIO(text), strict=True))
    for row in rows:
        for column, value in row.items():
            assert column in TEXTS or value == "" or float(value) >= 0, (column, value)
    return rows


@pytest.mark.parametrize("name, options", [*SAME, *(("objects", ["--group=" + g]) for g in
                                                    ("class", "field", "package", "site"))])
def test_csv_rows_are_those_of_json(profiles, name, options):
    found, total = wanted(profiles, name, options)
    rows = table(profiles, name, *options)
    ranked = [r for r in rows if r["kind"] in ("row", "rest")]
    assert sum(int(r["samples"]) for r in rows) == total["samples"]
    for column, what, member in (("estimated_objects", "allocations", "objects"), ("estimated_bytes", "bytes", "bytes")):
        if options == ["--group=field"]:  # which objects have, and allocations have not
            break
        assert sum(int(r[what]) for r in ranked) == sum(s[what] for s in found["sites"])
        assert sum(float(r[column]) for r in ranked) == pytest.approx(sum(e[member] for e in found["estimates"]))
    by_kind = {r["kind"]: int(r["samples"]) for r in rows if r["kind"] not in ("row", "rest")}
    assert len(by_kind) == len(rows) - len(ranked)
    for bucket in ("heap_unknown", "jvm", "native", "no_address", "lost"):
        assert by_kind.get(bucket, 0) == found["samples"][bucket]
    if options == ["--group=site"]:  # JSON tells sites apart by bytecode
        return
    assert [(r["kind"] == "rest", int(r["samples"]), int(r["estimated_samples"]), int(r["allocations"]), int(r["bytes"]))
            for r in ranked] == [
        (r["rest"], r["samples"], r["estimated"], r["allocations"], r["bytes"]) for r in found["ranking"]["rows"]]
    for row, r in zip(ranked, found["ranking"]["rows"]):
        assert float(row["share"]) == pytest.approx(r["share"], abs=1e-6)
        assert float(row["share_low"]) == pytest.approx(r["low"], abs=1e-6)
        at = r.get("allocated_at") or {"class": "", "method": "", "line": -1, "file": ""}
        assert (row["allocated_class"].lstrip("'"), row["allocated_method"].lstrip("'"), row["allocated_line"],
                row["allocated_file"]) == (
            escaped(at["class"]), escaped(at["method"]), str(at["line"]) if at["line"] >= 0 else "", escaped(at["file"]))
        line = (r["accessed_at"] or [{"samples": 0}])[0]
        assert int(row["accessed_samples"]) == line["samples"]
        assert row["accessed_method"].lstrip("'") == escaped(line.get("method", ""))


def test_csv_of_call_paths_tells_rows_apart(profiles):
    rows = [r for r in table(profiles, "objects", "--group=site") if r["kind"] == "row"]
    assert len({(r["class"], r["allocation_path"]) for r in rows}) == len(rows)
    assert [r["allocation_path"] for r in rows if r["class"] == "com.acme.Queue$Head"] == [
        "com.acme.Main.main:10;com.acme.Main.load:20;com.acme.Streamer.stream:44"]


def test_names_survive_in_csv(profiles):
    rows = [r for r in table(profiles, "odd") if r["allocations"] != "0"]
    found = {r["class"]: int(r["allocations"]) for r in rows}
    formula = {"=1+1": "'=1+1"}  # which a spreadsheet would compute
    assert found == {formula.get(n, escaped(n)): 3 + i for i, n in enumerate(NAMES)}
    assert {r["accessed_method"] for r in rows} == set(found)


# Markdown

CMARK = "{http://commonmark.org/xml/1.0}"


def flat(element):
    return "".join(e.text or "" for e in element.iter() if e.tag in (CMARK + "text", CMARK + "code"))


@pytest.fixture(scope="module")
def rendered():
    """GitHub's own reader: the blocks of a text; of a table the cells."""
    if not shutil.which("cmark-gfm"):
        pytest.skip("there is no cmark-gfm, which reads markdown as GitHub does")

    def render(text):
        done = subprocess.run(["cmark-gfm", "-e", "table", "-e", "strikethrough", "-t", "xml"], input=text,
                              capture_output=True, text=True, check=True)
        blocks = list(ET.fromstring(re.sub(r"<!DOCTYPE.*?>", "", done.stdout)))
        kinds = {e.tag for b in blocks for e in b.iter()}
        assert not kinds & {CMARK + k for k in ("html_inline", "html_block", "emph", "link", "image",
                                                "strikethrough")}, text
        cells = [[flat(c) for c in row if c.tag == CMARK + "table_cell"] for b in blocks
                 if b.tag == CMARK + "table" for row in b]
        findings = [flat(item) for b in blocks if b.tag == CMARK + "list" for item in b]
        return blocks, findings, cells

    return render


@pytest.mark.parametrize("name, options", [*SAME, *(("objects", ["--group=" + g]) for g in ("class", "field", "package"))])
def test_markdown_has_the_findings_and_rows_of_json(profiles, rendered, name, options):
    found, total = wanted(profiles, name, options)
    text = report("--format=markdown", *options, profiles / name)
    blocks, findings, cells = rendered(text)
    assert flat(blocks[0]).startswith("Locus: ") and flat(blocks[0]).endswith(
        "%d sample%s" % (total["samples"], "" if total["samples"] == 1 else "s"))
    told = ["%s %s" % (f["id"], f["text"]) + (" To try: %s." % f["change"] if "change" in f else "") for f in found["findings"]]
    assert findings == told
    rows = [r for r in found["ranking"]["rows"] if not r["rest"]]
    assert [int(c[2]) for c in cells[1:]] == [r["samples"] for r in rows]
    assert [c[0] for c in cells[1:]] == ["%.1f%%" % (100 * r["share"]) for r in rows]
    for cell, r in zip(cells[1:], rows):
        estimated = r.get("object_bytes", {}).get("estimate", 0)
        assert cell[6].startswith("~") == bool(estimated) and bool(cell[6]) == bool(estimated + r["bytes"])
        if options == [] and r["allocated_at"]:
            line = ":%d" % r["allocated_at"]["line"] if r["allocated_at"]["line"] >= 0 else ""
            assert (escaped(r["allocated_at"]["method"]) + line + " in " in cell[4] + " in ")
            assert ("allocated_in" in r) == (" in " in cell[4])
    assert ("The rest: " in text) == any(r["rest"] and r["samples"] for r in found["ranking"]["rows"])


def test_markdown_is_cut_at_whole_rows_and_says_so(profiles, rendered):
    """Whatever the budget: no more characters than that, and what is shown is the beginning of all."""
    whole_text = report("--format=markdown", profiles / "odd")
    _, all_findings, all_cells = rendered(whole_text)
    assert "Left out" not in whole_text and len(whole_text) > 5000
    cuts = set()
    for budget in (1000, 1500, 2000, 2500, 3000, 4000, 8000, 60000):
        text = report("--format=markdown", "--budget=%d" % budget, profiles / "odd")
        assert len(text) <= budget
        _, findings, cells = rendered(text)
        assert findings == all_findings[:len(findings)] and cells == all_cells[:len(cells)]
        left = (len(all_cells) - max(1, len(cells)), len(all_findings) - len(findings))
        said = re.search(r"^Left out to stay within (\d+) characters: (\d+) rows?, (\d+) findings?\.$", text, re.M)
        assert (said and tuple(map(int, said.groups()))) == ((budget, *left) if any(left) else None)
        cuts.add(left)
        shown = sum(int(c[2]) for c in cells[1:])
        share = re.search(r"^The rest: ([\d.]+)% in (\d+) rows?\.$", text, re.M)
        assert float(share.group(1)) == pytest.approx(100 * (250 - shown) / 250, abs=0.06) if shown < 250 else not share
    assert len(cuts) > 4


def test_markdown_without_samples_has_the_rows_by_bytes(profiles, rendered):
    options = ["--engine=watch", "--include=Streamer.stream"]
    found, total = wanted(profiles, "objects", options)
    _, _, cells = rendered(report("--format=markdown", *options, profiles / "objects"))
    (head,) = [s for s in found["sites"] if s["bytes"]]
    assert total["samples"] == 0 and [c[3] for c in cells[1:]] == ["c.a.Queue$Head"] and head["bytes"] > 1 << 33
    assert cells[1][6] == "9.3 GB"


def test_names_survive_in_markdown(profiles, rendered):
    """Packages are shortened, as in the text."""
    _, _, cells = rendered(report("--format=markdown", profiles / "odd"))
    shown = collections.Counter(c[3] for c in cells[1:])
    for name in NAMES:
        assert shown[escaped(re.sub(r"^com\.acme\.", "c.a.", name))] == 2, name


def test_budget_is_a_number_of_characters_of_markdown(locus, profiles):
    for word in ("999", "0", "x", "-5", ""):
        done = locus("report", "--format=markdown", "--budget=" + word, profiles / "odd")
        assert (done.returncode, done.stderr) == (
            2, "locus: --budget: '%s' is not a number of characters, 1000 or more\n" % word)
    done = locus("report", "--budget=2000", profiles / "odd")
    assert (done.returncode, done.stderr) == (2, "locus: --budget needs --format=markdown\n")


# Speedscope

SPEEDSCOPE = "1.25.0"
MENU = {"samples by access": ("access", "samples", "none"), "samples by code": ("code", "samples", "none"),
        "bytes by allocation": ("alloc-bytes", "bytes", "bytes"),
        "objects by allocation": ("alloc-count", "allocations", "none")}


def speedscope(profiles, name, *options):
    return json.loads(report("--format=speedscope", *options, profiles / name))


@pytest.mark.parametrize("name, options", SAME)
def test_speedscope_has_the_collapsed_stacks(profiles, name, options):
    made, (_, total) = speedscope(profiles, name, *options), wanted(profiles, name, options)
    frames = ["%s:%d" % (f["name"], f["line"]) if "line" in f else f["name"] for f in made["shared"]["frames"]]
    assert [p["name"] for p in made["profiles"]] == list(MENU)
    for p in made["profiles"]:
        kind, what, unit = MENU[p["name"]]
        stacks = collections.Counter()
        assert len(p["samples"]) == len(p["weights"])
        for stack, n in zip(p["samples"], p["weights"]):
            stacks[";".join(frames[i].replace(";", "_") for i in stack)] += n
        assert stacks == collapsed(profiles, name, kind, *options)
        assert (p["unit"], p["startValue"], p["endValue"], sum(p["weights"])) == (unit, 0, total[what], total[what])
    assert all(f.get("file") != "" for f in made["shared"]["frames"])


def test_speedscope_is_what_its_schema_asks_for(profiles):
    jsonschema = pytest.importorskip("jsonschema", reason="there is no python3-jsonschema")
    schema = json.loads((npm("speedscope", SPEEDSCOPE) / "dist" / "release" / "file-format-schema.json").read_text())
    for name in MADE:
        jsonschema.validate(speedscope(profiles, name), schema)
    bad = speedscope(profiles, "odd")
    del bad["profiles"][0]["weights"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, schema)


def opened(chromium, tmp_path, page, *flags, fragment=""):
    """The document of speedscope's page, which does not say when its script is done."""
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--user-data-dir=%s" % (tmp_path / "browser"), "--virtual-time-budget=3000",
         "--window-size=1400,900", *flags, "--dump-dom", "file://%s%s" % (page, fragment)],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name, options", [("objects", []), ("odd", []),
                                           ("objects", ["--engine=watch", "--include=Streamer.stream"])])
def test_speedscope_itself_shows_the_same_numbers(profiles, tmp_path, chromium, name, options):
    """Its own page, as it opens a file of the command line: what it lists of the file's profiles and frames."""
    page = npm("speedscope", SPEEDSCOPE) / "dist" / "release" / "index.html"
    data = base64.b64encode(report("--format=speedscope", *options, profiles / name).encode()).decode()
    (tmp_path / "load.js").write_text("speedscope.loadFileFromBase64('x.speedscope.json', '%s')" % data)
    dom = opened(chromium, tmp_path, page, "--enable-unsafe-swiftshader", "--window-size=1400,4000",
                    fragment="#localProfilePath=%s&view=sandwich" % (tmp_path / "load.js"))
    _, total = wanted(profiles, name, options)
    cells = [html.unescape(re.sub(r"<[^>]*>", "", c)) for c in re.findall(r"<td[^>]*>(.*?)</td>", dom, re.S)]
    weights = {n: cells[cells.index(n) + 1] for n in MENU if n in cells}
    assert weights["samples by access"] == weights["samples by code"] == "{:,}".format(total["samples"])
    assert weights["objects by allocation"] == "{:,}".format(total["allocations"])
    if not total["samples"]:
        assert "bytes by allocation <" in dom  # which is what it opens
        return
    weight = re.compile(r"([\d,]+) \([\d.]+%\)")
    own = {frame: int(weight.match(self_weight).group(1).replace(",", ""))
           for whole_weight, self_weight, frame in zip(cells, cells[1:], cells[2:])
           if weight.fullmatch(whole_weight) and weight.fullmatch(self_weight)}
    leaves = collections.Counter()  # classes and buckets, which are no callers
    for stack, n in collapsed(profiles, name, "access").items():
        leaves[stack.rsplit(";", 1)[-1]] += n
    assert {frame.replace(";", "_"): n for frame, n in own.items() if n} == leaves
    assert name != "odd" or {"[%s]" % escaped(n) for n in NAMES} == set(own) & {"[%s]" % escaped(n) for n in NAMES}


# Trace events


@pytest.fixture(scope="module")
def stretched(tmp_path_factory):
    """Two threads that wrote several blocks, and the spans of one."""
    profile = Profile(tmp_path_factory.mktemp("trace") / "p", engines=[engine(), engine("watch", "x", 1, "accesses")],
                      spans=spans())
    where = (frame("com.acme.Query", "run", 20),)
    for i in range(3):
        block = Block().allocate(*site_of("int[]"), 1 + i, 100 + i).access("object", where, 5, site_of("int[]"))
        block.count("jvm", i).count("object", 1000, engine=1).span_access("anonymous", where, "jvm", None, where, 1)
        block.span("anonymous", where, [1000] * 2).trace(2 * i + 1, "anonymous", where, (2 + i) * S + 10, 900, 1000)
        block.trace(2 * i + 2, "anonymous", where, (2 + i) * S + 100, 300, 1000, outer=2 * i + 1, level=1)
        profile.append(block.pause((2 + i) * S + 500, 200), name="a", begin=(2 + i) * S, end=(3 + i) * S)
    profile.append(Block().allocate(*site_of("int[]"), 7, 700), index=1, name='b"\n', begin=2 * S, end=5 * S)
    return profile.close()


def trace_events(path):
    done = run_command([BUILD / "locus", "spans", "--format=trace", path])
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["traceEvents"], done.stdout


@pytest.mark.parametrize("name", ["spans", "stretched"])
def test_trace_events_are_as_the_format_asks_for(profiles, stretched, name):
    """Members that each phase must have; complete events of a thread nest; what begins ends."""
    events, _ = trace_events(stretched if name == "stretched" else profiles / name)
    must = {"M": {"name", "pid", "args"}, "X": {"name", "cat", "pid", "tid", "ts", "dur"},
            "C": {"name", "pid", "ts", "args"}, "b": {"name", "cat", "pid", "tid", "ts", "id"},
            "e": {"name", "cat", "pid", "tid", "ts", "id"}}
    running, rows = {}, collections.defaultdict(list)
    for e in events:
        assert must[e["ph"]] <= set(e), e
        key = e.get("cat"), e.get("id"), e["pid"], e["name"]
        if e["ph"] == "C":
            assert all(isinstance(v, (int, float)) for v in e["args"].values())
        elif e["ph"] == "b":
            assert key not in running
            running[key] = e["ts"]
        elif e["ph"] == "e":
            assert running.pop(key) <= e["ts"]
        elif e["ph"] == "X":
            assert e["dur"] >= 0
            rows[e["pid"], e["tid"]].append((e["ts"], -e["dur"]))
    assert not running and rows
    for row in rows.values():
        ends = []
        for begin, dur in sorted(row):
            while ends and ends[-1] <= begin + 1e-6:
                ends.pop()
            assert not ends or begin - dur <= ends[-1] + 1e-6
            ends.append(begin - dur)


def test_trace_has_what_threads_accessed_and_allocated_by_time(profiles, stretched):
    events, _ = trace_events(stretched)
    found = [(e["tid"], e["ts"], e["args"]) for e in events if e["ph"] == "b" and e["cat"] == "objects"]
    ends = {e["id"]: e["ts"] for e in events if e["ph"] == "e" and e["cat"] == "objects"}
    assert found == [
        *((4711, (1 + i) * 1e6, {"engine": "timer", "object": 5, **({"jvm": i} if i else {}), "samples": 5 + i,
                                 "allocations": 1 + i, "bytes": 100 + i}) for i in range(3)),
        (4712, 1e6, {"engine": "timer", "samples": 0, "allocations": 7, "bytes": 700})]
    assert list(ends.values()) == [2e6, 3e6, 4e6, 4e6]
    assert [(e["ts"], e["dur"]) for e in events if e.get("cat") == "gc"] == [((1 + i) * 1e6 + 0.5, 0.2) for i in range(3)]
    whole, _ = trace_events(profiles / "spans")
    total = json.loads(report("--format=json", profiles / "spans"))["samples"]["total"]
    assert sum(e["args"]["samples"] for e in whole if e["ph"] == "b" and e["cat"] == "objects") == total


def test_another_reader_opens_the_trace(stretched, tmp_path, chromium):
    """Speedscope, which reads complete events: of each thread it lists the time in spans."""
    page = npm("speedscope", SPEEDSCOPE) / "dist" / "release" / "index.html"
    data = base64.b64encode(trace_events(stretched)[1].encode()).decode()
    (tmp_path / "load.js").write_text("speedscope.loadFileFromBase64('x.json', '%s')" % data)
    dom = opened(chromium, tmp_path, page, "--enable-unsafe-swiftshader",
                    fragment="#localProfilePath=%s&view=sandwich" % (tmp_path / "load.js"))
    cells = [html.unescape(re.sub(r"<[^>]*>", "", c)) for c in re.findall(r"<td[^>]*>(.*?)</td>", dom, re.S)]
    assert cells[:6] == ["1", "java -cp app.jar Main (pid 4711), JVM: collections (tid 0)", "600.00ns",
                         "2", "java -cp app.jar Main (pid 4711), a (tid 4711)", "2.70\u00b5s"]
