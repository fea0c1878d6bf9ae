# SPDX-License-Identifier: Apache-2.0
"""--format=sqlite: the sqlite3 shell reads the numbers of --format=json, and answers the questions of docs/SQLITE.md."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT
from test_labels import FLEET, fleet  # noqa: F401 (fleet is a fixture)
from test_formats import MADE, NAMES, SAME, profiles, report, wanted  # noqa: F401 (profiles is a fixture)
from test_golden_reports import MS, S

PAGE = (ROOT / "docs" / "SQLITE.md").read_text()
QUESTIONS = re.findall(r"([^\n]+):\n\n```sql\n(.*?)```", PAGE, re.S)
# The profile that has what a question is about, where it is not "objects".
ABOUT = {"NUMA": "numa", "streams": "spans", "second": "spans"}
ELSEWHERE = ("hosts", "labels", "hold")  # words of questions that are asked of other profiles, here or in test_live_formats.py


@pytest.fixture(scope="module")
def ask(profiles, tmp_path_factory):
    """The rows that a statement gives, as dictionaries."""
    if not shutil.which("sqlite3"):
        pytest.skip("there is no sqlite3, whose shell reads the file")
    directory, made = tmp_path_factory.mktemp("sqlite"), {}

    def run(name, statement, *options):
        file = made.get((name, *options)) or directory / ("%d.sqlite" % len(made))
        if (name, *options) not in made:
            report("-f", file, *options, profiles / name)
            made[name, *options] = file
        done = subprocess.run(["sqlite3", "-json", "-bail", "-readonly", file, statement], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stderr) == (0, ""), statement
        return json.loads(done.stdout or "[]")

    return run


def answer(ask, words):
    ((question, statement),) = [q for q in QUESTIONS if words in q[0]]
    assert not set(question.split()) & set(ELSEWHERE)
    return ask(next((p for word, p in ABOUT.items() if word in question), "objects"), statement)


@pytest.mark.parametrize("name, options", SAME)
def test_sums_are_those_of_json(profiles, ask, name, options):
    found, total = wanted(profiles, name, options)
    (row,) = ask(name, """SELECT (SELECT sum(samples) FROM accesses) AS samples,
        (SELECT sum(bytes) FROM sites) AS bytes, (SELECT sum(allocations) FROM sites) AS allocations,
        (SELECT sum(round(bytes)) FROM estimates) AS estimated, (SELECT sum(round(objects)) FROM estimates) AS objects,
        (SELECT value FROM meta WHERE name = 'samples') AS told""", *options)
    counted = {"bytes": row["bytes"] or 0, "allocations": row["allocations"] or 0}
    assert (row["samples"] or 0, row["told"]) == (total["samples"], total["samples"])
    assert counted["bytes"] + (row["estimated"] or 0) == total["bytes"]
    assert counted["allocations"] + (row["objects"] or 0) == total["allocations"]
    buckets = {r["bucket"]: r["n"] for r in ask(name, "SELECT bucket, sum(samples) AS n FROM accesses GROUP BY 1", *options)}
    assert buckets == {b: n for b, n in found["samples"].items() if b != "total" and n}
    by_site = {r["hash"]: (r["allocations"], r["bytes"], r["n"]) for r in ask(name, """
        SELECT hash, allocations, bytes, coalesce(sum(samples), 0) AS n FROM sites
        LEFT JOIN accesses ON site = sites.id AND bucket = 'object' GROUP BY sites.id""", *options)}
    for s in found["sites"]:
        assert by_site[s["id"]] == (s["allocations"], s["bytes"], s["samples"])
    threads = ask(name, "SELECT tid, name, samples, allocations, bytes FROM threads", *options)
    assert sorted((t["tid"], t["samples"], t["allocations"], t["bytes"]) for t in threads) == sorted(
        (t["tid"], t["samples"], t["allocations"], t["bytes"]) for t in found["threads"])


@pytest.mark.parametrize("name", MADE)
def test_file_is_whole_and_each_reference_is_there(ask, name):
    assert ask(name, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    assert ask(name, "PRAGMA foreign_key_check") == []
    tables = {r["name"] for r in ask(name, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")}
    assert tables == set(re.findall(r"^\| `(\w+)` \|", PAGE, re.M))
    for table in tables:
        (described,) = re.findall(r"^\| `%s` \|.*$" % table, PAGE, re.M)
        for column in ask(name, "PRAGMA table_info(%s)" % table):
            assert "`%s`" % column["name"] in described or re.search(r"_(low|high)$", column["name"]), (table, column)


def test_same_profile_gives_the_same_bytes(profiles, tmp_path):
    for name in MADE:
        for file in ("a", "b"):
            report("-f", tmp_path / (file + ".sqlite"), profiles / name)
        assert (tmp_path / "a.sqlite").read_bytes() == (tmp_path / "b.sqlite").read_bytes()


def test_names_survive_whole(ask):
    """Also line ends, which the other formats write as escapes."""
    rows = ask("odd", "SELECT class, allocations FROM sites WHERE allocations > 0")
    assert {r["class"]: r["allocations"] for r in rows} == {n: 3 + i for i, n in enumerate(NAMES)}
    assert {r["name"] for r in ask("odd", "SELECT name FROM threads")} == set(NAMES)
    assert {r["method"] for r in ask("odd", "SELECT method FROM frames")} == {*NAMES, "make"}
    assert ask("odd", "SELECT value FROM meta WHERE name = 'command'") == [{"value": 'java "x" \n\U0001f600'}]


# Questions


def test_ten_questions_and_more_have_an_answer(ask):
    assert len(QUESTIONS) >= 10 and len(QUESTIONS) == PAGE.count("```sql")
    for question, _ in QUESTIONS:
        if set(question.split()) & set(ELSEWHERE):
            continue
        assert len(answer(ask, question)) >= 1, question


def test_answers_are_those_of_the_report(profiles, ask):
    found, _ = wanted(profiles, "objects", [])
    by_class = {}
    for s in [*found["sites"], *found["classes"]]:
        by_class[s["class"]] = by_class.get(s["class"], 0) + s["samples"]
    assert {r["class"]: r["samples"] for r in answer(ask, "Which classes")} == {c: n for c, n in by_class.items() if n}
    lines = {m["class"] + "." + m["method"]: m["total"] for m in found["code"]["methods"]}
    assert {r["method"]: r["samples"] for r in answer(ask, "In which methods")} == lines
    assert answer(ask, "Which lines access")[0] == {"accessed": "com.acme.Worker.bump:50", "samples": 601}
    assert [r["line"] for r in answer(ask, "The call path")] == ["com.acme.Worker.bump:50", "com.acme.Main.main:10"]
    assert [(r["allocated"], r["samples"]) for r in answer(ask, "Which lines allocate the objects") if r["class"] == "long[]"] == [
        ("com.acme.Main.load:20", sum(s["samples"] for s in found["sites"] if s["class"] == "long[]"))]
    most = answer(ask, "Which lines allocate most bytes")
    assert (most[0]["class"], most[0]["counted"]) == ("com.acme.Queue$Head", 10_000_000_096)
    assert sum(r["counted"] for r in most) == sum(s["bytes"] for s in found["sites"])
    assert sum(r["estimated"] for r in most) == sum(e["bytes"] for e in found["estimates"])
    touched = {(r["class"], r["field"]): (r["samples"], r["loads"], r["stores"]) for r in answer(ask, "Which fields")}
    assert touched["long[]", "[elements]"] == (540, 0, 540) and touched["com.acme.Node", "next"] == (90, 90, 0)
    ways = {(r["class"], r["reference"]): (r["samples"], r["headers"]) for r in answer(ask, "Through which")}
    for row in found["ranking"]["rows"]:
        for way in row["reached"]["through"] if "reached" in row else ():
            assert ways[row["class"], way["name"]][0] >= way["samples"]
    assert ways["com.acme.Node", "com.acme.Node.next"] == (120, 30)
    measured = {r["class"]: (r["measured"], r["cycles"]) for r in answer(ask, "How long")}
    for s in [*found["sites"], *found["classes"]]:
        if "latency_mean" in s.get("metrics", {}):
            assert measured[s["class"]] == (s["metrics"]["latency_samples"], int(s["metrics"]["latency_mean"]))


def test_stretches_add_up_to_the_threads(ask):
    for name in MADE:
        threads = ask(name, "SELECT id, samples, allocations, bytes FROM threads ORDER BY id")
        assert ask(name, """SELECT thread AS id, sum(samples) AS samples, sum(allocations) AS allocations,
            sum(bytes) AS bytes FROM stretches GROUP BY thread ORDER BY thread""") == threads
    assert ask("objects", "SELECT DISTINCT start_ns, end_ns FROM stretches") == [{"start_ns": 0, "end_ns": S}]


def test_answers_of_nodes_spans_and_time(profiles, ask, locus):
    numa = json.loads(report("--format=json", profiles / "numa"))["numa"]
    remote = answer(ask, "Objects on another NUMA node")
    assert sum(r["samples"] for r in remote) == numa["all"]["known"]
    assert sum(r["remote"] for r in remote) == numa["all"]["remote"]
    spans = json.loads(locus("spans", "--format=json", profiles / "spans").stdout)
    cost = answer(ask, "Cost of streams")
    assert sum(r["executions"] for r in cost if r["kind"] == "anonymous") == spans["totals"]["anonymous"]
    assert sum(r["executions"] for r in cost if r["kind"] == "task") == spans["totals"]["task"]
    (singles,) = ask("spans", "SELECT count(*) AS n, min(start_ns) AS first FROM trace")
    assert singles == {"n": spans["trace"]["spans"], "first": 2 * S - 1 - S}
    assert ask("spans", "SELECT start_ns, duration_ns FROM pauses ORDER BY 1") == [
        {k: p[k] for k in ("start_ns", "duration_ns")} for p in spans["gc_pauses"]]
    use = answer(ask, "How many CPUs")
    points = [p for t in spans["timeline"]["threads"] for p in t["points"]]
    assert sum(r["cpus"] for r in use) == pytest.approx(sum(p[1] for p in points) / 1e9)
    assert [r["pause_ms"] for r in use if r["name"] == "main" and r["second"] == 2] == [(5 * MS + 1234) / MS]


# Many profiles


def query(file, statement):
    """The rows that the sqlite3 shell gives, as tuples."""
    done = subprocess.run(["sqlite3", "-json", "-bail", "-readonly", file, statement], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), statement
    return [tuple(row.values()) for row in json.loads(done.stdout or "[]")]


@pytest.fixture(scope="module", params=["root", "by-host"])
def by_host(request, fleet, tmp_path_factory):
    if not shutil.which("sqlite3"):
        pytest.skip("there is no sqlite3, whose shell reads the file")
    file = tmp_path_factory.mktemp("by") / "host.sqlite"
    report("--by=host", "-f", file, fleet / request.param)
    return file


def question(words):
    ((_, statement),) = [q for q in QUESTIONS if words in q[0]]
    return statement


HOSTS = {"web1": 17, "web2": 20, "db": 5, "(none)": 3}  # what the numbers of the fleet's profiles are multiples of


def test_processes_labels_and_hosts(by_host):
    known = sorted((w.get("host", "web1") or "", w.get("pid", 10), w.get("jdk", "17.0.15")) for w in FLEET.values())
    assert query(by_host, "SELECT coalesce(host, ''), pid, jdk FROM processes ORDER BY 1, 2") == known
    labels = sorted((w.get("pid", 10), w.get("host", "web1"), k, v) for w in FLEET.values() for k, v in w.get("labels", {}).items())
    assert sorted(query(by_host, "SELECT pid, host, key, value FROM labels JOIN processes ON id = process")) == labels
    assert query(by_host, "SELECT host, processes FROM hosts ORDER BY 1") == [(None, 1), ("db", 1), ("web1", 2), ("web2", 1)]
    assert query(by_host, "SELECT count(*) FROM threads WHERE process NOT IN (SELECT id FROM processes)") == [(0,)]
    assert dict(query(by_host, "SELECT host, sum(samples) FROM threads JOIN processes ON processes.id = process "
                               "WHERE host IS NOT NULL GROUP BY 1")) == {h: 20 * n for h, n in HOSTS.items() if h != "(none)"}
    assert len(query(by_host, question("labels of the processes"))) == 5


def test_samples_of_hosts(by_host):
    rows = query(by_host, question("Which hosts"))
    for class_name, times in (("byte[]", 10), ("java.lang.String", 6)):
        assert {h: n for h, c, n in rows if c == class_name} == {h: times * n for h, n in HOSTS.items()}
    assert dict(query(by_host, "SELECT value, sum(samples) FROM accesses JOIN path_groups USING (path) GROUP BY 1")) == {
        h: 20 * n for h, n in HOSTS.items()}
    assert dict(query(by_host, "SELECT value, sum(bytes) FROM sites JOIN path_groups USING (path) GROUP BY 1 HAVING sum(bytes) > 0")) == {
        h: 300 * n for h, n in HOSTS.items()}


DUCKDB = BUILD / "duckdb"
IN_DUCKDB = """
import duckdb, json, pathlib, sys
extension, = pathlib.Path(sys.argv[1]).glob("duckdb_extension_sqlite_scanner/**/*.duckdb_extension")
at = duckdb.connect()
at.execute("LOAD '%s'" % extension)
at.execute("ATTACH '%s' AS report (TYPE sqlite, READ_ONLY)" % sys.argv[2])
at.execute("USE report")
print(json.dumps([at.execute(statement).fetchall() for statement in json.load(sys.stdin)]))
"""


def in_duckdb(file, statements):
    if not (DUCKDB / "duckdb").is_dir():
        pytest.skip("no DuckDB: scripts/fetch-duckdb has fetched none")
    done = subprocess.run([sys.executable, "-c", IN_DUCKDB, DUCKDB, file], input=json.dumps(statements), capture_output=True,
                          text=True, env={"PYTHONPATH": str(DUCKDB), "HOME": str(file.parent)})
    assert done.returncode == 0, done.stderr
    return [[tuple(row) for row in rows] for rows in json.loads(done.stdout)]


def test_duckdb_reads_all_tables(by_host):
    """Another query engine finds the rows that the sqlite3 shell finds, in each table and view."""
    tables = [name for name, in query(by_host, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'meta'")]
    assert {"accesses", "processes", "labels", "path_groups", "threads", "spans"} <= set(tables)
    statements = ["SELECT * FROM %s ORDER BY ALL" % t for t in tables]
    for table, rows in zip(tables, in_duckdb(by_host, statements)):
        plain = [tuple(r) for r in query(by_host, "SELECT * FROM %s" % table)]
        assert sorted(map(repr, rows)) == sorted(map(repr, plain)), table


def test_duckdb_answers_questions(by_host):
    statements = [question("Which hosts"), question("labels of the processes"), question("Which classes").replace(
        "(SELECT value FROM", "(SELECT CAST(CAST(value AS VARCHAR) AS BIGINT) FROM"), "SELECT host, processes FROM hosts ORDER BY 1 NULLS FIRST"]
    found = in_duckdb(by_host, statements)
    assert found[0] == query(by_host, question("Which hosts"))
    assert found[1] == query(by_host, question("labels of the processes"))
    assert [r[:2] for r in found[2]] == [r[:2] for r in query(by_host, question("Which classes"))]
    assert found[3] == [(None, 1), ("db", 1), ("web1", 2), ("web2", 1)]
