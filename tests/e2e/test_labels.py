# SPDX-License-Identifier: Apache-2.0
"""Hosts, labels, `locus list`, --where and --by: each number is that of the processes' own profiles.

The file is longer than 600 lines: the tests share one fleet of profiles.
"""

import collections
import itertools
import json
import os
import random
import shutil
import subprocess
import time

import pytest
from conftest import BUILD, run_command
from synthetic import Block, Profile, frame
from test_formats import report

S = 1_000_000_000
PARTIAL = 3  # exit status
LOAD = (frame("com.acme.Main", "load", 20), frame("com.acme.Main", "main", 10))
BUMP = (frame("com.acme.Worker", "bump", 50), frame("com.acme.Main", "main", 10))
HOSTILE = 'a\nb\x1b[31m"<b>é\u202e'
STACKS = ("access", "alloc-bytes", "alloc-count", "code", "objects")


def record(path, n, *, host="web1", pid=10, labels=None, start=1_750_000_000 * S, seconds=10, jdk="17.0.15",
           complete=True, command="java -cp app.jar com.acme.Main"):
    """A profile whose numbers are multiples of n; accesses in objects of known and unknown site, and without a path."""
    profile = Profile(path, pid=pid, jdk=jdk, complete=complete, command=command, counters={"gc_collected": n})
    process = profile.manifest["processes"][0]
    process.update({"start_wall_ns": start, "end_wall_ns": start + seconds * S,
                    "end_monotonic_ns": process["start_monotonic_ns"] + seconds * S})
    if host:
        process["host"] = host
    if labels:
        process["labels"] = labels
    block = (Block().allocate("byte[]", LOAD, 3 * n, 300 * n).access("object", BUMP, 10 * n, site=("byte[]", LOAD))
             .access("heap_class", BUMP, 6 * n, site=("java.lang.String", ())).access("jvm", (), n).count("native", 2 * n)
             .estimate(("java.lang.String", LOAD), n, 10 * n, n, 240 * n, n << 20, [n] * 5)
             .split("hits", ("java.lang.String", ()), ("java.lang.String", LOAD), 6 * n, n)
             .field("object", ("byte[]", LOAD), BUMP, n, first=0, last=3, access=1)
             .detail(0, 0, 19 * n).span("anonymous", BUMP, [100] * n).made("com.acme.Task", LOAD, n)
             .place("object", ("byte[]", LOAD), BUMP, n, 0, 1).ran(0, 19 * n).home(("byte[]", LOAD), 0, n, 100 * n)
             .copied("byte[]", LOAD, n, 100 * n).step("object", ("byte[]", LOAD), 8, 2, n))
    return profile.append(block, end=2 * S).append(Block().access("jvm", BUMP, n), index=1, name="worker").close()


FLEET = {  # directory to what is recorded there
    "web1/a": {"n": 10, "labels": {"team": "core", "zone": "eu"}},
    "web1/b": {"n": 7, "pid": 11, "jdk": "21.0.2", "labels": {"team": "search"}},
    "web2/a": {"n": 20, "host": "web2", "labels": {"team": "core", "zone": "us"}},
    "db/a": {"n": 5, "host": "db", "pid": 12, "command": "java -jar /opt/store.jar --big"},
    "old/a": {"n": 3, "host": None, "pid": 13},
}
WHERE = {  # terms to directories
    ("host=web1",): ["web1/a", "web1/b"],
    ("host=web*",): ["web1/a", "web1/b", "web2/a"],
    ("host=db;web2",): ["db/a", "web2/a"],
    ("host=db", "host=web2"): ["db/a", "web2/a"],
    ("host=(none)",): ["old/a"],
    ("team=core",): ["web1/a", "web2/a"],
    ("team=core", "zone=us"): ["web2/a"],
    ("pid=12",): ["db/a"],
    ("jdk=21*",): ["web1/b"],
    ("command=store",): ["db/a"],
    ("process=10@web2*",): ["web2/a"],
    ("start=2025-06-15T15:06:40Z", "host=web2"): ["web2/a"],
}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    root = tmp_path_factory.mktemp("fleet")
    for name, what in FLEET.items():
        record(root / "root" / name, **what)
    for keys in (["host"], ["team"], ["host", "jdk"], []):
        options = [o for k in keys for o in ("--by", k)]
        merge(root / "-".join(["by", *keys]), *options, root / "root")
    return root


def tool(*arguments, status=0, **more):
    done = run_command([BUILD / "locus", *map(str, arguments)], **more)
    assert done.returncode == status, done.stderr
    return done


def merge(output, *arguments, status=0):
    tool("merge", "-o", output, *arguments, status=status)
    return output


def options(where):
    return [o for term in where for o in ("--where", term)]


def read(*arguments):
    return json.loads(report("--format=json", *arguments))


def stacks(kind, *arguments):
    found = collections.Counter()
    for line in report("--format=collapsed", "--stacks=" + kind, *arguments).splitlines():
        stack, number = line.rsplit(" ", 1)
        found[stack] += int(number)
    return found


def facts(found):
    """The report without the names of a profile's own frames: ids, and the path itself."""
    sites = collections.Counter()
    for kind in "sites", "classes":
        for s in found[kind]:
            sites[kind, s["class"]] += s["samples"]
            sites["bytes", s["class"]] += s.get("bytes", 0)
    for e in found["estimates"]:
        sites["estimate", e["class"]] += e["bytes"]
    threads = sorted((t["name"], t["samples"], t["bytes"]) for t in found["threads"])
    return found["samples"], +sites, threads, sorted(p["pid"] for p in found["processes"])


