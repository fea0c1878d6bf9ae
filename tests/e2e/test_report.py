# SPDX-License-Identifier: Apache-2.0
"""The analyzer, over synthetic profiles with known contents.

The file is longer than 600 lines: the tests share these profiles.
"""

import json
import os
import random
import re
import resource
import shutil
import zipfile

import pytest
import synthetic
from conftest import BUILD, ROOT, run_command
from helpers import open_page, page_data, with_script
from synthetic import BUCKETS, Block, Profile, engine, frame

MAIN = frame("com.acme.Main", "main", 10)
LOAD = frame("com.acme.Main", "load", 20)
CHASE = frame("com.acme.Chaser", "chase", 33)
STREAM = frame("com.acme.Streamer", "stream", 44)
ARRAYS = ("byte[]", (LOAD, MAIN))
NODES = ("com.acme.Node", (frame("com.acme.Node", "<init>", 5), MAIN))


def busy(scale=1):
    """80 samples of every kind, times `scale`."""
    return (
        Block()
        .allocate(*ARRAYS, 7 * scale, 7000 * scale)
        .allocate(*NODES, 3 * scale, 300 * scale)
        .access("object", (CHASE, MAIN), 40 * scale, ARRAYS)
        .access("object", (STREAM, MAIN), 10 * scale, ARRAYS)
        .access("object", (CHASE, MAIN), 20 * scale, NODES)
        .access("heap_class", (STREAM, MAIN), 3 * scale)
        .access("native", (), 2 * scale)
        .count("heap_unknown", scale)
        .count("jvm", scale)
        .count("no_address", 2 * scale)
        .count("lost", scale)
        .detail(0, 0, 70 * scale)
        .detail(2, 7, 10 * scale)
    )


def simple(path, **more):
    return Profile(path, **more).append(busy()).close()


def report(locus, *args, status=0):
    done = locus("report", "--format=json", *args)
    assert done.returncode == status, done.stderr
    found = json.loads(done.stdout)
    assert found["samples"]["total"] == sum(found["samples"][b] for b in BUCKETS)
    return found


def refusal(done, *words, status=1):
    """One line on stderr that holds all words, and this status."""
    assert done.returncode == status, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("locus: "), done.stderr
    for word in words:
        assert word in lines[0], lines[0]


# JSON


def test_json_holds_what_was_written(locus, tmp_path):
    found = report(locus, simple(tmp_path / "p", counters={"lost": 1}))
    assert found["format"] == 1
    assert found["program"] == {
        "command": "java -cp app.jar Main", "pid": 4711, "jdk": "17.0.15", "gc": "G1"}
    assert found["engine"] == engine()
    assert found["samples"] == {
        "total": 80, "object": 70, "heap_class": 3, "heap_unknown": 1, "jvm": 1, "native": 2,
        "no_address": 2, "lost": 1}
    arrays, nodes = found["sites"]
    assert arrays["class"] == "byte[]"
    assert (arrays["allocations"], arrays["bytes"], arrays["samples"]) == (7, 7000, 50)
    assert arrays["share"] == 50 / 80
    leaf = {"class": "com.acme.Main", "method": "load", "line": 20, "bci": 60, "file": "Main.java"}
    assert arrays["allocation_path"][0] == leaf
    assert [f["method"] for f in arrays["allocation_path"]] == ["load", "main"]
    assert [(a["samples"], a["share"], a["path"][0]["method"]) for a in arrays["accesses"]] == [
        (40, 0.5, "chase"), (10, 0.125, "stream")]
    assert nodes["class"] == "com.acme.Node" and nodes["samples"] == 20
    assert [(t["tid"], t["name"], t["samples"]) for t in found["threads"]] == [(4711, "main", 80)]
    assert found["details"]["how"]["direct"] == 70 and found["details"]["where"]["interpreter"] == 10
    assert found["other_accesses"][0]["bucket"] in BUCKETS
    assert found["code"]["methods"][0]["method"] == "chase"
    assert found["code"]["methods"][0]["samples"] == 60


def test_unknown_line_and_bci_are_minus_1(locus, tmp_path):
    native = ("com.acme.Main", "call", "()V", "", None, None)
    block = Block().access("object", (native,), 1, ("byte[]", (native,)))
    found = report(locus, Profile(tmp_path / "p").append(block).close())
    top = found["sites"][0]["allocation_path"][0]
    assert (top["line"], top["bci"], top["file"]) == (-1, -1, "")


def test_blocks_of_a_thread_and_of_several_threads_add_up(locus, tmp_path):
    profile = Profile(tmp_path / "p")
    for index in range(3):
        for _ in range(4):
            profile.append(busy(), index=index, name="worker-%d" % index)
    found = report(locus, profile.close())
    assert found["samples"]["total"] == 12 * 80
    assert len(found["sites"]) == 2
    assert found["sites"][0]["samples"] == 12 * 50 and found["sites"][0]["allocations"] == 84
    assert len(found["sites"][0]["accesses"]) == 2
    assert [t["samples"] for t in found["threads"]] == [320] * 3


@pytest.mark.parametrize("raw,shown", [
    (b"caf\xc3\xa9", "caf\u00e9"),
    (b"nul\xc0\x80", "nul\0"),
    (b"pair\xed\xa0\xbd\xed\xb8\x80", "pair\U0001f600"),
    (b"lone\xed\xa0\xbd", "lone\ufffd"),
    (b"bad\xff\xfe", "bad\ufffd\ufffd"),
    (b"cut\xe2\x82", "cut\ufffd\ufffd"),
    (b"</script><b>\"'\\\n\t\x1b[2J\x7f", "</script><b>\"'\\\n\t\x1b[2J\x7f"),
    ("\u2028\u202e".encode(), "\u2028\u202e"),
])
def test_any_name_gives_valid_json_and_harmless_text(locus, tmp_path, raw, shown):
    odd = (raw, raw, b"()V", raw, 1, 1)
    block = Block().access("object", (odd,), 1, (raw, (odd,)))
    path = Profile(tmp_path / "p").append(block, name=raw).close()
    found = report(locus, path)
    assert found["sites"][0]["class"] == shown
    assert found["sites"][0]["accesses"][0]["path"][0]["method"] == shown
    assert found["threads"][0]["name"] == shown
    for kind in ("text", "collapsed"):
        text = locus("report", path, "--format=" + kind).stdout
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", text)
    page = tmp_path / "page.html"
    assert locus("report", path, "--format=html", "-f", page).returncode == 0
    assert page.read_text(encoding="utf-8").count("</script>") == 2


