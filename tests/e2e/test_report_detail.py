# SPDX-License-Identifier: Apache-2.0
"""Reports beyond samples per site: fields, classes, measurements, false sharing, estimates.

The profiles are synthetic, and the expected numbers are computed by hand. The file is longer than 600 lines: the tests
share these profiles.
"""

import json
import re

import pytest
import synthetic
from helpers import open_page, page_data, with_script
from synthetic import HITM, LOAD, LOCKED, STORE, STORED, TLB_MISS, Block, Profile, engine, frame
from test_report import CHASE, MAIN, STREAM, html, report
from test_report import LOAD as LOADER

NODE = ("com.acme.Node", ())  # the class, not a site
TREE = frame("com.acme.Tree", "insert", 7)
LIST = frame("com.acme.List", "add", 8)
COUNTERS = ("long[]", (LOADER, MAIN))
BUMP = frame("com.acme.Worker", "bump", 50)
READ = frame("com.acme.Reader", "sum", 60)
PEBS = engine("pebs", "MEM_LOAD_RETIRED:L1_MISS", 100_003, "misses", reason="auto: the first that delivers")


def write(path, *blocks, **more):
    """A profile with a thread for each block."""
    profile = Profile(path, **more)
    for index, block in enumerate(blocks):
        profile.append(block, index=index, tid=100 + index, name="worker-%d" % index)
    return profile.close()


def both(locus, path, *options):
    """The report as JSON and as text."""
    return report(locus, path, *options), locus("report", "--full", path, *options).stdout


# Paths that look alike


def on_one_line(bci):
    """Two bytecodes of one line, as `a[i] + a[j]` has them, in a method called from such a line too."""
    return frame("com.acme.Tree", "sum", 30, bci), frame("com.acme.Tree", "all", 40, bci + 1), MAIN


def test_paths_that_differ_by_bytecode_alone_are_one_row_where_lines_are_shown(locus, tmp_path):
    class_site, one, other = ("com.acme.Node", ()), ("long[]", on_one_line(1)), ("long[]", on_one_line(5))
    apart = ("long[]", (frame("com.acme.Tree", "sum", 31, 1), MAIN))
    path = write(
        tmp_path / "p",
        Block()
        .allocate(*one, 3, 3000)
        .allocate(*other, 4, 4000)
        .allocate(*apart, 1, 1000)
        .access("object", on_one_line(2), 10, one)
        .access("object", on_one_line(7), 20, one)
        .access("object", on_one_line(7), 5, other)
        .field("object", one, on_one_line(2), 10, first=0, last=7, access=LOAD)
        .field("object", one, on_one_line(7), 20, first=0, last=7, access=STORE)
        .access("heap_class", on_one_line(1), 30, class_site)
        .access("heap_class", on_one_line(3), 35, class_site)
        .estimate(one, 10, 100, 400, 5000, 1 << 20, (0, 0, 0, 0, 0))
        .estimate(other, 20, 200, 500, 6000, 1 << 20, (0, 0, 0, 0, 0)),
    )
    found, text = both(locus, path)
    assert sorted(s["allocations"] for s in found["sites"]) == [1, 3, 4]
    assert [len(c["accesses"]) for c in found["classes"]] == [2]
    objects = text[text.index("\n== Objects") : text.index("\n== Code")]
    node, array = objects.split("\n\n")[:2]
    assert "65 samples\n" in node and node.count("100.0%  c.a.Tree.sum:30") == 1, node
    assert "35 samples; counted: 7 allocations, 6.8 K" in array and array.count("100.0%  c.a.Tree.sum:30") == 1, array
    assert "touched: mostly elements 0 to 7; [0..7] 100% load+store" in array
    assert found["sites"][0]["id"] in array and found["sites"][1]["id"] not in array
    assert "from 30 sampled" in text and text.count("sampled; outlived") == 1
    stacks = locus("report", path, "--format=collapsed").stdout.splitlines()
    assert len(stacks) == len({s.rsplit(" ", 1)[0] for s in stacks})
    assert sum(int(s.rsplit(" ", 1)[1]) for s in stacks) == found["samples"]["total"] == 100


# Classes


def class_block():
    return (
        Block()
        .access("heap_class", (CHASE, MAIN), 60, NODE)
        .access("heap_class", (STREAM, MAIN), 20, NODE)
        .access("heap_class", (STREAM, MAIN), 10, ("java.lang.Integer", ()))
        .access("heap_class", (MAIN,), 5)
        .count("no_address", 3)
        .count("heap_unknown", 2)
        .detail(0, 0, 80)
        .detail(2, 7, 12)
        .detail(3, 8, 8)
    )