def without_group(found, levels=1):
    """Stacks below the frames of their group; where no path is known the group alone stands before the object."""
    bare = collections.Counter()
    for stack, number in found.items():
        bare[";".join(stack.split(";")[levels:]) or "[no call path]"] += number
    return bare


# --where


@pytest.mark.parametrize("where", WHERE, ids=" ".join)
def test_where_leaves_the_processes_that_fit(fleet, where):
    """The same as if the others were not there, in each list of the whole report."""
    paths = [fleet / "root" / p for p in FLEET if p in WHERE[where]]
    chosen, alone = read(*options(where), fleet / "root"), read(*sorted(paths))
    for found in chosen, alone:
        found.pop("where", None)
    assert chosen == alone


@pytest.mark.parametrize("where, by", [(("host=web1",), "by-host"), (("host=web*",), "by-host"), (("team=core",), "by-team"),
                                       (("host=db;web2",), "by-host"), (("host=(none)",), "by-host"),
                                       (("team=(none)",), "by-team"), (("host=web1", "jdk=21*"), "by-host-jdk")])
def test_where_divides_a_profile_that_was_merged_by_that_key(fleet, where, by):
    fitting = WHERE.get(where, {("team=(none)",): ["db/a", "old/a"], ("host=web1", "jdk=21*"): ["web1/b"]}.get(where))
    paths = sorted(fleet / "root" / p for p in fitting)
    chosen, alone = read(*options(where), fleet / by), read(*paths)
    assert facts(chosen)[0] == facts(alone)[0] and facts(chosen)[1] == facts(alone)[1]
    assert facts(chosen)[3] == facts(alone)[3]
    assert sorted((t["name"], t["samples"]) for t in chosen["threads"]) == sorted((t["name"], t["samples"]) for t in alone["threads"])
    levels = by.count("-")
    for kind in ("access", "alloc-bytes", "alloc-count"):
        assert without_group(stacks(kind, *options(where), fleet / by), levels) == stacks(kind, *paths), kind


def test_where_counts_spans_and_nodes_of_these_processes(fleet):
    for command, member in ("spans", "totals"), ("numa", "numa"):
        some = [json.loads(tool(command, "--format=json", *a).stdout)[member] for a in (
            ["--where=host=web1", fleet / "root"], ["--where=host=web1", fleet / "by-host"],
            [fleet / "root/web1/a", fleet / "root/web1/b"])]
        assert some[0] == some[2], command
        if command == "spans":
            assert some[1] == some[2]


def test_spans_are_kept_apart(fleet):
    """Flame graphs of cycles are those of each host below its frame, and JSON says what was chosen."""

    def cycles(*arguments):
        lines = tool("spans", "--format=collapsed", *arguments).stdout.splitlines()
        return collections.Counter({line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines})

    expected = collections.Counter()
    for host, paths in (("web1", ["web1/a", "web1/b"]), ("web2", ["web2/a"]), ("db", ["db/a"]), ("(none)", ["old/a"])):
        for stack, n in cycles(*(fleet / "root" / p for p in paths)).items():
            expected["host=%s;%s" % (host, stack)] += n
    assert expected and cycles("--by=host", fleet / "root") == cycles(fleet / "by-host") == expected
    for command in ("spans", "numa", "report"):
        found = json.loads(tool(command, "--format=json", "--where=host=web1;db", "--by=host", fleet / "root").stdout)
        assert (found["by"], found["where"]) == (["host"], [{"key": "host", "patterns": "web1;db"}])
    found = json.loads(tool("spans", "--format=json", fleet / "by-host").stdout)
    assert {(p["pid"], p.get("host"), str(p.get("labels"))) for p in found["processes"]} == {
        (w.get("pid", 10), w.get("host", "web1"), str(w.get("labels"))) for w in FLEET.values()}
    for arguments in (["--by=host", fleet / "root"], [fleet / "by-host"]):
        text = tool("spans", *arguments).stdout
        assert "note: call paths are grouped by host" in text and "host=web2" in text


@pytest.mark.parametrize("option", ["--where=host=web1", "--by=host", "--where=team=core", "--by=process"])
def test_merged_profile_that_does_not_tell_is_refused(fleet, tmp_path, option):
    for command in (["report"], ["merge", "-o", tmp_path / "m"]):
        done = tool(*command, option, fleet / "by", status=1)
        assert done.stderr.count("\n") == 1 and "cannot be divided" in done.stderr
    assert not (tmp_path / "m").exists()


def test_merged_profile_of_one_host_is_of_that_host(fleet, tmp_path):
    web1, web2 = (merge(tmp_path / h, fleet / "root" / h) for h in ("web1", "web2"))
    both = merge(tmp_path / "both", "--by=host", web1, web2)
    assert stacks("access", both) == stacks("access", "--by=host", fleet / "root/web1", fleet / "root/web2")
    assert read("--where=host=web2", web1, web2)["samples"] == read(web2)["samples"]


def test_threads_that_were_kept_tell_their_process(fleet, tmp_path):
    """--keep-threads: each block has one process."""
    kept = merge(tmp_path / "kept", "--keep-threads", fleet / "root")
    for kind in STACKS:
        assert stacks(kind, "--by=host", kept) == stacks(kind, "--by=host", fleet / "root")
    alone = [fleet / "root/web1/a", fleet / "root/web1/b"]
    assert facts(read("--where=host=web1", kept)) == facts(read(*alone))
    for name, source in ("from-kept", kept), ("from-root", fleet / "root"):
        both = merge(tmp_path / name, "--keep-threads", "--by=host", source)
        for kind in STACKS:
            assert stacks(kind, both) == stacks(kind, fleet / "by-host"), (name, kind)
        assert stacks("access", "--thread=worker", both) == {"host=%s;com.acme.Main.main:10;com.acme.Worker.bump:50;[jvm]" % h: n
                                                             for h, n in (("web1", 17), ("web2", 20), ("db", 5), ("(none)", 3))}
        assert facts(read("--where=host=web1", both)) == facts(read(*alone))