def test_site_ids_are_stable_and_distinct(locus, tmp_path):
    one = report(locus, simple(tmp_path / "a"))
    other = Profile(tmp_path / "b", pid=1)
    other.append(Block().access("object", (MAIN,), 1, NODES), index=3)
    other.append(busy(3))
    two = report(locus, other.close())
    assert {s["id"]: s["class"] for s in one["sites"]} == {s["id"]: s["class"] for s in two["sites"]}
    assert len({s["id"] for s in one["sites"]}) == 2


def test_a_hidden_class_is_the_same_in_every_run(locus, tmp_path):
    ids = set()
    for address in ("0x00007f01c4000a00", "0x000000080011ab00"):
        hidden = frame("com.acme.Main$$Lambda$14/" + address, "run", 1, file="")
        block = Block().access("object", (hidden,), 1, ("byte[]", (hidden, MAIN)))
        found = report(locus, Profile(tmp_path / address).append(block).close())
        assert found["sites"][0]["allocation_path"][0]["class"] == "com.acme.Main$$Lambda$14"
        ids.add(found["sites"][0]["id"])
    assert len(ids) == 1


def test_sort_and_top(locus, tmp_path):
    block = Block()
    for i, (samples, count, size) in enumerate([(10, 30, 200), (20, 20, 300), (30, 10, 100)]):
        site = ("com.acme.C%d" % (2 - i), (MAIN,))
        block.allocate(*site, count, size).access("object", (MAIN,), samples, site)
    path = Profile(tmp_path / "p").append(block).close()
    for sort, key in (("samples", "samples"), ("bytes", "bytes"), ("allocations", "allocations")):
        values = [s[key] for s in report(locus, path, "--sort", sort)["sites"]]
        assert values == sorted(values, reverse=True)
    names = [s["class"] for s in report(locus, path, "--sort=class")["sites"]]
    assert names == sorted(names)
    assert len(report(locus, path, "--top=2")["sites"]) == 2
    for view in ("brief", "objects"):
        text = locus("report", path, "--top=2", "--view=" + view).stdout
        assert "c.a.C0" in text and "c.a.C1" in text and "c.a.C2" not in text
        assert re.search(r"^ 16.7% +the rest: 1 row$", text, re.M), text


def test_thread_by_id_and_by_pattern(locus, tmp_path):
    profile = Profile(tmp_path / "p")
    for index, name in enumerate(["main", "pool-1", "pool-2"]):
        profile.append(busy(index + 1), index=index, tid=100 + index, name=name)
    path = profile.close()
    assert report(locus, path, "--thread=101")["samples"]["total"] == 160
    found = report(locus, path, "--thread", "pool-*")
    assert found["samples"]["total"] == 400 and found["thread_filter"]
    assert {t["name"] for t in found["threads"]} == {"pool-1", "pool-2"}
    assert report(locus, path, "--thread", "main;pool-2")["samples"]["total"] == 320
    refusal(locus("report", path, "--thread", "nobody"), "--thread", "nobody")


def test_engines_are_never_added_up(locus, tmp_path):
    kinds = [engine(), engine("pmu", "mem-loads", 1000, "loads"), engine(interval_ns=10_000_000)]
    block = Block()
    for number, samples in enumerate((10, 30, 5)):
        block.access("object", (MAIN,), samples, ARRAYS, engine=number)
    path = Profile(tmp_path / "p", engines=kinds).append(block).close()
    default = report(locus, path)
    assert default["engine"] == kinds[1] and default["samples"]["total"] == 30
    assert [e["samples"]["total"] for e in default["engines"]] == [10, 30, 5]
    assert report(locus, path, "--engine=pmu")["samples"]["total"] == 30
    assert report(locus, path, "--engine=3")["sites"][0]["samples"] == 5
    refusal(locus("report", path, "--engine=timer"), "2 engines are named")
    refusal(locus("report", path, "--engine=pebs"), "pebs")
    assert [e["shown"] for e in default["engines"]] == [False, True, False]
    text = locus("report", path).stdout
    assert "samples of pmu (mem-loads); --engine 1 shows those of timer; --engine 3" in text
    text = locus("report", path, "--view=recording").stdout
    assert "timer (thread-cpu-time), one sample every 5 ms of thread CPU time: 10 samples, shown by " \
        "--engine 1\n" in text
    assert "pmu (mem-loads), one sample every 1000 loads: 30 samples, shown here\n" in text


def test_verbose_adds_how_it_was_recorded(locus, tmp_path):
    path = Profile(tmp_path / "p", counters={"paths": 17}).append(Block().access("object", (MAIN,), 30, ARRAYS)).close()
    recording = locus("report", "--view=recording", path).stdout
    assert "paths 17" in recording and "paths 17" not in locus("report", path).stdout
    for view in ("brief", "code"):
        shown = locus("report", "--view=" + view, path).stdout
        assert locus("report", "-v", "--view=" + view, path).stdout == shown + "\n== Recording\n" + recording
    for view in ("recording", "full"):
        shown = locus("report", "--view=" + view, path).stdout
        assert locus("report", "--verbose", "--view=" + view, path).stdout == shown


# Text and collapsed stacks


def test_percentages_in_the_text_add_up_to_100(locus, tmp_path):
    rng = random.Random(5)
    for i in range(20):
        block = Block()
        for bucket in BUCKETS:
            block.count(bucket, rng.choice([0, 1, 1, 3, 7, rng.randrange(10**9)]))
        block.count("object", 1)
        path = Profile(tmp_path / str(i)).append(block).close()
        text = locus("report", "--view=recording", path).stdout
        shares = re.findall(r"^  +\d+ +([\d.]+)%  \w", text, re.M)
        assert len(shares) == len(BUCKETS)
        assert sum(round(10 * float(s)) for s in shares) == 1000, text