def test_classes_of_untracked_objects(locus, tmp_path):
    found, text = both(locus, write(tmp_path / "p", class_block()))
    node, integer = found["classes"]
    assert (node["class"], node["samples"], node["share"]) == ("com.acme.Node", 80, 0.8)
    assert [(a["samples"], a["path"][0]["method"]) for a in node["accesses"]] == [
        (60, "chase"), (20, "stream")]
    assert integer["class"] == "java.lang.Integer" and integer["samples"] == 10
    assert found["sites"] == []
    assert [(a["bucket"], a["samples"]) for a in found["other_accesses"]] == [("heap_class", 5)]
    assert re.search(r"^ 80\.0% 71\.\d to 86\.\d +c\.a\.Node\n    80 samples\n    accessed at\n"
                     r"     75\.0%  c\.a\.Chaser\.chase:33\n       75\.0%  from c\.a\.Main\.main:10\n"
                     r"     25\.0%  c\.a\.Streamer\.stream:44\n", text, re.M), text
    assert not re.search(r" +$", text, re.M)
    one = locus("report", tmp_path / "p", "--view=objects", "-n1").stdout
    assert "j.l.Integer" not in one and one.endswith("10.0%               the rest: 1 row\n")
    lines = locus("report", tmp_path / "p", "--format=collapsed", "--stacks=objects").stdout.splitlines()
    assert "[com.acme.Node];com.acme.Main.main:10;com.acme.Chaser.chase:33 60" in lines
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 95


def test_what_java_code_leaves_unexplained_is_in_the_header(locus, tmp_path):
    found, text = both(locus, write(tmp_path / "p", class_block()))
    assert found["unexplained"] == {"samples": 5, "java_code": 92, "share": 5 / 92}
    assert "unexplained (address or object unknown): 5.4% of 92 samples in Java code" in text
    assert "kernel 8.0%" in text


def test_objects_that_are_not_known_are_on_the_first_screen_where_they_are_many(locus, tmp_path):
    def notes(name, known, unknown):
        block = Block().access("heap_class", (CHASE, MAIN), known, NODE).count("heap_unknown", unknown)
        text = locus("report", write(tmp_path / name, block.detail(0, 0, known + unknown))).stdout
        return [line for line in " ".join(text.split()).split("note: ")[1:]]

    assert not notes("few", 180, 19)
    assert not notes("small", 40, 50)
    (note,) = notes("many", 180, 20)
    assert note.startswith("the object of 10.0% of 200 samples in Java code is unknown; these samples are in no row of objects"), note


def test_a_class_is_no_site_of_tracked_objects_of_that_class(locus, tmp_path):
    """Their allocation path may be unknown: then both have the same class and no path."""
    block = class_block().access("object", (CHASE,), 7, NODE).allocate(*NODE, 3, 72)
    found = report(locus, write(tmp_path / "p", block))
    assert [(s["class"], s["samples"], s["allocations"]) for s in found["sites"]] == [
        ("com.acme.Node", 7, 3)]
    assert found["classes"][0]["samples"] == 80 and "allocations" not in found["classes"][0]


# Fields


def test_fields_of_a_class_and_of_its_access_paths(locus, tmp_path):
    block = class_block()
    block.field("heap_class", NODE, (CHASE, MAIN), 45, "next", access=LOAD)
    block.field("heap_class", NODE, (CHASE, MAIN), 5, "value", access=LOAD)
    block.field("heap_class", NODE, (CHASE, MAIN), 5, "value", access=STORE)
    block.field("heap_class", NODE, (STREAM, MAIN), 15, "value", access=LOAD | STORE)
    block.field("heap_class", NODE, (STREAM, MAIN), 3, "(mark)")
    found, text = both(locus, write(tmp_path / "p", block))
    node = found["classes"][0]
    shown = [(f["name"], f["samples"], f["loads"], f["stores"], f["part"]) for f in node["fields"]]
    assert shown == [("next", 45, 45, 0, 45 / 80), ("value", 25, 20, 20, 25 / 80),
                     ("(mark)", 3, 0, 0, 3 / 80)]
    assert node["fields"][0]["share"] == 0.45
    chase, stream = node["accesses"]
    assert [(f["name"], f["part"]) for f in chase["fields"]] == [("next", 0.75), ("value", 1 / 6)]
    assert [(f["name"], f["part"]) for f in stream["fields"]] == [("value", 0.75), ("(mark)", 0.15)]
    assert "    touched: all over; next 62% load, value 34% load+store, (mark) 4%\n" in text
    assert "fields" not in found["classes"][1]


def test_elements_of_an_array_site(locus, tmp_path):
    block = Block().access("object", (CHASE,), 400, COUNTERS)
    for first, samples in ((0, 250), (64, 90), (128, 30), (192, 20), (256, 10)):
        block.field("object", COUNTERS, (CHASE,), samples, first=first, last=first + 63, access=STORE)
    found, text = both(locus, write(tmp_path / "p", block))
    fields = found["sites"][0]["fields"]
    assert [(f["name"], f["first"], f["last"], f["samples"]) for f in fields] == [
        ("", 0, 63, 250), ("", 64, 127, 90), ("", 128, 191, 30), ("", 192, 255, 20), ("", 256, 319, 10)]
    assert ("    touched: all over, written and never read; [0..63] 62% store, [64..127] 22% store, "
            "[128..191] 8% store, [192..255] 5% store, and 1 more\n") in text
    one = Block().access("object", (CHASE,), 40, COUNTERS)
    one.field("object", COUNTERS, (CHASE,), 40, first=2**40, last=2**40)
    assert "    touched: mostly element 1099511627776; [1099511627776] 100%\n" in both(locus, write(tmp_path / "o", one))[1]