def test_where_that_fits_nothing_says_so(fleet, tmp_path):
    for arguments in (["report"], ["numa"], ["spans"], ["merge", "-o", tmp_path / "m"]):
        done = tool(*arguments, "--where=host=nowhere", fleet / "root", status=1)
        assert "no process of the profiles matches 'host=nowhere'" in done.stderr
    assert not (tmp_path / "m").exists()
    done = tool("diff", "--where=host=db", fleet / "root/web1/a", fleet / "root/web2/a", status=1)
    assert "no process" in done.stderr


# --by


@pytest.mark.parametrize("kind", STACKS)
def test_by_keeps_the_stacks_of_hosts_apart(fleet, kind):
    """The stacks of each host's profiles, below a frame that says the host."""
    expected = collections.Counter()
    for host, paths in (("web1", ["web1/a", "web1/b"]), ("web2", ["web2/a"]), ("db", ["db/a"]), ("(none)", ["old/a"])):
        for stack, n in stacks(kind, *(fleet / "root" / p for p in paths)).items():
            expected[host, n] += 1
    found = collections.Counter()
    for stack, n in stacks(kind, "--by=host", fleet / "root").items():
        if kind == "objects" and "native" in stack:
            continue  # without a path: not among these stacks where nothing is kept apart
        assert stack.startswith("host=") or kind == "objects", stack
        found[stack.split("host=")[1].split(";")[0], n] += 1
    assert found == expected
    assert stacks(kind, fleet / "by-host") == stacks(kind, "--by=host", fleet / "root")


def test_sums_stay_as_they_are(fleet):
    plain = read(fleet / "root")
    for arguments in (["--by=host", fleet / "root"], [fleet / "by-host"], [fleet / "by-host-jdk"], [fleet / "by"]):
        assert facts(read(*arguments)) == facts(plain), arguments
    assert read("--by=host", fleet / "root")["by"] == ["host"] == read(fleet / "by-host")["by"]


def test_two_keys_are_two_frames(fleet):
    found = {tuple(s.split(";")[:2]) for s in stacks("access", fleet / "by-host-jdk")}
    assert ("host=web1", "jdk=21.0.2") in found and ("host=web1", "jdk=17.0.15") in found
    assert all(a.startswith("host=") and b.startswith("jdk=") for a, b in found)


def test_ranking_by_group(fleet):
    """Samples in objects, and bytes, of each group: those of its profiles."""
    for arguments in (["--by=host", fleet / "root"], [fleet / "by-host"]):
        rows = {r["by"]: r for r in read("--group=by", *arguments)["ranking"]["rows"]}
        expected = {"host=web1": 17, "host=web2": 20, "host=db": 5, "host=(none)": 3}
        assert {k: r["samples"] for k, r in rows.items()} == {k: 16 * n for k, n in expected.items()}
        assert {k: r["bytes"] for k, r in rows.items()} == {k: 300 * n for k, n in expected.items()}
    assert "host=web2" in report("--group=by", "--by=host", fleet / "root")
    done = tool("report", "--group=by", fleet / "root", status=2)
    assert "as --by host" in done.stderr
    (csv,) = [line for line in report("--group=by", "--format=csv", fleet / "by-host").splitlines() if "host=web2" in line]
    assert csv.split(",")[:3] == ["row", '""', '"host=web2"']


def test_dots_of_a_host_are_no_package(tmp_path):
    path = record(tmp_path / "p", 5, host="web1.acme.com")
    assert all(s.startswith("host=web1.acme.com;") for s in stacks("access", "--simple", "--by=host", path))
    assert "host=web1.acme.com" in report("--by=host", "--group=by", path)


@pytest.mark.parametrize("by", ["host", "team"])
def test_merging_merges_is_merging_all(fleet, tmp_path, by):
    """Shuffled and grouped: whatever was merged before, the result is that of one merge to the byte."""
    chance, whole = random.Random(by), fleet / ("by-" + by)
    for i in range(3):
        paths = [fleet / "root" / p for p in FLEET]
        chance.shuffle(paths)
        cut = sorted(chance.sample(range(1, len(paths)), 2))
        parts = [paths[:cut[0]], paths[cut[0]:cut[1]], paths[cut[1]:]]
        merges = [merge(tmp_path / ("%d-%d" % (i, k)), "--by", by, *part) for k, part in enumerate(parts)]
        again = merge(tmp_path / str(i), *merges)
        assert json.loads((again / "manifest.json").read_text())["by"] == [by]
        assert bytes_of(again) == bytes_of(whole)
        for kind in STACKS:
            assert stacks(kind, again) == stacks(kind, whole)
        assert facts(read(again)) == facts(read(whole))
        assert read("--where", by + "=core;web1", again)["samples"] == read("--where", by + "=core;web1", whole)["samples"]


