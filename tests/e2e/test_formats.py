"""The formats for other tools: each holds the numbers of --format=json, and every name.

Each is read by a reader that is not ours where one can be had: Go's pprof, the sqlite3 shell, Python's csv,
speedscope's own importer. A machine without a reader skips its tests.
"""

import collections
import csv
import io
import json

import pytest
from conftest import run_command
from synthetic import Block, Profile, frame
from test_golden_reports import BUILD, PROFILES

# What quotes, separators, ends of lines and lengths could break.
LONG = "com.acme." + "Lang\u00e4" * 800  # 4,009 characters
NAMES = [
    'com.acme."Quoted"', "com.acme.A\nB\r\nC", "com.acme.\U0001f600Smile", LONG, "com.acme.a;b,c|d\te",
    "com.acme.<b>&amp;`code`", "=1+1", "com.acme.'it''s'", "com.acme.[x]$Inner", "com.acme.Back\\slash",
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
    """As a name stands in a line of text."""
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
    assert (done.returncode, done.stderr) == (2, "locus: --stacks is only for --format=collapsed\n")


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