# Headers


def in_headers(*classes, others):
    """Samples of many classes, all at the class of their objects, beside `others` in a field of another one."""
    block = Block()
    for name, samples in classes:
        block.access("heap_class", (CHASE, MAIN), samples, ("com.acme." + name, ()))
        block.field("heap_class", ("com.acme." + name, ()), (CHASE, MAIN), samples, "(class)")
    block.access("heap_class", (STREAM, MAIN), others, NODE)
    return block.field("heap_class", NODE, (STREAM, MAIN), others, "next", access=LOAD)


def finding_of_headers(locus, path, block):
    return [f for f in report(locus, write(path, block))["findings"] if f["kind"] == "headers-of-many"]


def test_headers_of_many_classes_are_a_finding_that_names_the_first_three(locus, tmp_path):
    some = [("Kind%02d" % i, 40 + i) for i in range(20)]  # 990 in all
    (told,) = finding_of_headers(locus, tmp_path / "many", in_headers(*some, others=2310))
    assert told["share"] == 0.3 and 0.25 < told["low"] < 0.3 < told["high"] < 0.35
    assert "The first of 20 classes are c.a.Kind19 (1.8%), c.a.Kind18 (1.8%) and c.a.Kind17 (1.7%)." in told["text"]


def test_headers_of_one_class_or_of_few_samples_are_no_finding_of_many(locus, tmp_path):
    assert not finding_of_headers(locus, tmp_path / "one", in_headers(("A", 600), ("B", 280), ("C", 260), others=1160))
    # Nor where the first of three has a third: rows and their own findings say it.
    assert not finding_of_headers(locus, tmp_path / "three", in_headers(("A", 300), ("B", 280), ("C", 260), others=1160))
    few = [("Kind%02d" % i, 5) for i in range(20)]
    assert not finding_of_headers(locus, tmp_path / "few", in_headers(*few, others=1900))


# Measurements


def test_measurements_of_a_hardware_engine(locus, tmp_path):
    block = Block().access("object", (CHASE,), 30, COUNTERS).access("object", (STREAM,), 10, COUNTERS)
    place = "object", COUNTERS
    block.metric(*place, (CHASE,), 20, "l3", HITM | LOCKED, latency=4000, latency_max=900)
    block.metric(*place, (CHASE,), 10, "local_dram", TLB_MISS, latency=5000, latency_max=2000)
    block.metric(*place, (STREAM,), 10, "l2", STORED)  # stores without a latency
    found, text = both(locus, write(tmp_path / "p", block, engines=[PEBS]))
    site = found["sites"][0]
    assert site["metrics"] == {
        "samples": 40, "hitm": 20, "tlb_miss": 10, "locked": 20, "stores": 10,
        "latency_samples": 30, "latency_mean": 300, "latency_max": 2000,
        "sources": {"l2": 10, "l3": 20, "local_dram": 10}}
    assert found["metrics"] == site["metrics"]
    chase, stream = site["accesses"]
    assert chase["metrics"]["latency_mean"] == 300 and "latency_mean" not in stream["metrics"]
    assert ("measured: latency mean 300, max 2000 cycles, l2 25.0%, l3 50.0%, local_dram 25.0%, "
            "HITM 50.0%, TLB miss 25.0%, locked 50.0%, stores 25.0%\n") in text
    assert text.count("latency mean 300") == 2  # all samples, the row


def test_without_measurements_nothing_is_said_of_them(locus, tmp_path):
    found, text = both(locus, write(tmp_path / "p", class_block()))
    assert "metrics" not in json.dumps(found) and "latency" not in text and "HITM" not in text


# Engines


def test_the_header_lists_every_engine_and_why(locus, tmp_path):
    kinds = [engine(reason="auto: no PMU"), engine("watch", "watch:long[]#1", 1, "accesses")]
    block = Block().access("object", (MAIN,), 10, COUNTERS)
    block.access("object", (MAIN,), 4, COUNTERS, engine=1)
    path = write(tmp_path / "p", block, engines=kinds, counters={"engine_watch_counted": 1_000_000})
    found, text = both(locus, path)
    assert found["engine"]["reason"] == "auto: no PMU"
    assert [e.get("reason") for e in found["engines"]] == ["auto: no PMU", None]
    assert [e.get("counted") for e in found["engines"]] == [None, 1_000_000]
    for part in ("engines  1  timer (thread-cpu-time), one sample every 5 ms of thread CPU time: 10 "
                 "samples, shown here\n            auto: no PMU\n",
                 "         2  watch (watch:long[]#1), one sample every 1 accesses: 4 samples, shown by "
                 "--engine 2\n", "counted exactly: 1000000 accesses\n"):
        assert part in text, text
    assert "4 samples, shown here" in locus("report", path, "--full", "--engine=watch").stdout
    assert "uncounted_at_most" not in found["engines"][1]