CANONICAL = {
    "host": ["--by=host", "--label=zone=moon"],
    "several": ["--by=zone", "--by=host", "--label=zone=moon", "--label=rack=7"],
    "threads": ["--by=host", "--label=zone=moon", "--keep-threads"],
    "time": ["--by=host", "--label=zone=moon", "--since", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(1_750_000_005))],
    "where": ["--by=zone", "--where=host=web*", "--label=zone=moon"],
}


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    """12 recordings, each of one process of one of 4 hosts, which have process numbers and times in common."""
    root, paths = tmp_path_factory.mktemp("hosts"), []
    for i in range(12):
        host = ("web1", "web2", "db", None)[i % 4]
        pid = (100 if host else 200) + i // 4
        path = record(root / str(i), 2 * i + 1, host=host, pid=pid, labels={"zone": "eu"} if i % 3 else None)
        late = Profile(root / ("late%d" % i), pid=pid)
        late.append(Block().access("jvm", BUMP, 1000 + i).allocate("long[]", LOAD, i + 1, 8), begin=8 * S, end=9 * S, index=2, name="late").close()
        (path / "late.lcb").write_bytes(next(late.path.glob("*.lcb")).read_bytes())
        shutil.rmtree(late.path)
        paths.append(path)
    return paths


@pytest.mark.parametrize("options", CANONICAL.values(), ids=CANONICAL)
def test_order_jobs_and_groups_change_no_byte(hosts, tmp_path, options):
    """Merges of merges need no option any more: what keeps paths apart, labels and times are in what was merged."""
    chance, left_out = random.Random(5), 6 if "--where=host=web*" in options else 0
    expected = bytes_of(merge(tmp_path / "all", "--jobs=1", *options, *hosts))
    found = json.loads(expected["manifest.json"])
    assert len(found["processes"]) == 12 - left_out and "missing" not in found
    assert {p["labels"]["zone"] for p in found["processes"]} == {"eu", "moon"}
    assert ("shown" in found["processes"][0]) == ("--since" in options)
    for jobs in "--jobs=1", "--jobs=3":
        order = chance.sample(hosts, len(hosts))
        assert bytes_of(merge(tmp_path / ("all" + jobs), jobs, *options, *order)) == expected
        parts = [order[:1], order[1:5], order[5:7], order[7:]]
        groups = []
        for part in parts:
            path = tmp_path / ("%d%s" % (len(groups), jobs))
            done = run_command([BUILD / "locus", "merge", "-o", path, jobs, *options, *part])
            if done.returncode:
                assert left_out and "no process of the profiles matches" in done.stderr
            else:
                groups.append(path)
        chance.shuffle(groups)
        kept = [o for o in options if o == "--keep-threads"]
        assert bytes_of(merge(tmp_path / ("again" + jobs), jobs, *kept, *groups)) == expected
    keys = [o for o in options if o.startswith("--by")]
    if "--since" not in options:
        labelled = [merge(tmp_path / ("l%d" % i), *(o for o in options if o.startswith("--label")), p) for i, p in enumerate(hosts)]
        where = [o for o in options if o.startswith("--where")]
        for kind in STACKS:
            assert stacks(kind, tmp_path / "all") == stacks(kind, *keys, *where, *labelled)


def test_since_takes_the_same_of_each_host(hosts, tmp_path):
    merged = merge(tmp_path / "m", *CANONICAL["time"], *hosts)
    found = collections.Counter()
    for stack, n in stacks("access", merged).items():
        found[stack.split(";")[0]] += n
    assert found == {"host=" + h: sum(1000 + i for i in range(k, 12, 4)) for k, h in enumerate(("web1", "web2", "db", "(none)"))}


def test_prune_folds_no_group(hosts, tmp_path):
    """However little a host has: all of them stay, with their sums."""
    sums = []
    for options in [], ["--prune=90%"]:
        merged = merge(tmp_path / str(len(options)), "--by=host", *options, *hosts)
        sums.append(collections.Counter())
        for stack, n in stacks("access", merged).items():
            sums[-1][stack.split(";")[0]] += n
    assert sums[0] == sums[1] and len(sums[0]) == 4
    assert any("Worker.bump" in s for s in stacks("access", tmp_path / "0"))
    assert not any("Worker.bump" in s for s in stacks("access", tmp_path / "1"))


def test_a_process_is_that_of_its_host(tmp_path):
    """The same number and begin: two processes of two hosts, but one where a recording does not tell its host."""
    a, b, old = (record(tmp_path / str(host), 1, host=host) for host in ("a", "b", None))
    assert len(json.loads((merge(tmp_path / "two", a, b) / "manifest.json").read_text())["processes"]) == 2
    for paths in (a, old), (old, b):
        done = tool("merge", "-o", tmp_path / "-".join(p.name for p in paths), *paths)
        assert "a duplicate" in done.stderr


def test_merges_by_different_keys_are_not_put_together(fleet, tmp_path):
    """The first of two keys in the alphabet stays, whatever the order; or the one that is asked for."""
    total = read(fleet / "by-host")["samples"]["total"]
    for i, (arguments, kept, other) in enumerate((
            (["by-host", "by-team"], "host", "team"), (["by-team", "by-host"], "host", "team"),
            (["by-host", "by-team", "by-team"], "team", "host"))):
        done = tool("merge", "-o", tmp_path / str(i), *(fleet / a for a in arguments), status=PARTIAL)
        assert "was merged by %s and cannot be combined with profiles merged by %s; it is left out" % (other, kept) in done.stderr
        merged = json.loads((tmp_path / str(i) / "manifest.json").read_text())
        assert (merged["by"], merged["missing"]["inputs"]) == ([kept], 1)
        assert read(tmp_path / str(i))["samples"]["total"] == total
    done = tool("merge", "-o", tmp_path / "asked", "--by=team", fleet / "by-host", fleet / "by-team", status=PARTIAL)
    assert "by-host' was merged by host" in done.stderr and read("--where=team=core", tmp_path / "asked")["samples"]["total"] == 600
    assert "was merged by host" in tool("merge", "-o", tmp_path / "none", "--by=team", fleet / "by-host", status=1).stderr