def test_text_names_objects_paths_and_code(locus, tmp_path):
    path = simple(tmp_path / "p", counters={"gc_moves": 12, "zero": 0})
    text = locus("report", "--full", path).stdout
    for part in ("java -cp app.jar Main", "pid 4711, JDK 17.0.15, G1", "one sample every 5 ms of "
                 "thread CPU time", " 62.5% 51.5 to 72.3  byte[] <- c.a.Main.load:20", "com.acme.Main.load(Main.java:20)",
                 "com.acme.Chaser.chase(Chaser.java:33)", "gc_moves 12", "Threads: 1"):
        assert part in text, text
    assert "zero" not in text


def test_collapsed_stacks_are_object_centric(locus, tmp_path):
    lines = locus("report", simple(tmp_path / "p"), "--format=collapsed", "--stacks=objects").stdout.splitlines()
    assert lines[0] == ("com.acme.Main.main:10;com.acme.Main.load:20;[byte[]];"
                        "com.acme.Main.main:10;com.acme.Chaser.chase:33 40")
    assert "[native] 2" in lines
    assert sum(int(line.rsplit(" ", 1)[1]) for line in lines) == 75


def test_report_goes_to_a_file(locus, tmp_path):
    path = simple(tmp_path / "p")
    done = locus("report", path, "--format=json", "-f", tmp_path / "out.json")
    assert done.returncode == 0 and done.stdout == ""
    json.loads((tmp_path / "out.json").read_text())
    refusal(locus("report", path, "-f", tmp_path / "no" / "out"), "cannot write", "No such file")
    if os.path.exists("/dev/full"):
        refusal(locus("report", path, "-f", "/dev/full"), "cannot write", "No space left")