def test_accesses_that_the_cpu_did_not_tell_of_make_a_count_a_bound(locus, tmp_path):
    path = write(tmp_path / "p", Block().access("object", (MAIN,), 4, COUNTERS),
                 engines=[engine("watch", "watch:long[]#1", 1, "accesses")],
                 counters={"engine_watch_counted": 1000, "engine_traps_causeless": 3})
    found, text = both(locus, path)
    assert (found["engines"][0]["counted"], found["engines"][0]["uncounted_at_most"]) == (1000, 3)
    assert "counted: 1000 accesses, and at most 3 more, whose" in text and "exactly" not in text, text


def test_the_header_says_what_a_timer_s_samples_are_worth(locus, tmp_path):
    def timer(name, interval_ns, *, cpu_ns=0, **more):
        block = Block().access("object", (MAIN,), 4000, COUNTERS)
        counts = {"engine_timer_counted": cpu_ns} if cpu_ns else {}
        return write(tmp_path / name, block, engines=[engine(interval_ns=interval_ns, **more)],
                     counters=counts)

    limited = timer("limited", 1_000_000, tick_ns=4_000_000, cpu_ns=4_100_000_000)
    found, text = both(locus, limited)
    assert found["engine"]["tick_ns"] == 4_000_000 and found["engines"][0]["cpu_ns"] == 4_100_000_000
    for part in ("limited by the kernel's tick: a thread is interrupted every 4 ms, and an interrupt "
                 "counts as 4 samples\n",
                 "samples represent 4.0 s of the 4.1 s of CPU time that the threads used\n"):
        assert part in text, text
    assert "too busy" not in text
    missed = locus("report", timer("missed", 1_000_000, cpu_ns=5_400_000_000)).stdout
    assert ("note: samples represent 4.0 s of the 5.4 s of CPU time that the threads used: the machine was too busy "
            "to interrupt them, and the rest may be elsewhere") in " ".join(missed.split()), missed
    # An interval that the tick does not limit, and a profile of before that was counted.
    found, text = both(locus, timer("wide", 5_000_000, tick_ns=4_000_000))
    assert "limited" not in text and "samples represent" not in text and "cpu_ns" not in found["engines"][0]
    older = timer("older", 1_000_000)
    assert locus("merge", "-o", tmp_path / "m", older, limited).returncode == 0
    found, text = both(locus, tmp_path / "m")
    assert found["engine"]["tick_ns"] == 4_000_000 and "cpu_ns" not in found["engines"][0], found
    found, text = both(locus, limited, "--thread=*")
    assert "cpu_ns" not in found["engines"][0] and "samples represent" not in text, text


def test_code_in_objects_is_in_tracked_and_in_other_objects(locus, tmp_path):
    block = Block().access("object", (MAIN,), 3, COUNTERS).access("heap_class", (MAIN,), 4, COUNTERS)
    found, text = both(locus, write(tmp_path / "p", block.access("jvm", (MAIN,), 1)))
    (line,) = found["code"]["lines"]
    assert (line["samples"], line["in_objects"], line["object"]) == (8, 7, 3)
    assert re.search(r"^ +100.0% +8 +87.5%  ", text, re.M), text


def test_each_watch_has_a_count_of_its_own(locus, tmp_path):
    kinds = [engine("watch", "watch:long[]#%d" % i, 1, "accesses") for i in (1, 2)]
    counts = {"engine_watch_counted": 7, "engine_watch_2_counted": 9}
    path = write(tmp_path / "p", Block().access("object", (MAIN,), 1, COUNTERS), engines=kinds,
                 counters=counts)
    assert [e["counted"] for e in report(locus, path)["engines"]] == [7, 9]
    # With several processes, nothing says which count is of which watch.
    assert all("counted" not in e for e in report(locus, path, path)["engines"])


def test_a_reason_does_not_make_another_engine(locus, tmp_path):
    first = write(tmp_path / "a", class_block())
    second = write(tmp_path / "b", class_block(), engines=[engine(reason="auto: no PMU")])
    assert locus("merge", "-o", tmp_path / "m", first, second).returncode == 0
    found = report(locus, tmp_path / "m")
    assert len(found["engines"]) == 1 and found["engine"]["reason"] == "auto: no PMU"
    assert found["samples"]["total"] == 200


# False sharing