def test_a_profile_that_is_merged_with_groups_gets_its_own(fleet, tmp_path):
    more = record(tmp_path / "more", 10, host="web3", pid=20)
    found = [merge(tmp_path / str(i), *options, *paths) for i, (options, paths) in enumerate((
        (["--by=host"], [more, fleet / "by-host"]), ([], [more, fleet / "by-host"]), ([], [fleet / "by-host", more])))]
    for mixed in found:
        assert read("--where=host=web3", mixed)["samples"]["total"] == 200
        assert read(mixed)["samples"]["total"] == read(fleet / "by-host")["samples"]["total"] + 200
        assert bytes_of(mixed) == bytes_of(found[0])


def bytes_of(path):
    return {p.name: p.read_bytes() for p in path.iterdir()}


def test_a_profile_without_a_manifest_is_of_no_host(tmp_path):
    path = record(tmp_path / "p", 3)
    (path / "manifest.json").unlink()
    assert all(s.startswith("host=(none);") for s in stacks("access", "--by=host", path))
    done = tool("report", "--format=json", "--where=host=(none)", path, status=PARTIAL)
    assert json.loads(done.stdout)["samples"]["total"] == 60
    assert "no process" in tool("report", "--where=host=web1", path, status=1).stderr


def test_periods_of_a_loop_are_one_group(tmp_path):
    for i, n in enumerate((1, 2)):
        record(tmp_path / "loop" / ("%06d" % (i + 1)), n, start=(1_750_000_000 + 10 * i) * S, labels={"team": "core"})
    for by in ("host", "start", "process", "team"):
        found = stacks("access", "--by", by, tmp_path / "loop")
        assert len({s.split(";")[0] for s in found}) == 1 and sum(found.values()) == 60, by


def test_range_and_frames_go_with_groups(fleet):
    """--include chooses within groups; an allocation's path is below the group, too."""
    for arguments in (["--by=host", fleet / "root"], [fleet / "by-host"]):
        assert read("--include=host=web2", *arguments)["samples"]["total"] == 20 * 20
        assert read("--include=Worker.bump", "--where=host=web1", *arguments)["samples"]["total"] == 17 * 17
        assert read("--exclude=host=web*", *arguments)["samples"]["total"] == 20 * 8


def test_diff_compares_groups(fleet, tmp_path):
    """The same host in two profiles is one row, and --where chooses in both."""
    for name, n in ("before", 100), ("after", 200):
        record(tmp_path / name / "a", n, host="a")
        record(tmp_path / name / "b", 100, host="b")
        merge(tmp_path / (name + "-m"), "--by=host", tmp_path / name)
    for suffix, options_ in ("-m", []), ("/a", ["--by=host"]):
        sides = [str(tmp_path / side) + suffix for side in ("before", "after")]
        found = json.loads(tool("diff", "--format=json", "--group=by", *options_, *sides).stdout)
        rows = {(r["before"] or {}).get("by"): (r["before"]["by"], r["after"]["by"]) for r in found["rows"]}
        assert rows["host=a"] == ("host=a", "host=a")
    one = json.loads(tool("diff", "--format=json", "--group=class", "--where=host=b", *(tmp_path / (s + "-m") for s in ("before", "after"))).stdout)
    two = json.loads(tool("diff", "--format=json", "--group=class", *(tmp_path / s / "b" for s in ("before", "after"))).stdout)
    assert [(r["before"]["class"], r["share"]["before"]) for r in one["rows"]] == [(r["before"]["class"], r["share"]["before"]) for r in two["rows"]]
    assert "as --by host" in tool("diff", "--group=by", tmp_path / "before/a", tmp_path / "after/a", status=1).stderr


# Labels


def test_hostile_labels_survive_and_are_shown(tmp_path):
    labels = {"k%d" % i: "v" for i in range(10_000)} | {"odd": HOSTILE, "0": "no key of ours", "number": 5}
    path = record(tmp_path / "p", 1, host=HOSTILE, labels=labels)
    merged = merge(tmp_path / "m", "--by=odd", "--by=host", path)
    texts = {k: v for k, v in labels.items() if isinstance(v, str)}
    for found in (read(path), read(merged), json.loads((merged / "manifest.json").read_text())):
        assert (found["processes"][0]["host"], found["processes"][0]["labels"]) == (HOSTILE, texts)
    (listed,) = json.loads(tool("list", "--json", path).stdout)["profiles"]
    assert listed["processes"][0]["labels"] == texts
    for text in (tool("list", tmp_path).stdout, report("--by=odd", path), report(merged), report("--group=by", merged),
                 report("--format=collapsed", merged), report("--format=svg", merged)):
        assert not set(text) & {"\x1b", "\u202e"}
    assert "(9999 more)" in tool("list", path).stdout or "more)" in tool("list", path).stdout
    assert len(tool("list", path).stdout.splitlines()) == 2
    assert len(stacks("access", merged)) == len(stacks("access", path))


def test_merge_adds_labels_that_are_not_there(fleet, tmp_path):
    merged = merge(tmp_path / "m", "--label=team=other", "--label=zone=eu", fleet / "root")
    found = {(p["pid"], p.get("host")): p["labels"] for p in json.loads((merged / "manifest.json").read_text())["processes"]}
    assert found == {(10, "web1"): {"team": "core", "zone": "eu"}, (11, "web1"): {"team": "search", "zone": "eu"},
                     (10, "web2"): {"team": "core", "zone": "us"}, (12, "db"): {"team": "other", "zone": "eu"},
                     (13, None): {"team": "other", "zone": "eu"}}
    labelled = [merge(tmp_path / v, "--label=version=" + v, fleet / "root" / p) for v, p in (("v1", "web1"), ("v2", "web2"))]
    both = merge(tmp_path / "both", "--by=version", *labelled)
    assert read("--where=version=v2", both)["samples"]["total"] == 400


