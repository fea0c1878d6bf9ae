#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every report writer, byte for byte: what it writes of synthetic profiles is in tests/data/reports/.

After a change of a report that is meant, `/usr/bin/python3 tests/e2e/test_golden_reports.py` writes the
files anew; read the difference before it is committed.
"""

import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

import pytest
import synthetic
from conftest import BUILD, ROOT
from synthetic import (FOLDED, FORK_JOIN, HITM, LOAD, LOCKED, SAME_THREAD, STORE, STORED, SUBMITTED,
                       TLB_MISS, VIRTUAL, Block, engine, frame, spans)


def Profile(*args, **more):
    """One that begins at the same time whatever other tests have made."""
    profile = synthetic.Profile(*args, **more)
    profile.manifest["processes"][0]["start_wall_ns"] = 1_750_000_000_000_000_000
    return profile


GOLDEN = ROOT / "tests" / "data" / "reports"
MS = 1_000_000
S = 1000 * MS

# Names that a terminal, a line, a JSON string, a spreadsheet or a page could take for something else.
ODD_CLASS = b"\xff</script>\"\\\n"
ODD_METHOD = b"=go\";\x1b[31m\xe2\x80\xae"
ODD_THREAD = b"t\"\n\xc2\x9b31m<!--\xed\xa0\xbd;,"
ODD = (ODD_CLASS, ODD_METHOD, b"()V", b"A B\t.java", None, None)

MAIN = frame("com.acme.Main", "main", 10)
LOADER = frame("com.acme.Main", "load", 20)
CHASE = frame("com.acme.Chaser", "chase", 33)
STREAM = frame("com.acme.Streamer", "stream", 44)
BUMP = frame("com.acme.Worker", "bump", 50)
CALL = ("com.acme.Native", "call", "()V", "", None, None)
COUNTERS = ("long[]", (LOADER, MAIN))
HEAD = ("com.acme.Queue$Head", (STREAM, LOADER, MAIN))
TAIL = ("com.acme.Queue$Tail", (LOADER, MAIN))
ODD_SITE = (ODD_CLASS, (ODD, MAIN))
BARE = ("byte[]", ())  # the path is unknown
NODE = ("com.acme.Node", ())
INTEGER = ("java.lang.Integer", ())
NODE_SITES = [("com.acme.Node", (frame("com.acme.List", "add", 5 + i), MAIN)) for i in range(6)]
PEBS = engine("pebs", "MEM_LOAD_RETIRED:L1_MISS", 100_003, "misses", reason="auto: the first that delivers")

SOURCES = {
    "com/acme/Chaser.java": "".join("\tline %d of <Chaser> \"quoted\"\n" % i for i in range(1, 60)),
    "com/acme/Main.java": "".join("  int line%d; // %s\r\n" % (i, "caf\u00e9 " * i) for i in range(1, 30)),
}


def samples(thread):
    """Data of sampling engines: sites, classes, buckets, paths, fields, measurements."""
    block = Block()
    block.allocate(*COUNTERS, 1, 4096).allocate(*HEAD, 70 + thread, 5_000_000_000)
    block.allocate(*ODD_SITE, 3, 300).allocate(*BARE, 9, 9_000_000)
    block.access("object", (BUMP, MAIN), 300 + thread, COUNTERS)
    block.access("object", (CALL, STREAM, CHASE, LOADER, BUMP, ODD, MAIN), 25, COUNTERS)
    block.access("object", (CHASE, MAIN), 80, HEAD).access("object", (STREAM, MAIN), 20, HEAD)
    block.access("object", (), 7, BARE).access("object", (ODD,), 11, ODD_SITE)
    for depth in range(1, 8):
        path = tuple(frame("com.acme.Deep", "level", depth + i) for i in range(depth)) + (MAIN,)
        block.access("object", path, 20 - depth, TAIL)
    block.access("heap_class", (CHASE, MAIN), 60, NODE).access("heap_class", (STREAM, MAIN), 20, NODE)
    block.access("heap_class", (), 10, INTEGER).access("heap_class", (MAIN,), 5)
    block.access("jvm", (LOADER, MAIN), 4).access("native", (), 2).access("native", (CALL, MAIN), 8)
    block.count("heap_unknown", 1).count("no_address", 3).count("lost", 2)
    block.detail(0, 0, 270).detail(1, 3, 100).detail(2, 7, 40).detail(3, 8, 30)
    for first, n in ((0, 120), (64, 90), (128, 30), (192, 20), (256, 10)):
        block.field("object", COUNTERS, (BUMP, MAIN), n, first=first, last=first + 63, access=STORE)
    block.field("object", HEAD, (CHASE, MAIN), 60, "position", access=LOAD | STORE)
    block.field("object", HEAD, (CHASE, MAIN), 20, ODD_CLASS, access=LOAD)
    block.field("heap_class", NODE, (CHASE, MAIN), 45, "next", access=LOAD)
    block.field("heap_class", NODE, (STREAM, MAIN), 15, "(mark)")
    block.reach("object", COUNTERS, (BUMP, MAIN), 200, "com.acme.Worker.counters", "static")
    block.reach("object", HEAD, (CHASE, MAIN), 60, "com.acme.Queue.head or com.acme.Main.queues()[]", "several")
    block.reach("object", HEAD, (STREAM, MAIN), 20, "com.acme.Queue.head", "field", "interface_call")
    block.reach("heap_class", NODE, (CHASE, MAIN), 45, "com.acme.Node.next", "field")
    block.reach("heap_class", NODE, (STREAM, MAIN), 15, "com.acme.Node.next", "field", "monitor")
    block.reach("heap_class", NODE, (MAIN,), 5)
    block.metric("object", COUNTERS, (BUMP, MAIN), 200, "l3", HITM | STORED, 40_000, 900 + thread)
    block.metric("object", HEAD, (CHASE, MAIN), 80, "local_dram", TLB_MISS | LOCKED, 24_001, 700)
    block.metric("object", HEAD, (STREAM, MAIN), 20, "l2", STORED)
    block.metric("heap_class", NODE, (CHASE, MAIN), 60, "remote_cache", 0, 9000, 650)
    block.metric("native", None, (), 2, "unknown")
    return block


def sharing_and_estimates(block, thread):
    block.line(1, "object", COUNTERS, (BUMP, MAIN), 60 - thread, 16 + 8 * thread, access=STORE,
               first=2 + thread, hitm=7)
    block.line(2, "object", (HEAD, TAIL)[thread], (CHASE, MAIN), 40, 12 + 20 * thread, 4, STORE,
               ("position", ODD_CLASS)[thread], thread)
    block.line(3, "heap_class", NODE, (STREAM, MAIN), 30, 32 * thread, 4, (STORE, LOAD)[thread],
               ("next", "value")[thread])
    for i, site in enumerate(NODE_SITES):
        block.estimate(site, 50 + i, 2500 * (i + 1), 10_000, 60_000 * (i + 1), 2**30,
                       [500, 250, 100, 10, i])
        block.split("live", NODE, site, 10 + 20 * i, 4)
        block.split("hits", INTEGER, site, 15.25 + 10 * i, 900.5)
    block.estimate(ODD_SITE, 1, 1, 0, 16, 0, [0, 0, 0, 0, 0])
    return block


def objects(path):
    """Two processes, three engines; spans are only counted here."""
    profile = Profile(
        path, engines=[PEBS, engine(), engine("watch", "watch:long[]#1", 1, "accesses")],
        command="java -jar " + "a\u00e9/" * 200 + " \x1b[2J", jdk="21-\"beta\"",
        counters={"samples_lost": 2, "engine_watch_counted": 123_456},
        options={"interval": "5ms", "watch": "long[]#1", "odd": "a\"b\n"})
    other = dict(profile.manifest["processes"][0], pid=4712, command="java Other", complete=False,
                 gc="ZGC <generational>")
    profile.manifest["processes"].append(other)
    for thread in range(2):
        block = sharing_and_estimates(samples(thread), thread)
        block.access("object", (BUMP, MAIN), 50, COUNTERS, engine=1).count("jvm", 9, engine=1)
        block.access("object", (BUMP, MAIN), 2, COUNTERS, engine=2)
        block.span("anonymous", (CHASE, MAIN), [1000] * 5)
        block.span("task", (BUMP,), [70_000], type="com.acme.Task", folded=2)
        profile.append(block, index=thread, tid=100 + thread, name=("worker", ODD_THREAD)[thread])
    quiet = Block().allocate(*HEAD, 4, 96).access("object", (CHASE, MAIN), 3, HEAD)
    profile.append(quiet, index=2, tid=100, name="main", process=1)
    return profile.close()


def damaged(path):
    """Almost nothing, and not all of that; a section of kind 99 comes from a later version."""
    profile = Profile(path).append(Block().access("native", (), 1), extra=b"\x63\x02ab")
    with open(profile.file(), "ab") as f:
        f.write(b"garbage")
    return profile.close()


# NUMA

FILL = frame("com.acme.Solver", "<init>", 20)
RELAX = frame("com.acme.Solver", "relax", 31)
GRID = ("double[]", (FILL, MAIN))
OWN = ("byte[]", (BUMP,))
FAR = ("int[]", (LOADER, MAIN))
FAULT = engine("fault", "page-faults", 1, "page faults")


def node(number, *distances, cpus="", memory=1 << 30):
    return {"node": number, "memory_bytes": memory, "cpus": cpus, "memory_allowed": memory > 0,
            "distances": list(distances)}


def machine(*nodes, **more):
    return {"active": len(nodes) > 1, "balancing": True, "error": None, "pages_migrated": 12,
            "pages_asked": 9000, "pages_unknown": 3, "owner_changes": 2, "samples_dropped": 1,
            "nodes": list(nodes), **more}


def reader(thread):
    """Reads the grid on a node of its own, uses a buffer of its own, and one far away."""
    on = thread % 2
    block = Block().ran(on, 600).ran(None, 10).ran(1 - on, 10 + thread, 2)
    for frames, owner, n in (((RELAX, MAIN), 0, 200 + 10 * thread), ((CHASE, RELAX), 0, 30),
                             ((), None, 5)):
        block.access("object", frames, n, GRID)
        block.place("object", GRID, frames, n, on, owner, "remote_dram" if on else "local_dram")
    block.access("object", (BUMP,), 90, OWN).place("object", OWN, (BUMP,), 90, on, on)
    block.access("object", (CHASE,), 150, FAR).place("object", FAR, (CHASE,), 150, 0, 1, "remote_dram")
    block.access("object", (ODD,), 40, ODD_SITE).place("object", ODD_SITE, (ODD,), 40, on, 2)
    block.access("heap_class", (CHASE,), 70, NODE).place("heap_class", NODE, (CHASE,), 70, on, 1 - on)
    return block.home(OWN, on, 1, 4096)


def numa(path):
    """Main fills a grid on node 0 that 18 threads of two nodes read; node 2 has no CPU."""
    profile = Profile(path, engines=[engine(), FAULT])
    profile.manifest["processes"][0]["numa"] = machine(
        node(0, 10, 21, 17, cpus="0-1"), node(1, 21, 10, 28, cpus="2-3"), node(2, 17, 28, 10))
    main = (Block().allocate(*GRID, 1, 1 << 20).home(GRID, 0, 1, 1 << 20)
            .home(ODD_SITE, 2, 3, 300).home(FAR, 1, 2, 5000).home(FAR, None, 1, 500)
            .count("object", 20, engine=1)
            .place("object", GRID, (FILL, MAIN), 20, 0, 0, engine=1).ran(0, 5).ran(0, 20, engine=1))
    profile.append(main, name="main")
    for thread in range(18):
        profile.append(reader(thread), index=1 + thread, name=(ODD_THREAD if thread == 7 else "r%d" % thread))
    return profile.close()


def one_node(path):
    profile = Profile(path).append(Block().access("object", (CHASE,), 5, GRID))
    profile.manifest["processes"][0]["numa"] = machine(node(0, 10, cpus="0-3"), error="no \"move_pages\"")
    return profile.close()


# Spans

QUERY = frame("com.acme.Query", "run", 20)
INNER = frame("com.acme.Query", "lambda$run$0", 22)
ALIKE = frame("com.acme.Query", "lambda$alike$1", 25)
SUBMIT = frame("com.acme.Pool", "go", 30)
MAKE = frame("com.acme.Work", "<init>", 5)
WORK = "com.acme.Work"
LAMBDA = "com.acme.Query$$Lambda"
ROW = ("com.acme.Row", (MAKE, MAIN))


def span_master():
    """Streams of every kind; the inner ones are tiny and many, or long and all alike."""
    block = Block()
    for root, n in ((MAIN, 20), (SUBMIT, 3)):
        block.span("anonymous", (QUERY, root), [5_000_040] * n, overhead=40, switches=3,
                   nested=(2000, 1, 2, 3), inside=n * 16_000_000, gc=(2, 7 * MS), intervals=[(2 * S, 5 * S)])
    block.span("anonymous", (INNER,), [944] * 40_000 + [30], level=1, overhead=44,
               intervals=[(2 * S, 5 * S)])
    block.span("anonymous", (ALIKE, QUERY), [90_000 + i for i in range(3000)], level=1, overhead=40,
               intervals=[(2 * S, 3 * S), (4 * S, 5 * S)])
    block.span("primordial", (MAIN,), [1_000_000] * 30, intervals=[(6 * S, 7 * S)])
    block.span("pulled", (INNER,), [], executions=7).span("foreign", (INNER,), [30, 10], overhead=25)
    block.span("anonymous", (ODD,), [1000] * 3)
    block.running(101, "anonymous", (QUERY, MAIN), 4 * S, 90_000_000, compensated=89_000_000, inside=6_000_000)
    block.running(102, "anonymous", (CHASE, MAIN), 5 * S, 7_000_000)
    block.running(103, "anonymous", (ALIKE, QUERY), 5 * S, 8_000_000, level=1, ended=1)
    block.made(WORK, (MAKE,), 3000).made(WORK, (MAKE,), 2990, "execute", (SUBMIT,))
    block.made(LAMBDA, (QUERY, MAIN), 12).made("", (), 4)
    block.access("object", (QUERY,), 90, ROW).count("native", 10)
    block.span_access("anonymous", (QUERY, MAIN), "object", ROW, (QUERY,), 90)
    block.span_access("anonymous", (QUERY, MAIN), "native", None, (), 10)
    block.span_access("anonymous", (CALL,), "heap_class", NODE, (CHASE, ODD), 4)
    for i in range(30):
        block.slice((10 + 3 * i) * 100 * MS, 90 * MS, 2, 1)
    return block.pause(3 * S, 5 * MS).pause(3500 * MS, 1234)


def span_worker(number):
    """Fine tasks, some of them long; the first worker does most of the parallel streams."""
    block = Block()
    block.span("support", (MAIN,), [3_000_000] * (62 if number == 1 else 2), inside=9_000_000 * number,
               intervals=[(6 * S, 7 * S)])
    block.span("task", (MAKE,), [2050 + 10 * i for i in range(700)] + [90_000_000] * number,
               type=WORK, submit="execute", submitted=(SUBMIT,), overhead=50, switches=900,
               intervals=[(8 * S, 9 * S)], wait=(700, 70_000), folded=3)
    block.span("task", (QUERY, MAIN), [40_000] * 2, type=LAMBDA, submit="fork", submitted=(QUERY, MAIN))
    block.span("thread", (SUBMIT, MAIN), [1_000_000], type="java.lang.Thread", submit="start",
               submitted=(SUBMIT, MAIN), nested=(0, 0, 0, 5), inside=12_000_000)
    if number == 2:
        block.span("task", (ODD,), [1000], type=b"=1+1\"\n\xff")
        block.running(201, "thread", (SUBMIT, MAIN), 2 * S, 3000, type="java.lang.Thread", submit="start",
                      submitted=(SUBMIT, MAIN))
        block.running(202, "task", (MAKE,), 3 * S, 4_000_000, type=WORK, submit="execute", submitted=(SUBMIT,))
        block.running(102, "anonymous", (CHASE, MAIN), 5 * S, 17_000_000)
    block.access("object", (MAKE,), 6, ROW)
    block.span_access("task", (MAKE,), "object", ROW, (MAKE,), 6, type=WORK)
    for i in range(80, 95):
        block.slice(i * 100 * MS, 50 * MS, 400, 20)
    trace(block, number)
    return block


def trace(block, number):
    base = 1000 * number
    for i in range(4):
        start = 8 * S + i * MS
        block.trace(base + 2 * i, "task", (MAKE,), start, 900_000, 2050, logical=base + 2 * i, type=WORK,
                    submit="execute", submitted=(SUBMIT,), flags=SUBMITTED, creator=0, overhead=50,
                    switches=1, wait_ns=100 * i)
        block.trace(base + 2 * i + 1, "task", (MAKE,), start + 1000, 501, 2050, outer=base + 2 * i,
                    logical=base + 2 * i, type=WORK, level=1, submit="fork",
                    flags=FOLDED | SAME_THREAD | FORK_JOIN, overhead=2100)
    block.trace(base + 90, "anonymous", (QUERY, MAIN), 2 * S - 1, 7, 99)
    block.trace(base + 91, "task", (ODD,), 9 * S, 5_000_001, 7, type=b"=1+1\"\n\xff", flags=VIRTUAL)


def span_profile(path):
    recording = spans(calibration_warning="coefficient of variation 0.61", tasks_error="no \"Thread\"")
    profile = Profile(path, engines=[engine(), PEBS], spans=recording)
    profile.manifest["processes"][0]["numa"] = machine(node(0, 10, cpus="0-3"))
    profile.append(span_master(), index=0, name="main", end=11 * S)
    for number in range(1, 5):
        name = ODD_THREAD if number == 2 else "pool-1-thread-%d" % number
        profile.append(span_worker(number), index=number, name=name, end=11 * S)
    return profile.close()


PROFILES = {"objects": objects, "damaged": damaged, "numa": numa, "one-node": one_node,
            "spans": span_profile}

# File of tests/data/reports: the profile, and the command that writes it.
REPORTS = {
    "objects.txt": ("objects", "report"),
    "objects-full.txt": ("objects", "report", "--full"),
    "objects-source.txt": ("objects", "report", "--view=objects", "--top=1", "--source-path=SOURCES"),
    "objects-sampled.txt": ("objects", "report", "--engine=timer", "--view=alloc"),
    "objects-by-field.txt": ("objects", "report", "--group=field"),
    "objects-by-package.json": ("objects", "report", "--group=package", "--format=json", "--top=2"),
    "objects.json": ("objects", "report", "--format=json"),
    "objects-one-thread.json": ("objects", "report", "--format=json", "--thread=worker", "--top=2"),
    "objects.collapsed": ("objects", "report", "--format=collapsed"),
    "objects-both-paths.collapsed": ("objects", "report", "--format=collapsed", "--stacks=objects"),
    "objects-bytes.collapsed": ("objects", "report", "--format=collapsed", "--stacks=alloc-bytes"),
    "objects.csv": ("objects", "report", "--format=csv"),
    "objects-by-field.csv": ("objects", "report", "--format=csv", "--group=field", "--top=3"),
    "objects.md": ("objects", "report", "--format=markdown"),
    "objects-short.md": ("objects", "report", "--format=markdown", "--budget=1500", "--thread=*"),
    "objects-page.json": ("objects", "report", "--format=html", "--source-path=SOURCES"),
    "objects-numa.txt": ("objects", "numa"),
    "damaged.txt": ("damaged", "report"),
    "damaged.json": ("damaged", "report", "--format=json"),
    "numa.txt": ("numa", "numa"),
    "numa-bound.txt": ("numa", "numa", "--simulate=bind:1", "--top=1"),
    "numa.json": ("numa", "numa", "--format=json"),
    "numa-interleaved.json": ("numa", "numa", "--format=json", "--simulate=interleave", "--top=1"),
    "numa-page.json": ("numa", "report", "--format=html"),
    "one-node.txt": ("one-node", "numa"),
    "one-node.json": ("one-node", "numa", "--format=json"),
    "spans.txt": ("spans", "spans"),
    "spans-by-executions.txt": ("spans", "spans", "--sort=executions", "--top=2"),
    "spans.json": ("spans", "spans", "--format=json"),
    "spans-two-rows.json": ("spans", "spans", "--format=json", "--top=2", "--thread=pool-*"),
    "spans.csv": ("spans", "spans", "--format=csv"),
    "spans-types.csv": ("spans", "spans", "--format=csv", "--table=types"),
    "spans.collapsed": ("spans", "spans", "--format=collapsed"),
    "spans-events.json": ("spans", "spans", "--format=trace"),
    "spans-report.txt": ("spans", "report"),
}
PARTIAL = {"damaged": 3}  # exit status where it is not 0


def page_text(page):
    """The data of a page, as they were before they were compressed."""
    mark = b'id="data">'
    return zlib.decompress(base64.b64decode(page[page.index(mark) + len(mark):].split(b"</script>")[0]))


def written(profiles, name):
    profile, command, *options = REPORTS[name]
    options = [o.replace("SOURCES", str(profiles / "sources")) for o in options]
    done = subprocess.run([BUILD / "locus", command, profile, *options], cwd=profiles,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    assert done.returncode == PARTIAL.get(profile, 0), done.stderr
    return page_text(done.stdout) + b"\n" if "--format=html" in options else done.stdout


def write_profiles(directory):
    for name, make in PROFILES.items():
        make(directory / name)
    for name, text in SOURCES.items():
        file = directory / "sources" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return directory


@pytest.fixture(scope="module")
def profiles(tmp_path_factory):
    return write_profiles(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_byte_for_byte_as_it_was(profiles, name):
    found, wanted = written(profiles, name), (GOLDEN / name).read_bytes()
    assert found.decode().splitlines() == wanted.decode().splitlines()
    assert found == wanted
    if name.endswith(".json"):
        json.loads(found)


def test_every_golden_report_is_compared():
    assert sorted(p.name for p in GOLDEN.iterdir()) == sorted(REPORTS)


def test_words_that_a_user_need_not_know_are_in_no_text():
    """They are keys in JSON and names in docs; the view of spans has those of its kinds, and explains them."""
    learnt = re.compile(r"heap_class|heap_unknown|\b(un)?tracked\b|\bfolded\b|\banonymous\b|\bprimordial\b")
    texts = [name for name in REPORTS if name.endswith(".txt") and REPORTS[name][1] != "spans"]
    assert len(texts) > 8
    for name in texts:
        shown = (GOLDEN / name).read_text()
        shown = re.sub(r"== Streams and tasks\n.*?(?=\n== )", "", shown, flags=re.S)
        assert not learnt.search(shown), (name, learnt.search(shown))
    for command in ("run", "report", "numa", "merge", "diff"):
        shown = subprocess.run([BUILD / "locus", "help", command], capture_output=True, text=True, check=True).stdout
        assert not learnt.search(shown), (command, learnt.search(shown))


def test_the_page_on_spans_holds_the_json_report(profiles):
    page = subprocess.run([BUILD / "locus", "spans", "--format=html", profiles / "spans"],
                          capture_output=True, check=True, timeout=300).stdout
    assert page_text(page) == (GOLDEN / "spans.json").read_bytes()


def main():
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        profiles = write_profiles(pathlib.Path(directory))
        for name in REPORTS:
            (GOLDEN / name).write_bytes(written(profiles, name))


if __name__ == "__main__":
    sys.exit(main())