def test_source_lines_come_from_directories_and_jars(locus, tmp_path):
    source = tmp_path / "src" / "com" / "acme"
    source.mkdir(parents=True)
    (source / "Main.java").write_text("\n" * 19 + "\tbyte[] b = new byte[1000]; // <b>\n")
    with zipfile.ZipFile(tmp_path / "src.jar", "w") as jar:
        jar.writestr("java.base/com/acme/Chaser.java", "\n" * 32 + "p = p.next;\r\n")
    path = simple(tmp_path / "p")
    where = "%s:%s" % (tmp_path / "src", tmp_path / "src.jar")
    text = locus("report", path, "--view=objects", "--source-path", where).stdout
    assert "| byte[] b = new byte[1000]; // <b>" in text and "| p = p.next;\n" in text
    assert locus("report", path, "--source-path", where, "--format=html", "-f",
                 tmp_path / "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    lines = [line for f in page_data(page)["sources"] for r in f["ranges"] for line in r["lines"]]
    assert "p = p.next;" in lines and "\tbyte[] b = new byte[1000]; // <b>" in lines


def test_sources_that_cannot_be_read_cost_a_line_and_the_rest_is_shown(locus, tmp_path):
    source = tmp_path / "src" / "com" / "acme"
    source.mkdir(parents=True)
    (source / "Main.java").write_text("\n" * 19 + "the line;\n")
    (tmp_path / "bad.jar").write_text("no zip")
    with zipfile.ZipFile(tmp_path / "broken.jar", "w", zipfile.ZIP_DEFLATED) as jar:
        jar.writestr("com/acme/Chaser.java", "words " * 1000)
    broken = (tmp_path / "broken.jar").read_bytes()
    at = broken.index(b"Chaser.java") + 11
    (tmp_path / "broken.jar").write_bytes(broken[:at] + b"\xff" * 8 + broken[at + 8:])
    path = simple(tmp_path / "p")
    for bad, said in (("none", "cannot read '%s/none': No such file"), ("bad.jar", "'%s/bad.jar' is neither a directory"),
                      ("broken.jar", "cannot read 'com/acme/Chaser.java' from its jar")):
        where = "%s:%s" % (tmp_path / bad, tmp_path / "src")
        done = locus("report", path, "--view=objects", "--source-path", where)
        assert done.returncode == 3, done.stderr
        assert done.stderr.count("\n") == 1 and done.stderr.startswith("locus: --source-path: ")
        assert (said % tmp_path if "%" in said else said) in done.stderr
        assert "| the line;" in done.stdout


def test_profile_of_a_newer_version_among_others_is_skipped(locus, tmp_path):
    first, newer = simple(tmp_path / "p"), Profile(tmp_path / "n").append(Block().access("native", (), 5))
    newer.manifest["format"] = 9
    newer = newer.close()
    alone = locus("report", "--format=json", first)
    for order in ([first, newer], [newer, first]):
        done = locus("report", "--format=json", *order)
        assert (done.returncode, done.stdout) == (3, alone.stdout)
        assert done.stderr == "locus: %s: written by a newer Locus (format 9, this one reads 1); it is skipped\n" % newer
    refusal(locus("report", newer), "newer Locus (format 9, this one reads 1); use that version")


def test_kinds_of_samples_of_different_profiles_are_named_and_kept_apart(locus, tmp_path):
    paths = [Profile(tmp_path / name, engines=[engine(name, interval_ns=n)]).append(Block().access("native", (), n)).close()
             for name, n in (("timer", 7), ("pebs", 5))]
    done = locus("report", "--format=json", *paths)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith("locus: the profiles have different kinds of samples, which cannot be added up; "
                                  "1: timer every 7 ns of thread CPU time; 2: pebs every 5 ns of thread CPU time")
    report = json.loads(done.stdout)
    assert [(e["name"], e["samples"]["total"]) for e in report["engines"]] == [("timer", 7), ("pebs", 5)]
    assert report["samples"]["total"] == 7
    chosen = locus("report", "--format=json", "--engine=pebs", *paths)
    assert (chosen.returncode, chosen.stderr) == (0, "")
    assert json.loads(chosen.stdout)["samples"]["total"] == 5
    assert locus("report", paths[0], paths[0]).stderr == ""


@pytest.mark.parametrize("cls,file", [
    ("com.acme.Main", "../../../secret"), ("..secret", "x"), ("com/../../acme.A", "A.java"),
    (".etc.A", "passwd"), ("A", ".."), ("A", ".hidden"), ("x" * 5000 + ".A", "A.java"),
])
def test_names_never_lead_out_of_the_source_path(locus, tmp_path, cls, file):
    (tmp_path / "secret").write_text("secret line\n")
    (tmp_path / "a" / "b").mkdir(parents=True)
    odd = (cls, "m", "()V", file, 1, 1)
    path = Profile(tmp_path / "p").append(Block().access("object", (odd,), 1, ("A", (odd,)))).close()
    done = locus("report", path, "--source-path", tmp_path / "a" / "b")
    assert done.returncode == 0 and "secret line" not in done.stdout


# Bad input


def test_an_empty_profile_is_refused(locus, tmp_path):
    refusal(locus("report", Profile(tmp_path / "a").close()), "empty")
    refusal(locus("report", Profile(tmp_path / "b").append(Block()).close()), "empty")
    goes_on = Profile(tmp_path / "c")
    goes_on.manifest["processes"][0].update(complete=False, pid=4711)
    refusal(locus("report", goes_on.close()), "the recording goes on, unless")
    assert "'locus dump 4711'" in locus("report", tmp_path / "c").stderr
    refusal(locus("merge", "-o", tmp_path / "m", tmp_path / "a"), "nothing to merge")
    assert not (tmp_path / "m").exists()


def test_what_is_no_profile_is_refused(locus, tmp_path):
    (tmp_path / "dir").mkdir()
    (tmp_path / "file").write_text("x")
    refusal(locus("report", tmp_path / "none"), "none", "No such file")
    refusal(locus("report", tmp_path / "dir"), "not a profile")
    refusal(locus("report", tmp_path / "file"), "not a directory")
    refusal(locus("merge", "-o", tmp_path / "m"), "name the profiles", status=2)
    refusal(locus("merge", tmp_path / "dir"), "-o", status=2)


def test_bad_options_are_refused(locus, tmp_path):
    path = simple(tmp_path / "p")
    refusal(locus("report", path, "--format=jsno"), "jsno", "json", status=2)
    refusal(locus("report", path, "--top=0"), "--top", status=2)
    refusal(locus("report", path, "--top=x"), "--top", status=2)
    refusal(locus("report", path, "--sort=size"), "--sort", status=2)
    refusal(locus("report", path, "--nothing"), "--nothing", status=2)


def test_a_newer_block_format_is_refused(locus, tmp_path):
    path = Profile(tmp_path / "p").append(busy()).append(busy(), version=5, extra=b"later").close()
    refusal(locus("report", path), "newer", "format 5")
    refusal(locus("merge", "-o", tmp_path / "m", path), "newer", "format 5")
    assert not (tmp_path / "m").exists()


def test_a_newer_manifest_is_refused(locus, tmp_path):
    profile = Profile(tmp_path / "p").append(busy())
    profile.manifest["format"] = 9
    refusal(locus("report", profile.close()), "newer", "format 9")


def test_a_longer_header_and_unknown_sections_are_read(locus, tmp_path):
    later = synthetic.varint(77) + synthetic.varint(3) + b"abc"
    path = Profile(tmp_path / "p").append(busy(), extra=later).close()
    found = report(locus, path)
    assert found["samples"]["total"] == 80 and found["damage"]["skipped_sections"] == 1
    data = path / "thread-0.lcb"
    payload = busy().payload("main")
    stored = synthetic.zstd_frame(payload)
    data.write_bytes(synthetic.header(payload, stored, tid=1, index=0, sequence=0,
                                      extra=b"12345678") + stored)
    assert report(locus, path)["samples"]["total"] == 80


def damaged(tmp_path, change):
    """Three blocks of 80 samples, their file changed."""
    profile = Profile(tmp_path / "p").append(busy()).append(busy()).append(busy())
    data = bytearray(profile.file().read_bytes())
    profile.file().write_bytes(change(data, len(data) // 3))
    return profile.close()


def test_a_flipped_byte_costs_one_block(locus, tmp_path):
    size = len(synthetic.header(b"", b"", tid=0, index=0, sequence=0))
    for at in [*range(0, size, 5), size + 1, size + 100, -1]:
        shutil.rmtree(tmp_path / "p", ignore_errors=True)

        def flip(data, block):
            data[block + at if at >= 0 else 2 * block - 1] ^= 0x10
            return data

        path = damaged(tmp_path, flip)
        done = locus("report", path, "--format=json")
        refusal(done, "damaged", "1 blocks lost", status=3)
        found = json.loads(done.stdout)
        assert found["samples"]["total"] == 160 and found["damage"]["blocks"] == 1
        assert "damaged" in locus("report", path).stdout


def test_a_cut_file_keeps_the_blocks_before_the_cut(locus, tmp_path):
    for cut in (1, 8, 30, 71, 72, 200):
        shutil.rmtree(tmp_path / "p", ignore_errors=True)
        path = damaged(tmp_path, lambda data, block: data[:2 * block + cut])
        done = locus("report", path, "--format=json")
        refusal(done, "1 blocks lost", status=3)
        assert json.loads(done.stdout)["samples"]["total"] == 160


def test_missing_bytes_garbage_and_missing_files_are_noticed(locus, tmp_path):
    for change, left in [(lambda d, b: d[:b + 50] + d[b + 90:], 160),
                         (lambda d, b: d[:b] + os.urandom(5000) + d[b:], 240),
                         (lambda d, b: b"junk" + d, 240),
                         (lambda d, b: d[:2 * b], 160),
                         (lambda d, b: d[b:], 160)]:
        shutil.rmtree(tmp_path / "p", ignore_errors=True)
        done = locus("report", damaged(tmp_path, change), "--format=json")
        refusal(done, "damaged", status=3)
        assert json.loads(done.stdout)["samples"]["total"] == left


def test_a_deleted_thread_file_is_noticed(locus, tmp_path):
    profile = Profile(tmp_path / "p").append(busy()).append(busy(), index=1)
    path = profile.close()
    os.unlink(profile.file(1))
    refusal(locus("report", path), "1 blocks lost", status=3)


def test_blocks_are_readable_without_a_manifest(locus, tmp_path):
    for content in (None, "", "{", '{"format":"x"}', "[]", "null"):
        shutil.rmtree(tmp_path / "p", ignore_errors=True)
        path = simple(tmp_path / "p")
        os.unlink(path / "manifest.json")
        if content is not None:
            (path / "manifest.json").write_text(content)
        done = locus("report", path, "--format=json")
        refusal(done, "manifest", status=3)
        assert json.loads(done.stdout)["samples"]["total"] == 80


def test_a_killed_program_is_reported_with_what_is_missing(locus, tmp_path):
    profile = Profile(tmp_path / "p", complete=False)
    path = profile.append(busy(), begin=1_000_000_000, end=4_500_000_000).close()
    done = locus("report", path)
    assert done.returncode == 0 and "killed: only its first 3.5 s are recorded" in " ".join(done.stdout.split())
    assert report(locus, path)["processes"][0]["complete"] is False


def test_a_report_file_is_whole_or_what_it_was(locus, tmp_path):
    path, out = simple(tmp_path / "p"), tmp_path / "out" / "r.json"
    out.parent.mkdir()
    out.write_text("old")
    out.chmod(0o640)
    done = locus("report", path, "--format=json", "-f", out, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert done.returncode != 0 and out.read_text() == "old"
    assert [f.name for f in out.parent.iterdir() if "XXXX" in f.name] == []
    assert locus("report", path, "--format=json", "-f", out).returncode == 0
    assert json.loads(out.read_text())["samples"]["total"] == 80
    assert out.stat().st_mode & 0o777 == 0o640
    assert len(list(out.parent.iterdir())) <= 2  # of the run that was cut, one may be left: it was killed


def test_a_report_file_that_is_a_link_is_not_followed(locus, tmp_path):
    path, victim, out = simple(tmp_path / "p"), tmp_path / "victim", tmp_path / "r.json"
    victim.write_text("old")
    out.symlink_to(victim)
    refusal(locus("report", path, "-f", out), "link")
    assert victim.read_text() == "old" and out.is_symlink()
    assert json.loads(locus("report", path, "--format=json", "-f", "/dev/stdout").stdout)["samples"]["total"] == 80
    assert locus("report", path, "--format=json", "-f", "/dev/null").returncode == 0


LIMITS = [
    {"kind": "profile_size", "text": "the profile has 1.0 GB\x1b[2J"},
    {"kind": "paths", "text": "more paths than 4 million"},
]


def limited(path, rows=LIMITS):
    profile = Profile(path).append(busy())
    profile.manifest["processes"][0]["limits"] = rows
    return profile.close()


def test_limits_that_were_reached_are_notes_of_every_report(locus, tmp_path):
    path = limited(tmp_path / "p")
    for view in ((), ("--view=recording",), ("--full",)):
        text = " ".join(locus("report", path, *view).stdout.split())
        assert "note: the profile has 1.0 GB" in text and "note: more paths than 4 million" in text, view
        assert "\x1b" not in text
    assert report(locus, path)["processes"][0]["limits"] == LIMITS
    assert page_data(locus("report", path, "--format=html").stdout)["processes"][0]["limits"] == LIMITS
    assert "limits" not in report(locus, simple(tmp_path / "none"))["processes"][0]


def test_limits_of_merged_profiles_are_kept_and_said_once_each(locus, tmp_path):
    paths = [limited(tmp_path / "a"), limited(tmp_path / "b")]
    assert locus("merge", "-o", tmp_path / "m", *paths).returncode == 0
    assert [p["limits"] for p in report(locus, tmp_path / "m")["processes"]] == [LIMITS, LIMITS]
    assert locus("report", tmp_path / "m").stdout.count("the profile has 1.0 GB") == 1


@pytest.mark.parametrize("rows", [7, [], [7], [{"kind": "paths"}], [{"kind": 7, "text": "x"}], {"kind": "paths"}])
def test_limits_that_are_none_are_no_note(locus, tmp_path, rows):
    path = limited(tmp_path / "p", rows)
    assert "note:" not in locus("report", path).stdout
    assert not report(locus, path)["processes"][0].get("limits")


MARKS = [{"name": "warm\x1b[2J", "time_ns": 0}, *({"name": "m%d" % i, "time_ns": 10**12} for i in range(9))]


def marked(path, rows=MARKS):
    profile = Profile(path).append(busy())
    profile.manifest["processes"][0]["marks"] = rows
    return profile.close()


def test_marks_are_in_reports_and_in_merged_profiles(locus, tmp_path):
    path = marked(tmp_path / "p")
    text = " ".join(locus("report", path).stdout.split())
    assert "note: the program marked 'warm" in text and "'m6' after" in text and ", and 2 more" in text
    assert "\x1b" not in text and "m7" not in text
    assert report(locus, path)["processes"][0]["marks"] == MARKS
    assert locus("merge", "-o", tmp_path / "m", path, marked(tmp_path / "q", MARKS[:2])).returncode == 0
    assert [p["marks"] for p in report(locus, tmp_path / "m")["processes"]] == [MARKS, MARKS[:2]]
    assert "marks" not in report(locus, simple(tmp_path / "none"))["processes"][0]


@pytest.mark.parametrize("rows", [7, [], [7], [{"time_ns": 7}], [{"name": 7, "time_ns": 7}], {"name": "x"}])
def test_marks_that_are_none_are_no_note(locus, tmp_path, rows):
    path = marked(tmp_path / "p", rows)
    assert "note:" not in locus("report", path).stdout
    assert not report(locus, path)["processes"][0].get("marks")


def test_the_first_manifest_of_a_program_killed_at_once_is_enough(locus, tmp_path):
    profile = Profile(tmp_path / "p", engines=[]).append(busy())
    profile.manifest["processes"] = []
    profile.close()
    assert report(locus, tmp_path / "p")["samples"]["total"] == 80


# Merge


def comparable(found):
    """The parts that must not differ between a report of several profiles and one of their merge."""
    out = {k: found[k] for k in ("engine", "engines", "samples", "sites", "details", "code",
                                 "other_accesses", "classes", "estimates", "false_sharing",
                                 "shared_lines", "unexplained")}
    out["metrics"] = found.get("metrics")
    out["threads"] = sorted((t["tid"], t["name"], t["samples"], t["allocations"], t["bytes"],
                             t["process"], tuple(t["buckets"].values())) for t in found["threads"])
    out["processes"] = [(p["pid"], p["command"], p["counters"], p["complete"], p["last_block_ns"])
                        for p in found["processes"]]
    return out


def random_rows(block, rng, walk, site):
    """Rows beyond ACCESSES, of one site and of one class."""
    kind = ("com.acme.K%d" % rng.randrange(4), ())
    block.access("heap_class", walk(), rng.randrange(1, 9), kind, rng.randrange(2))
    for bucket, of in (("object", site), ("heap_class", kind)):
        for _ in range(3):
            where = (bucket, of, walk())
            more = {"engine": rng.randrange(2)}
            samples = rng.randrange(1, 40)
            block.field(*where, samples, rng.choice(["", "next", "value"]), rng.randrange(4),
                        4 + rng.randrange(3) * 2**40, rng.randrange(4), **more)
            block.metric(*where, samples, rng.choice(synthetic.SOURCES), rng.randrange(16),
                         rng.randrange(1000), rng.randrange(1000), **more)
            block.line(2**40 + rng.randrange(3), *where, samples, 8 * rng.randrange(8),
                       rng.choice([0, 1, 4, 8, 16]), rng.randrange(4), rng.choice(["", "next"]),
                       rng.randrange(9), rng.randrange(samples + 1), **more)
            block.split(rng.choice(["live", "hits"]), kind, site, samples, rng.randrange(9), **more)
    block.estimate(site, 1 + rng.randrange(9), 100 + rng.randrange(99), rng.randrange(999),
                   rng.randrange(99999), rng.randrange(2**40), [rng.randrange(9) for _ in range(5)])


def random_profile(path, rng, pid):
    frames = [frame("com.acme.K%d" % i, "m%d" % (i % 3), i + 1) for i in range(8)]

    def walk():
        return tuple(rng.choice(frames) for _ in range(rng.randrange(1, 6)))

    profile = Profile(path, pid=pid, command="run %d" % pid, counters={"gc": rng.randrange(9)},
                      engines=[engine(), engine("fault", "page-faults", 1, "faults")])
    for index in range(rng.randrange(1, 4)):
        for _ in range(rng.randrange(1, 4)):
            block = Block()
            for _ in range(rng.randrange(1, 12)):
                site = ("com.acme.K%d[]" % rng.randrange(4), walk())
                block.allocate(*site, rng.randrange(1, 99), rng.randrange(9999))
                block.access("object", walk(), rng.randrange(1, 9), site, rng.randrange(2))
                block.access(rng.choice(BUCKETS[1:]), walk(), rng.randrange(1, 9))
                block.count(rng.choice(BUCKETS), rng.randrange(9), rng.randrange(2))
                block.detail(rng.randrange(5), rng.randrange(9), rng.randrange(99))
                random_rows(block, rng, walk, site)
            profile.append(block, index=index, tid=pid + index, name="t%d" % index)
    return profile.close()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("options", [(), ("--keep-threads",)], ids=["together", "threads"])
def test_report_of_a_merge_is_the_report_of_all(locus, tmp_path, seed, options):
    rng = random.Random(seed)
    paths = [random_profile(tmp_path / str(i), rng, 100 * (i + 1)) for i in range(5)]
    for order in (paths, paths[::-1]):
        out = tmp_path / "merged"
        shutil.rmtree(out, ignore_errors=True)
        done = locus("merge", *options, "-o", out, *order)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        for more in ((), ("--engine=1",), ("--engine=2",)):
            assert comparable(report(locus, out, *more)) == comparable(report(locus, *paths, *more))
    halves = [tmp_path / "left", tmp_path / "right"]
    for half, some in zip(halves, (paths[:2], paths[2:])):
        assert locus("merge", *options, "-o", half, *some).returncode == 0
    assert comparable(report(locus, *halves)) == comparable(report(locus, *paths))


def test_merge_keeps_threads_of_processes_apart(locus, tmp_path):
    paths = [simple(tmp_path / str(pid), pid=pid) for pid in (1, 2)]
    assert locus("merge", "-o", tmp_path / "m", *paths).returncode == 0
    found = report(locus, tmp_path / "m")
    assert [(t["process"], t["samples"]) for t in found["threads"]] == [(0, 80), (1, 80)]
    assert [p["pid"] for p in found["processes"]] == [1, 2]
    assert len(found["sites"]) == 2 and found["sites"][0]["samples"] == 100


def test_threads_can_be_chosen_after_a_merge_that_kept_them(locus, tmp_path):
    profile = Profile(tmp_path / "p")
    profile.append(busy(), index=0, name="a").append(busy(2), index=1, name="b")
    path = profile.close()
    other = synthetic.another(path, tmp_path / "other")
    assert locus("merge", "--keep-threads", "-o", tmp_path / "k", path, other).returncode == 0
    assert report(locus, tmp_path / "k", "--thread=b")["samples"]["total"] == 320
    assert locus("merge", "-o", tmp_path / "m", path, other).returncode == 0
    refusal(locus("report", tmp_path / "m", "--thread=b"), "--keep-threads")


def test_merge_refuses_an_output_that_is_in_the_way(locus, tmp_path):
    path = simple(tmp_path / "p")
    before = sorted(f.name for f in path.iterdir())
    refusal(locus("merge", "-o", path, path), "not empty")
    assert sorted(f.name for f in path.iterdir()) == before
    (tmp_path / "file").write_text("")
    refusal(locus("merge", "-o", tmp_path / "file", path), "file")
    refusal(locus("merge", "-o", tmp_path / "no" / "m", path), "cannot make")
    (tmp_path / "empty").mkdir()
    assert locus("merge", "-o", tmp_path / "empty", path).returncode == 0


def test_merge_of_damaged_profiles_keeps_the_rest(locus, tmp_path):
    path = damaged(tmp_path, lambda data, block: data[:-1])
    refusal(locus("merge", "-o", tmp_path / "m", path), "damaged", status=3)
    assert report(locus, tmp_path / "m")["samples"]["total"] == 160


def test_memory_of_a_merge_follows_its_result(tmp_path):
    """Ten times the inputs of the same paths take about the same memory."""
    if b"__asan_init" in (BUILD / "locus").read_bytes():
        pytest.skip("a build with AddressSanitizer keeps what was freed")
    template = simple(tmp_path / "template")
    peaks = []
    for count in (100, 1000):
        paths = []
        for i in range(count):
            path = tmp_path / ("%d-%d" % (count, i))
            paths.append(synthetic.another(template, path))
        code = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        done = run_command(["python3", "-c", code, BUILD / "locus", "merge", "-o",
                            tmp_path / ("m%d" % count), *paths])
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
    assert peaks[1] - peaks[0] < 6000, peaks  # KB; the manifest's 900 rows included


# Formats of the past


def contains(found, expected):
    """All of `expected` is in `found`, which may have more members."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            contains(found[name], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            contains(one, other)
    else:
        assert found == expected


def test_golden_profile_of_format_1_is_read(locus):
    golden = ROOT / "tests" / "data" / "golden-v1"
    found = report(locus, golden / "profile")
    contains(found, json.loads((golden / "report.json").read_text()))


def test_golden_profile_with_all_sections_is_read(locus):
    """Format 1 as it is since fields, metrics, lines, estimates and splits came."""
    golden = ROOT / "tests" / "data" / "golden-v1-sections"
    contains(report(locus, golden / "profile"), json.loads((golden / "report.json").read_text()))


def test_golden_profile_whose_blocks_refer_to_others_is_read(locus, tmp_path):
    """Blocks of version 2. It is of tests/workloads/Loop.java, which had counted what it made."""

    def rows(r):
        return sorted([s["class"], s["allocations"], s["bytes"], s["samples"], len(s["allocation_path"])]
                      for s in r["sites"])

    golden = ROOT / "tests" / "data" / "golden-v2-blocks"
    wanted = json.loads((golden / "report.json").read_text())
    assert locus("merge", "-o", tmp_path / "merged", golden / "profile").returncode == 0
    for profile in (golden / "profile", tmp_path / "merged"):  # merged ones stand alone
        found = report(locus, profile)
        assert (rows(found), found["samples"]) == (wanted["sites"], wanted["samples"])
        assert sum(s["allocations"] for s in found["sites"]
                   if any((f["class"], f["method"]) == ("Loop$Maker", "make") for f in s["allocation_path"])) == wanted["made"]


def test_golden_profile_that_tells_what_interrupts_weigh_is_read(locus, tmp_path):
    """Blocks of version 4, of tests/workloads/KnownShares.java with an interval of a fourth of the kernel's tick."""
    golden = ROOT / "tests" / "data" / "golden-v4-blocks"
    wanted = json.loads((golden / "report.json").read_text())
    assert locus("merge", "-o", tmp_path / "merged", golden / "profile").returncode == 0
    for profile in (golden / "profile", tmp_path / "merged"):  # merged ones have blocks of version 3
        found = report(locus, profile)
        rows = [[r["class"], r["samples"], r["effective"]] for r in found["ranking"]["rows"]]
        assert {"samples": found["samples"], "observations": found["observations"], "rows": rows} == wanted
    counters = found["processes"][0]["counters"]
    assert wanted["observations"]["interrupts"] == counters["engine_timer_samples"]
    assert wanted["samples"]["total"] == counters["engine_timer_samples"] + counters["engine_timer_overruns"]


def test_report_tells_how_many_objects_may_have_lost_their_site(locus, tmp_path):
    counts = {"small_forgotten": 3, "small_forgotten_new": 20, "map_dropped": 100}
    for i, counters in enumerate([*({k: n} for k, n in counts.items()), counts]):
        text = " ".join(locus("report", simple(tmp_path / str(i), counters=counters)).stdout.split())
        assert "note: at most %d live objects of 128 bytes or less lost their site" % sum(counters.values()) in text
    assert "lost their site" not in locus("report", simple(tmp_path / "none", counters=dict.fromkeys(counts, 0))).stdout


# HTML


def html(locus, tmp_path, path, *options):
    page = tmp_path / "report.html"
    done = locus("report", path, "--format=html", "-f", page, *options)
    assert done.returncode == 0, done.stderr
    return page


def test_html_is_one_file_without_references(locus, tmp_path):
    text = html(locus, tmp_path, simple(tmp_path / "p")).read_text()
    assert not re.search(r"(?:src|href|@import|url\()\s*=?\s*[\"'(]?\s*(?:https?:|//|file:)", text)
    assert "default-src 'none'" in text
    data = page_data(text)
    assert data["samples"]["total"] == 80 and len(data["sites"]["id"]) == 3  # the first is none
    rows = data["lenses"][0]["groups"]["class+line"]["rows"]
    assert sorted(r["samples"] for r in rows) == [20, 50]


def test_html_shows_sites_and_paths(locus, tmp_path, browser):
    source = tmp_path / "src" / "com" / "acme"
    source.mkdir(parents=True)
    (source / "Main.java").write_text("\n" * 19 + "byte[] marker = new byte[1000];\n")
    page = html(locus, tmp_path, simple(tmp_path / "p"), "--source-path", tmp_path / "src")
    dom = open_page(browser, page, state="face=source")
    assert 'data-ready="true"' in dom
    body = re.sub(r"<script.*?</script>", "", dom, flags=re.S)
    for part in ("62.5%", "com.acme.Main.load", "com.acme.Chaser.chase", "byte[] marker",
                 "objects, allocation known", "87.5%", "one sample every", "5 ms of thread CPU time"):
        assert part in body, part
    second = report(locus, tmp_path / "p")["sites"][1]["id"]
    chosen = re.sub(r"<script.*?</script>", "",
                    open_page(browser, page, state=second), flags=re.S)
    assert "id " + second in chosen


def test_a_file_that_is_removed_meanwhile_costs_its_blocks_alone(locus, tmp_path):
    """A link to nothing is listed and cannot be opened, as a file that is removed between both."""
    for name in ("a", "b"):
        Profile(tmp_path / "all" / name).append(busy()).close()
    (tmp_path / "all" / "a" / "gone.lcb").symlink_to(tmp_path / "nothing.lcb")
    done = locus("report", "--format=json", tmp_path / "all")
    assert done.returncode == 3 and "1 blocks lost" in done.stderr, done.stderr
    whole = [json.loads(locus("report", "--format=json", p).stdout)["samples"]["total"] for p in
             (tmp_path / "all" / "b", tmp_path / "all" / "b")]
    assert json.loads(done.stdout)["samples"]["total"] == sum(whole)


def test_top_is_for_the_findings_of_the_screen_too(locus, tmp_path):
    block = Block()
    for i in range(4):
        site = ("org.acme.Node%d" % i, (frame("org.acme.Main", "make%d" % i, 5), MAIN))
        block.allocate(*site, 10, 50_000_000).access("object", (CHASE, MAIN), 500 + 20 * i, site)
    Profile(tmp_path / "p").append(block).close()
    for top, findings in ((4, 4), (2, 2), (1, 1)):
        text = locus("report", "-n", top, tmp_path / "p").stdout
        assert [line[:2] for line in text.splitlines() if re.match(r"\d\. ", line)] == ["%d." % (i + 1) for i in range(findings)]


def test_folded_recursion_is_said(locus, tmp_path, browser):
    path = ARRAYS[1]
    Profile(tmp_path / "p").append(busy().recursion(path[1:], 1).recursion(path, 7)).append(
        busy().recursion(path, 3)).close()
    merged = tmp_path / "merged"
    assert locus("merge", "-o", merged, tmp_path / "p").returncode == 0
    for profile in tmp_path / "p", merged:
        site = next(s for s in report(locus, profile)["sites"] if s["class"] == "byte[]")
        assert [f.get("recursion") for f in site["allocation_path"]] == [7, 1]
    assert "load(Main.java:20), recursive over 7 frames" in locus("report", "--view=objects", merged).stdout
    page = html(locus, tmp_path, merged)
    with_script(page, """document.querySelector("[data-face=allocated]").click();""")
    dom = open_page(browser, page, state=site["id"])
    body = re.sub(r"<script.*?</script>|<[^>]*>", "", dom, flags=re.S)
    assert "load (Main.java:20), recursive over 7 frames" in body
    assert re.search(r"main \(Main.java:10\), recursive(?! over)", body)


def test_html_runs_no_script_from_a_name(locus, tmp_path, browser):
    evil = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
    odd = (evil, evil, "()V", evil, 1, 1)
    block = Block().access("object", (odd,), 5, (evil, (odd,)))
    profile = Profile(tmp_path / "p", command=evil, options={evil: evil}, counters={evil: 1})
    page = html(locus, tmp_path, profile.append(block, name=evil).close())
    dom = open_page(browser, page)
    assert 'data-ready="true"' in dom
    assert "<title>Locus: script&gt;&lt;img</title>" in dom and "<img" not in dom.replace("&lt;img", "")


def test_html_is_quick_with_10000_sites(locus, tmp_path, browser):
    block = Block()
    rng = random.Random(1)
    frames = [frame("com.acme.pkg%d.Class%d" % (i % 40, i), "method%d" % (i % 7), i) for i in range(3000)]
    for i in range(10000):
        walk = tuple(rng.choice(frames) for _ in range(12)) + (MAIN,)
        site = ("com.acme.Type%d" % (i % 500), walk)
        block.allocate(*site, i + 1, 100 * i)
        for _ in range(3):
            block.access("object", tuple(rng.choice(frames) for _ in range(8)), rng.randrange(1, 50), site)
    page = html(locus, tmp_path, Profile(tmp_path / "p").append(block).close())
    with_script(page, """
        const input = document.getElementById("search");
        input.value = "class2999";
        input.dispatchEvent(new Event("input"));
        await wait(1000);
        document.body.dataset.found = document.getElementById("found").textContent;
        document.body.dataset.rows = document.querySelectorAll("#view-objects .row").length;""")
    dom = open_page(browser, page, state="view=objects")
    assert re.search(r'data-found="\d+ rows, matched \d+\.\d%"', dom), dom[-400:]
    assert int(re.search(r'data-rows="(\d+)"', dom).group(1)) < 100


def test_if_one_caller_of_a_line_is_an_estimate_so_are_the_others(locus, tmp_path):
    """One caller has 40 objects by assumption; any other caller of the line may have made some of them."""
    line, other = frame("com.acme.Main", "make", 10), frame("com.acme.Main", "make", 11)
    made = {"often": (line, 100, 24), "seldom": (line, 30, 24), "apart": (other, 5, 24), "large": (line, 7, 1024)}
    block, sites = Block(), {}
    for caller, (at, objects, size) in made.items():
        sites[caller] = ("byte[]", (at, frame("com.acme.Main", caller, 20)))
        block.allocate(*sites[caller], objects, objects * size)
    block.spread(*sites["often"], 40)
    path = Profile(tmp_path / "p").append(block).close()
    r = json.loads(locus("report", "--format=json", path).stdout)
    found = {s["allocation_path"][1]["method"]: (s["allocations"], s.get("estimated")) for s in r["sites"]}
    assert found == {"often": (100, 40), "seldom": (30, 30), "apart": (5, None), "large": (7, None)}