BAD = {
    "x": "has no '='", "=x": "needs a key", "x=": "has no value", "a b=x": "needs a key", "é=x": "needs a key", "9=x": "needs a key",
    "k" * 64 + "=x": "needs a key", "x=a\nb": "control character", "x=\x1b[1m": "control character",
    "x=\u0085": "control character", "host=x": "reserved key", "pid=1": "reserved key",
}


@pytest.mark.parametrize("label", BAD, ids=ascii)
def test_bad_labels_are_refused(fleet, tmp_path, label):
    for command in (["merge", "-o", tmp_path / "m", "--label", label, fleet / "root"], ["run", "--label", label, "--", "true"]):
        done = tool(*command, status=2)
        assert done.stderr.count("\n") == 1 and BAD[label] in done.stderr and "\x1b" not in done.stderr
    assert not (tmp_path / "m").exists()


def test_label_twice_and_too_many_labels(fleet, tmp_path):
    for command in (["merge", "-o", tmp_path / "m", "--label=a=1", "--label=a=2", fleet / "root"],
                    ["run", "--label=a=1", "--label=a=2", "--", "true"], ["run", "--label=a=1;a=2", "--", "true"]):
        assert "repeats the key of another label" in tool(*command, status=2).stderr
    many = ["--label=k%d=v" % i for i in range(10_000)]
    assert "longer than 1023 bytes" in tool("run", *many, "--", "true", status=2).stderr
    merged = merge(tmp_path / "m", *many, fleet / "root/web2/a")
    labels = json.loads((merged / "manifest.json").read_text())["processes"][0]["labels"]
    assert len(labels) == 10_002 and labels["k9999"] == "v"


@pytest.mark.parametrize("option, says", [("--where=host", "has no '='"), ("--where==x", "has no valid key"), ("--where=host=", "no pattern"),
                                          ("--by=a b", "is not a valid key"), ("--by=", "is not a valid key")])
def test_bad_keys_are_refused(fleet, option, says):
    for command in ("report", "numa", "spans"):
        assert says in tool(command, option, fleet / "root", status=2).stderr
    assert "given twice" in tool("report", "--by=host", "--by=host", fleet / "root", status=2).stderr
    nine = ["--by=k%d" % i for i in range(9)]
    assert "at most 8" in tool("report", *nine, fleet / "root", status=2).stderr


def test_labels_of_a_recording(tmp_path, workload, jdk17):
    """One JVM: what was given on the command line and in the environment's name of the machine is in the manifest."""
    out = tmp_path / "p"
    done = run_command([BUILD / "locus", "run", "-q", "-o", out, "--label", "team=a,b \\ c", "--label=app.kubernetes.io/name=x=y",
                        "--", jdk17.java, "-cp", workload(jdk17, "Brief"), "Brief"], env={**os.environ, "HOSTNAME": "wrong"})
    assert (done.returncode, done.stderr) == (3, "")  # as the program ends
    (process,) = json.loads((out / "manifest.json").read_text())["processes"]
    assert process["labels"] == {"team": "a,b \\ c", "app.kubernetes.io/name": "x=y"}
    assert process["host"] == os.uname().nodename
    assert process["options"]["label"] == "team=a,b \\ c;app.kubernetes.io/name=x=y"
    (listed,) = json.loads(tool("list", "--json", "--where=team=a,*", tmp_path).stdout)["profiles"]
    assert (listed["state"], listed["damage"], listed["processes"][0]["host"]) == ("complete", None, os.uname().nodename)
    found = read("--by=app.kubernetes.io/name", out)
    assert found["samples"] == read(out)["samples"]


# locus list


def listed(*arguments, status=0):
    return json.loads(tool("list", "--json", *arguments, status=status).stdout)


def names(found, root):
    return [os.path.relpath(p["path"], root) for p in found["profiles"]]


def test_list_finds_what_is_there(fleet):
    root = fleet / "root"
    found = listed(root)
    assert names(found, root) == ["old/a", "db/a", "web1/a", "web1/b", "web2/a"] and found["problems"] == []
    by_name = dict(zip(names(found, root), found["profiles"]))
    for name, what in FLEET.items():
        p = by_name[name]
        assert (p["state"], p["damage"], p["merged"], p["periods"], p["blocks"], p["by"]) == ("complete", None, False, 0, 2, [])
        assert p["bytes"] == sum(f.stat().st_size for f in (root / name).iterdir())
        (process,) = p["processes"]
        assert process["host"] == what.get("host", "web1") and process["labels"] == what.get("labels", {})
        assert process["pid"] == what.get("pid", 10) and process["jdk"] == what.get("jdk", "17.0.15")
    lines = tool("list", root).stdout.splitlines()
    assert lines[0].split() == ["STATE", "START", "LENGTH", "SIZE", "HOST", "PROCESS", "COMMAND", "JDK", "LABELS", "PROFILE"]
    assert lines[3].split() == ["complete", "2025-06-15T15:06:40Z", "10.0", "s", *tool("list", root / "web1/a").stdout.splitlines()[1].split()[4:6],
                                "web1", "10", "com.acme.Main", "17.0.15", "team=core,zone=eu", str(root / "web1/a")]
    (merged,) = listed(fleet / "by-host")["profiles"]
    assert merged["merged"] and merged["by"] == ["host"] and len(merged["processes"]) == 5
    assert "5 processes" in tool("list", fleet / "by-host").stdout