def touch(samples, byte, access=STORE, number=1, path=(BUMP,), site=COUNTERS, bucket="object", **more):
    """A thread's block: samples in one line, at one place."""
    block = Block().access(bucket, path, samples, site)
    more.setdefault("first", byte // 8)
    return block.line(number, bucket, site, path, samples, byte, access=access, **more)


def test_two_threads_at_different_bytes_of_a_line(locus, tmp_path):
    path = write(tmp_path / "p", touch(60, 16), touch(40, 24))
    found, text = both(locus, path)
    (finding,) = found["false_sharing"]
    assert (finding["certainty"], finding["class"], finding["samples"], finding["share"],
            finding["lines"], finding["hitm"]) == ("suspicion", "long[]", 100, 1.0, 1, 0)
    assert finding["id"] == found["sites"][0]["id"]
    assert [(s["thread"], s["tid"], s["element"], s["offset"], s["bytes"], s["access"], s["samples"],
             s["path"][0]["method"]) for s in finding["sides"]] == [
        ("worker-0", 100, 2, 16, 8, "store", 60, "bump"),
        ("worker-1", 101, 3, 24, 8, "store", 40, "bump")]
    assert finding["sides"][0]["allocation_path"][0]["method"] == "load"
    assert found["shared_lines"] == {"lines": 1, "false": 1}
    for part in ("False sharing: 1 of 1", "1. suspicion: long[]  100.0%", "100 samples in 1 line\n",
                 "worker-0 (tid 100): long[][2], byte 16 of the line, store, 60 samples, at\n",
                 "worker-1 (tid 101): long[][3], byte 24 of the line, store, 40 samples, at\n",
                 "what to do: use elements 128 bytes apart"):
        assert part in text, text


def test_a_line_that_the_hardware_saw_move_is_a_finding(locus, tmp_path):
    path = write(tmp_path / "p", touch(60, 16, hitm=7), touch(40, 24, hitm=2), engines=[PEBS])
    found, text = both(locus, path)
    assert found["false_sharing"][0]["certainty"] == "finding"
    assert [s["hitm"] for s in found["false_sharing"][0]["sides"]] == [7, 2]
    assert "1. finding: long[]" in text and "9 of them found the line modified by another core" in text


@pytest.mark.parametrize("blocks", [
    (touch(60, 16), touch(40, 16)),  # the same bytes: true sharing
    (touch(60, 16), touch(40, 20)),  # bytes that overlap
    (touch(60, 16), touch(40, 20, width=4)),
    (touch(60, 16, LOAD), touch(40, 24, LOAD)),  # only read
    (touch(60, 16, 0), touch(40, 24, LOAD)),  # unknown whether stored
    (touch(60, 16), touch(40, 24, number=2)),  # different lines
    (touch(60, 16), touch(4, 24)),  # too few to tell
    (touch(4, 16), touch(40, 24)),
    (touch(60, 16).line(1, "object", COUNTERS, (BUMP,), 60, 24, access=STORE),),  # one thread
    # each stores its own and reads the other's: a queue's head and tail
    (touch(60, 16).line(1, "object", COUNTERS, (BUMP,), 30, 24, access=LOAD),
     touch(60, 24).line(1, "object", COUNTERS, (BUMP,), 30, 16, access=LOAD)),
    # the reader reads what the writer writes, beside the rest
    (touch(60, 16, LOAD), touch(40, 24).line(1, "object", COUNTERS, (BUMP,), 40, 16, access=STORE)),
], ids=["same", "overlap", "within", "read", "unknown", "lines", "few", "rare", "alone", "queue",
        "written"])
def test_what_is_no_false_sharing_is_not_flagged(locus, tmp_path, blocks):
    found, text = both(locus, write(tmp_path / "p", *blocks))
    assert found["false_sharing"] == [] and found["shared_lines"]["false"] == 0
    assert "suspicion" not in text


def test_the_same_bytes_in_two_processes_are_two_lines(locus, tmp_path):
    one = write(tmp_path / "a", touch(60, 16), pid=1)
    two = write(tmp_path / "b", touch(40, 24), pid=2)
    assert report(locus, one, two)["false_sharing"] == []
    assert locus("merge", "-o", tmp_path / "m", one, two).returncode == 0
    assert report(locus, tmp_path / "m")["false_sharing"] == []


def test_a_few_strays_do_not_hide_false_sharing(locus, tmp_path):
    """A thread that adds up all counters now and then: less than a tenth of its samples."""
    for strays, flagged in ((3, 1), (4, 0)):
        second = touch(40, 24).line(1, "object", COUNTERS, (READ,), strays, 16, access=LOAD)
        found = report(locus, write(tmp_path / str(strays), touch(60, 16), second))
        assert len(found["false_sharing"]) == flagged, strays


def test_who_only_reads_suffers_too(locus, tmp_path):
    """The length is read by both, the element beside it written by one."""
    writer = touch(50, 24).line(1, "object", COUNTERS, (BUMP,), 20, 12, 4, LOAD, "(length)")
    reader = touch(30, 12, LOAD, path=(READ,), width=4, name="(length)", first=0)
    (finding,) = report(locus, write(tmp_path / "p", writer, reader))["false_sharing"]
    assert [(s["thread"], s["field"], s["access"], s["samples"]) for s in finding["sides"]] == [
        ("worker-0", "", "store", 50), ("worker-1", "(length)", "load", 30)]


def test_many_threads_and_lines_of_one_array_are_one_finding(locus, tmp_path):
    blocks = [touch(10 + i, 8 * i) for i in range(8)]
    for i, block in enumerate(blocks):
        block.line(2, "object", COUNTERS, (READ,), 5, 8 * i, access=STORE, first=8 + i)
    (finding,) = report(locus, write(tmp_path / "p", *blocks))["false_sharing"]
    assert finding["lines"] == 2 and finding["samples"] == 108 + 40
    # worker-7 is the busiest of line 1 and of both: it is one side in line 2 too, where all are equal.
    assert [(s["samples"], s["threads"]) for s in finding["sides"]] == [(91 + 35, 7), (17 + 5, 1)]
    assert finding["sides"][0]["paths"] == 2 and finding["sides"][0]["path"][0]["method"] == "bump"
    assert (finding["sides"][1]["thread"], finding["sides"][1]["element"]) == ("worker-7", 7)


def test_neighbours_of_different_classes(locus, tmp_path):
    other = ("com.acme.Flag", ())
    second = touch(40, 48, LOAD, site=other, bucket="heap_class", name="ready", first=0)
    found, text = both(locus, write(tmp_path / "p", touch(60, 16), second))
    (finding,) = found["false_sharing"]
    assert [(s["class"], s["bucket"], s["field"]) for s in finding["sides"]] == [
        ("long[]", "object", ""), ("com.acme.Flag", "heap_class", "ready")]
    assert "suspicion: long[] and com.acme.Flag" in text
    assert "com.acme.Flag.ready, byte 48 of the line, load" in text
    assert "allocate the two objects apart" in finding["advice"]


def test_fields_of_one_object(locus, tmp_path):
    pair = ("com.acme.Pair", (MAIN,))
    path = write(tmp_path / "p", touch(60, 16, site=pair, name="left", first=0),
                 touch(40, 24, site=pair, name="right", first=0))
    found, text = both(locus, path)
    assert [s["field"] for s in found["false_sharing"][0]["sides"]] == ["left", "right"]
    assert "com.acme.Pair.left, byte 16" in text and "@Contended" in text


def test_findings_come_before_suspicions(locus, tmp_path):
    pair = ("com.acme.Pair", (MAIN,))
    first, second = touch(60, 16), touch(40, 24)
    first.line(2, "object", pair, (BUMP,), 6, 16, access=STORE, name="left", hitm=1)
    second.line(2, "object", pair, (BUMP,), 6, 24, access=STORE, name="right")
    found = report(locus, write(tmp_path / "p", first, second))
    assert [(f["certainty"], f["samples"]) for f in found["false_sharing"]] == [
        ("finding", 12), ("suspicion", 100)]
    assert len(report(locus, tmp_path / "p", "--top=1")["false_sharing"]) == 1


# Estimates


def test_estimated_objects_of_a_site(locus, tmp_path):
    block = Block().count("native", 1)
    # 5000 objects are 625 observations of 8 each, 120 MB are 13,097 of 9163 bytes each. The ends are half the 2.5% and 97.5%
    # quantiles of chi squared with 2 n and 2 (n + 1) degrees of freedom, times that (scipy).
    block.estimate(("com.acme.Node", (LIST, MAIN)), 100, 5000, 40_000, 120_000_000, 2**40,
                   [2500, 1000, 500, 50, 0])
    block.estimate(("com.acme.Leaf", (TREE,)), 3, 10, 900, 240, 2**20, [0] * 5)
    found, text = both(locus, write(tmp_path / "p", block))
    node, leaf = found["estimates"]
    assert node["estimate"] is True and (node["class"], node["sampled"]) == ("com.acme.Node", 100)
    assert node["objects"] == 5000 and node["allocation_path"][0]["method"] == "add"
    assert node["objects_low"] == pytest.approx(4615.6, abs=0.2)
    assert node["objects_high"] == pytest.approx(5407.8, abs=0.2)
    assert node["bytes_low"] == pytest.approx(117953520, abs=100)
    assert node["bytes_high"] == pytest.approx(122073076, abs=100)
    assert node["outlived"] == {"1": 2500, "2": 1000, "4": 500, "8": 50, "16": 0}
    assert leaf["objects_low"] == 3 and leaf["bytes_low"] >= 0  # as many were seen; not below 0
    assert re.search(r"~114\.4 MB  c\.a\.Node <- c\.a\.List\.add:8\n +~5000 \(4616 to 5408\) from 100 sampled; outlived "
                     r"1/2/4/8/16 collections:\s+50%/20%/10%/1%/0%\n", text), text


def test_a_profile_of_estimates_alone_is_not_empty(locus, tmp_path):
    block = Block().estimate(("com.acme.Node", (LIST,)), 1, 5, 9, 240, 2**20, [0] * 5)
    assert len(report(locus, write(tmp_path / "p", block))["estimates"]) == 1


def split_block(hits, variance):
    block = class_block()
    for site, live, hit in ((TREE, 60, hits), (LIST, 20, hits / 3)):
        block.split("live", NODE, (NODE[0], (site,)), live, 0)
        block.split("hits", NODE, (NODE[0], (site,)), hit, variance * hit / hits)
    return block


def test_a_precise_split_by_hits_is_preferred(locus, tmp_path):
    # 75% of 80 samples; n = 80^2 / (40/3 * 4/3 ...): weights of 1/100, so 8,000 hits.
    found, text = both(locus, write(tmp_path / "p", split_block(60, 0.6)))
    split = found["classes"][0]["split"]
    assert split["estimate"] is True and split["method"] == "hits"
    tree, lst = split["sites"]
    assert tree["allocation_path"][0]["method"] == "insert"
    assert tree["part"] == pytest.approx(0.75) and lst["part"] == pytest.approx(0.25)
    # The same as with 8,000 hits: 1.96 * sqrt(0.75 * 0.25 / 8000) = 0.0095.
    assert tree["part_low"] == pytest.approx(0.75 - 0.0095, abs=2e-4)
    assert tree["part_high"] == pytest.approx(0.75 + 0.0095, abs=2e-4)
    assert "(the allocating line is an estimate, from accesses to objects whose allocation was sampled)" in " ".join(text.split())
    # 60 of 100 samples: Wilson's interval, and next to nothing for the split.
    assert re.search(r"^ 60\.0% 50\.\d to 69\.\d +c\.a\.Node ~ c\.a\.Tree\.insert:7$", text, re.M), text


def test_a_split_by_too_few_hits_gives_way_to_live_objects(locus, tmp_path):
    # Weight 10: 8 hits, 1.96 * sqrt(0.75 * 0.25 / 8) = 0.3, more than 25 points.
    found, text = both(locus, write(tmp_path / "p", split_block(60, 600)))
    split = found["classes"][0]["split"]
    assert split["method"] == "live" and "uncollected objects" in split["assumption"]
    assert [s["part"] for s in split["sites"]] == [0.75, 0.25]
    assert "part_low" not in split["sites"][0]
    assert re.search(r"^ 60\.0% .*c\.a\.Node ~ c\.a\.Tree\.insert:7$", text, re.M) and "the error is unknown" in " ".join(text.split())
    assert "estimate, assuming that all uncollected objects" in " ".join(text.split())


@pytest.mark.parametrize("method,variance", [("live", 1), ("hits", 0.6)])
@pytest.mark.parametrize("whole,tree", [(80, 60), (160, 30), (None, 60), (40, 60)])
def test_what_a_split_does_not_know_stays_with_the_class(locus, tmp_path, method, variance, whole, tree):
    """The class has 80 of 100 samples, 3 to 1 of two lines; half or none are at objects of no known line."""
    block = class_block()
    for line, samples in ((TREE, 60), (LIST, 20)):
        block.split(method, NODE, (NODE[0], (line,)), samples, variance)
    if whole:
        block.split(method + "-whole", NODE, NODE, whole, 0)
    found, text = both(locus, write(tmp_path / "p", block))
    split = found["classes"][0]["split"]
    rest = 0.5 if whole == 160 else 0
    assert split["method"] == method and split.get("unknown", 0) == pytest.approx(rest)
    assert [s["part"] for s in split["sites"]] == pytest.approx([0.75 * (1 - rest), 0.25 * (1 - rest)])
    rows = {r["allocated_at"]["method"] if r["allocated_at"] else None: r for r in found["ranking"]["rows"] if r["class"] == NODE[0]}
    assert abs(rows["insert"]["samples"] - tree) <= 1
    assert (None in rows) == (rest > 0)
    assert sum(r["samples"] for r in rows.values()) == found["classes"][0]["samples"]
    if rest:
        assert rows[None]["samples"] == 40 and not rows[None].get("estimated")
        # Its number is an estimate all the same: the interval is not narrower than that of a count of 40 of 100.
        low, high = re.search(r"^ 40\.0% (\S+) to (\S+) +c\.a\.Node$", text, re.M).groups()
        assert float(low) <= 31 and float(high) >= 49


def test_one_lucky_hit_is_no_certainty(locus, tmp_path):
    block = class_block().split("hits", NODE, (NODE[0], (TREE,)), 1, 1)
    block.split("live", NODE, (NODE[0], (LIST,)), 40, 4)
    assert report(locus, write(tmp_path / "p", block))["classes"][0]["split"]["method"] == "live"
    alone = class_block().split("hits", NODE, (NODE[0], (TREE,)), 1, 1)
    split = report(locus, write(tmp_path / "q", alone))["classes"][0]["split"]
    # Wilson: at n = 1 and p = 1 the interval begins at 1 / (1 + 1.96^2) = 0.2065.
    assert split["method"] == "hits" and split["sites"][0]["part"] == 1
    assert split["sites"][0]["part_low"] == pytest.approx(1 / (1 + 1.959964**2), abs=1e-6)


@pytest.mark.parametrize("objects,named", [(1, False), (4, False), (6, True)])
def test_few_sampled_objects_name_no_line(locus, tmp_path, objects, named):
    """A hundred samples in objects of a class, all in the share of one line, with the error of so many objects."""
    block = class_block().split("live", NODE, (NODE[0], (LIST,)), 80, 80**2 / objects)
    found, text = both(locus, write(tmp_path / "p", block))
    split = found["classes"][0]["split"]
    assert split["from_objects"] == pytest.approx(objects) and split["sites"][0]["part"] == 1
    (row,) = [r for r in found["ranking"]["rows"] if r["class"] == NODE[0] and r["samples"]]
    assert bool(row["allocated_at"]) == named and row["samples"] == found["classes"][0]["samples"]
    assert bool(re.search(r"c\.a\.Node ~ c\.a\.List\.add:8", text)) == named, text


# Damage


@pytest.mark.parametrize("kind,row", [
    (synthetic.FIELDS, [0, 0, 0, 0, 0, 2, 1, 0, 1]),  # last before first
    (synthetic.FIELDS, [0, 0, 0, 0, 0, 0, 0, 4, 1]),
    (synthetic.FIELDS, [0, 0, 0, 0, 99, 0, 0, 0, 1]),
    (synthetic.METRICS, [0, 0, 0, 0, 9, 0, 1, 1, 1]),
    (synthetic.METRICS, [0, 0, 0, 0, 0, 16, 1, 1, 1]),
    (synthetic.METRICS, [1, 0, 0, 0, 0, 0, 1, 1, 1]),
    (synthetic.LINES, [1, 0, 0, 0, 0, 64, 8, 0, 0, 0, 1, 0]),
    (synthetic.LINES, [1, 0, 0, 0, 0, 0, 256, 0, 0, 0, 1, 0]),
    (synthetic.LINES, [1, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1, 2]),  # more HITM than samples
    (synthetic.MERGED_LINES, [0, 0, 1, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1, 0]),  # in a thread's block
    (synthetic.ESTIMATES, [99, *range(10)]),
    (synthetic.ESTIMATES, [0, *range(9)]),
    (synthetic.SPLITS, [0, 4, 0, 0, 1, 1]),
    (synthetic.SPLITS, [0, 0, 99, 0, 1, 1]),
])
def test_a_row_that_breaks_the_format_costs_its_block(locus, tmp_path, kind, row):
    bad = class_block()
    bad.rows[kind] = [b"".join(synthetic.varint(v) for v in row)]
    path = Profile(tmp_path / "p").append(class_block()).append(bad).close()
    done = locus("report", path, "--format=json")
    assert done.returncode == 3 and "1 blocks lost" in done.stderr
    assert json.loads(done.stdout)["samples"]["total"] == 100


# HTML


def everything(path):
    """A profile with something of each kind."""
    first, second = split_block(60, 0.6), touch(40, 24)
    first.access("object", (BUMP,), 60, COUNTERS)
    first.line(1, "object", COUNTERS, (BUMP,), 60, 16, access=STORE, first=2)
    first.field("object", COUNTERS, (BUMP,), 60, first=2, last=2, access=STORE)
    first.field("heap_class", NODE, (CHASE, MAIN), 45, "next", access=LOAD)
    first.metric("object", COUNTERS, (BUMP,), 60, "l3", HITM, latency=4200, latency_max=900)
    first.estimate((NODE[0], (LIST, MAIN)), 100, 5000, 40_000, 120_000_000, 2**40,
                   [2500, 1000, 500, 50, 0])
    return write(path, first, second, engines=[PEBS, engine()])


def test_html_holds_what_the_other_formats_say(locus, tmp_path):
    data = page_data(html(locus, tmp_path, everything(tmp_path / "p")).read_text())
    found = report(locus, tmp_path / "p")
    for group in ("class+line", "class", "field", "package", "site"):
        rows = data["lenses"][0]["groups"][group]["rows"]
        ranking = report(locus, tmp_path / "p", "--group=" + group)["ranking"]["rows"]
        assert [(r["samples"], r["allocations"], r["bytes"]) for r in rows] == [
            (r["samples"], r["allocations"], r["bytes"]) for r in ranking]
        assert [data["strings"][r["class"]] for r in rows if "package" not in r] == [
            r["class"] for r in ranking if "class" in r]
        if group != "field":
            (estimated,) = (r for r in rows if "objects" in r)
            assert estimated["objects"][0] == found["estimates"][0]["objects"]
    assert len(data["false_sharing"]) == len(found["false_sharing"]) == 1
    assert [f["id"] for f in data["lenses"][0]["findings"]] == [f["id"] for f in found["findings"]]
    assert data["metrics"] == found["metrics"] and data["unexplained"] == found["unexplained"]


def test_html_shows_classes_fields_sharing_and_estimates(locus, tmp_path, browser):
    page = html(locus, tmp_path, everything(tmp_path / "p"))
    node = report(locus, tmp_path / "p")["classes"][0]["id"]
    estimate = report(locus, tmp_path / "p")["estimates"][0]["id"]
    plain = page.read_text()
    for fragment, press, parts in (
            ("view=sharing", "", ("java.lang.Integer", "suspicion", "byte 16 of the line", "[2]", "mean 70",
                                  "auto: the first that delivers", "Engine 2")),
            (estimate, "document.querySelector('[data-face=life]').click();", ("~5,000", "Outlived collections", "50.0%")),
            (node, "document.querySelector('[data-face=layout]').click();", ("java.lang.Integer", "next"))):
        page.write_text(plain)
        with_script(page, press)
        dom = open_page(browser, page, state=fragment)
        assert 'data-ready="true"' in dom
        body = re.sub(r"<script.*?</script>", "", dom, flags=re.S)
        for part in parts:
            assert part in body, part


def test_html_hides_the_pages_of_what_there_is_not(locus, tmp_path, browser):
    dom = open_page(browser, html(locus, tmp_path, write(tmp_path / "p", class_block())))
    for name in ("sharing", "spans", "numa"):
        assert re.search(r'<button [^>]*id="tab-%s"[^>]* hidden' % name, dom), name