def test_list_chooses_and_sorts(fleet):
    root = fleet / "root"
    for where, expected in WHERE.items():
        assert sorted(names(listed(*options(where), root), root)) == sorted(expected)
    assert names(listed("--sort=path", root), root) == sorted(FLEET)
    sizes = [p["bytes"] for p in listed("--sort=size", root)["profiles"]]
    assert sizes == sorted(sizes, reverse=True)
    assert names(listed("--sort=path", root / "web2", root / "web1"), root) == ["web1/a", "web1/b", "web2/a"]
    assert "none of the 5 profiles matches" in tool("list", "--where=host=x", root, status=1).stderr
    assert "is not a time" in tool("list", "--since=soon", root, status=2).stderr


def test_list_of_times(tmp_path):
    now = time.time_ns()
    for hours in (30, 3, 1):
        record(tmp_path / str(hours), 1, start=now - hours * 3600 * S)
    assert names(listed("--since=2h", tmp_path), tmp_path) == ["1"]
    assert names(listed("--until=2h", "--sort=start", tmp_path), tmp_path) == ["30", "3"]
    assert names(listed("--since=4h", "--until=2h", tmp_path), tmp_path) == ["3"]


def test_list_says_how_recordings_ended(tmp_path):
    """Killed, or running: of this machine by the process, of another one by the age of the manifest."""
    now = time.time_ns()
    here = os.uname().nodename
    gone = subprocess.Popen(["true"])
    gone.wait()
    record(tmp_path / "ended", 1, host="far", start=now - 20 * S)
    record(tmp_path / "young", 1, host="far", start=now - 20 * S, complete=False)
    record(tmp_path / "killed", 1, host="far", start=now - 3600 * S, complete=False)
    record(tmp_path / "here", 1, host=here, pid=gone.pid, start=now - 20 * S, complete=False)
    states = {os.path.basename(p["path"]): p["state"] for p in listed(tmp_path)["profiles"]}
    assert states == {"ended": "complete", "young": "running", "killed": "killed", "here": "killed"}


def test_list_names_what_is_damaged(tmp_path):
    for name in ("cut", "bit", "manifest", "lost", "newer", "good"):
        record(tmp_path / name, 4)
    file = tmp_path / "cut/thread-0.lcb"
    file.write_bytes(file.read_bytes()[:-1])
    file = tmp_path / "bit/thread-0.lcb"
    file.write_bytes(b"\0" + file.read_bytes()[1:])
    (tmp_path / "manifest/manifest.json").write_text("{")
    (tmp_path / "lost/thread-1.lcb").unlink()
    newer = json.loads((tmp_path / "newer/manifest.json").read_text()) | {"format": 2}
    (tmp_path / "newer/manifest.json").write_text(json.dumps(newer))
    done = tool("list", "--json", tmp_path, status=PARTIAL)
    found = {os.path.basename(p["path"]): (p["state"], p["damage"]) for p in json.loads(done.stdout)["profiles"]}
    assert found.pop("good") == ("complete", None) and len(found) == 5
    assert {state for state, _ in found.values()} == {"damaged"}
    assert "byte 0" in found["bit"][1] and "byte 0" in found["cut"][1] and "1 of 2 blocks" in found["lost"][1]
    assert "manifest" in found["manifest"][1] and "newer" in found["newer"][1]
    for name in found:
        assert any(name in line for line in done.stderr.splitlines())


def test_list_of_odd_directories(tmp_path, fleet):
    """Links are not followed, other tools' manifests are none of ours, and what cannot be read is named."""
    root = tmp_path / "root"
    record(root / "x/y/z", 1)
    for number in ("000001", "000002"):
        record(root / "loop" / number, 1, pid=77)
    (root / "again").symlink_to(root)
    (root / "other").symlink_to(root / "x")
    (root / "npm").mkdir()
    (root / "npm/manifest.json").write_text('{"name": "app"}')
    (root / "pipe").mkdir()
    os.mkfifo(root / "pipe/manifest.json")
    (root / "empty").mkdir()
    record(root / "\x1b[31mred\n", 1)
    found = listed("--sort=path", root)
    assert names(found, root) == ["\x1b[31mred\n", "loop", "x/y/z"] and found["profiles"][1]["periods"] == 2
    assert len(found["profiles"][1]["processes"]) == 1
    text = tool("list", root).stdout
    assert "\x1b" not in text and len(text.splitlines()) == 4 and "loop (2 periods)" in text
    assert names(listed(root / "other"), root) == ["other/y/z"]  # a link that is named is followed
    assert "there is no profile in" in tool("list", root / "empty", status=1).stderr
    assert "No such file" in tool("list", root / "nowhere", status=1).stderr
    deep = root / "deep"
    for _ in range(70):
        deep = deep / "d"
    deep.mkdir(parents=True)
    done = tool("list", root, status=PARTIAL)
    assert "inside one another" in done.stderr and len(done.stdout.splitlines()) == 4


def test_list_of_a_directory_that_nobody_may_read(tmp_path):
    """Root may read everything: it becomes somebody else for it."""
    record(tmp_path / "good", 1)
    (tmp_path / "secret").mkdir(mode=0o000)
    become = []
    if os.geteuid() == 0:
        assert shutil.which("setpriv"), "util-linux has it"
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        for path in [tmp_path, *tmp_path.parents]:
            if path.owner() == "root" and path.stat().st_mode & 0o5 != 0o5 and str(path).startswith("/tmp/"):
                path.chmod(0o755)
        for path in (tmp_path / "good").rglob("*"):
            path.chmod(0o644)
        shutil.copy(BUILD / "locus", tmp_path / "locus")
    command = [*become, tmp_path / "locus" if become else BUILD / "locus"]
    done = run_command([*command, "list", tmp_path])
    assert done.returncode == PARTIAL and "secret': Permission denied" in done.stderr, done.stderr
    assert len(done.stdout.splitlines()) == 2
    done = run_command([*command, "report", "--format=json", tmp_path])
    assert done.returncode == PARTIAL and "secret': Permission denied" in done.stderr
    assert json.loads(done.stdout)["samples"]["total"] == 20


def test_directories_that_vanish_are_passed_over(tmp_path):
    """A loop's old periods are removed while they are looked at: no listing fails for it."""
    import threading

    root, end = tmp_path / "root", threading.Event()
    record(root / "stays", 1)
    record(tmp_path / "made", 1)

    def come_and_go():
        for i in itertools.cycle(range(5)):
            if end.is_set():
                return
            shutil.copytree(tmp_path / "made", root / ("p%d" % i), dirs_exist_ok=True)
            shutil.rmtree(root / ("p%d" % ((i + 2) % 5)), ignore_errors=True)

    worker = threading.Thread(target=come_and_go)
    worker.start()
    try:
        for _ in range(30):
            done = run_command([BUILD / "locus", "list", "--json", root])
            assert done.returncode in (0, PARTIAL), done.stderr
            assert "stays" in [os.path.basename(p["path"]) for p in json.loads(done.stdout)["profiles"]]
    finally:
        end.set()
        worker.join()


# merge --since


@pytest.fixture()
def hours(tmp_path):
    """Recordings of so many hours ago, of ten minutes each; a loop of four of them; a merged one."""
    now, root = time.time_ns(), tmp_path / "root"
    for host, ago, n in (("a", 5, 1), ("a", 1, 2), ("b", 3, 4)):
        record(root / host / str(ago), n, host=host, start=now - ago * 3600 * S + 60 * S, seconds=600)
    start = now - 2 * 3600 * S
    for i in range(4):
        path = root / "c/loop" / ("%06d" % (i + 1))
        profile = Profile(path, pid=9)
        begin = 1_000 * S + i * 1800 * S
        profile.manifest["processes"][0].update({
            "host": "c", "start_wall_ns": start + i * 1800 * S, "end_wall_ns": start + (i + 1) * 1800 * S,
            "start_monotonic_ns": begin, "end_monotonic_ns": begin + 1800 * S})
        profile.append(Block().access("jvm", BUMP, 8 << i), begin=begin + S, end=begin + 1799 * S).close()
    return root


def total(path, *arguments):
    return read(*arguments, path)["samples"]["total"]


def test_merge_since_takes_what_lies_in_that_time(hours, tmp_path):
    done = tool("merge", "-o", tmp_path / "m", "--since=90min", "--by=host", hours)
    assert "2 of 4 profiles have no data in that time" in done.stderr
    assert total(tmp_path / "m", "--where=host=a") == 2 * 20
    assert total(tmp_path / "m", "--where=host=c") == 16 + 32 + 64
    periods = {p["host"]: [q["name"] for q in p.get("periods", [])] for p in json.loads((tmp_path / "m/manifest.json").read_text())["processes"]}
    assert periods == {"a": [], "c": ["000002", "000003", "000004"]}
    shown = {p["host"]: p.get("shown") for p in read(tmp_path / "m")["processes"]}
    assert shown == {"a": None, "c": {"begin_ns": (1_000 + 1800 + 1) * S, "end_ns": (1_000 + 4 * 1800 - 1) * S}}
    again = merge(tmp_path / "again", tmp_path / "m")
    assert {p["host"]: p.get("shown") for p in read(again)["processes"]} == shown
    assert ", from 1.0 s to 5399.0 s" in report(merge(tmp_path / "c", "--since=90min", hours / "c"))
    merge(tmp_path / "between", "--since=4h", "--until=95min", hours)
    assert total(tmp_path / "between") == 4 * 20 + 8
    merge(tmp_path / "all", "--since=30h", hours)
    merge(tmp_path / "plain", hours)
    assert total(tmp_path / "all") == total(tmp_path / "plain") == 7 * 20 + 8 * 15
    clock = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - 5400))
    merge(tmp_path / "clock", "--since", clock, hours)
    assert total(tmp_path / "clock") == total(tmp_path / "m")


def test_merge_since_of_nothing_and_of_merges(hours, tmp_path):
    done = tool("merge", "-o", tmp_path / "m", "--since=1s", hours / "a", status=1)
    assert "none of the 2 profiles has data in that time" in done.stderr and not (tmp_path / "m").exists()
    old, young = merge(tmp_path / "old", hours / "a/5", hours / "b"), merge(tmp_path / "young", hours / "a/1")
    wide = merge(tmp_path / "wide", hours / "a")
    done = tool("merge", "-o", tmp_path / "m", "--since=4h", old, young, wide, status=PARTIAL)
    assert done.stderr.count("cannot be divided by time") == 2
    assert total(tmp_path / "m") == 2 * 20
    assert "is not a time" in tool("merge", "-o", tmp_path / "x", "--since=never", hours, status=2).stderr


def test_a_root_stands_for_the_profiles_below_it(fleet, tmp_path):
    assert stacks("access", fleet / "root") == stacks("access", *(fleet / "root" / p for p in FLEET))
    (tmp_path / "none").mkdir()
    for command in (["report"], ["merge", "-o", tmp_path / "m"]):
        assert "is not a profile: it has no manifest.json" in tool(*command, tmp_path / "none", status=1).stderr
