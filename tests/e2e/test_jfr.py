# SPDX-License-Identifier: Apache-2.0
"""--format=jfr: the JDK's reader, its `jfr` and JDK Mission Control read what the other formats have."""

import collections
import json
import re
import subprocess

import pytest
from conftest import BUILD, QUICK_JAVAC, ROOT, run_command
from helpers import maven
from synthetic import BUCKETS, Block, Profile, frame
from test_formats import MADE, NAMES, SAME, collapsed, escaped, profiles, report, wanted  # noqa: F401

KEPT = ["h2", "numa-collect", "spectrum"]  # of real programs
STACKS = ["code", "access", "objects", "alloc-bytes", "alloc-count", "live-bytes", "offheap-bytes", "offheap-live"]
SOME = [*SAME, ("objects", ["--top=1"]), ("objects", ["--hide=main", "--simple"]), *((name, []) for name in KEPT)]
MISSION = ["org.openjdk.jmc:flightrecorder:9.0.0", "org.openjdk.jmc:common:9.0.0", "org.owasp.encoder:encoder:1.2.3", "org.lz4:lz4-java:1.8.0"]
SECOND, DEEP = 1_000_000_000, 2000


def hostile(path):
    """Signatures, names of classes and times that readers take apart and trust."""
    profile = Profile(path)
    deep = tuple(frame("com.acme.Deep", "down", i) for i in range(DEEP))
    texts = [b"(L", b"([", b"()Ljava/lang/String;", b"(Lx;[[I", b"x()V", b"()VV", b"", b"\xed\xa0\x80(\xff", b"(\xc0\x80)V"]
    names = [b"[", b"[L", b"[[x[]", b"[]", b"a;b[]", b"\xed\xa0\x80\xff", b"x[][][]", b".", b"a..b.", b"\xed\xa0\xbd\xed\xb8\x80", b"[cut]"]
    block = Block()
    for i in range(500, DEEP, 500):
        block.path(deep[-i:])  # so that the next ones begin there
    block.access("object", deep, 3, ("byte[]", deep[:70]))
    for text in texts:
        block.access("jvm", ((b"com.acme.Odd", b"odd", text, b"", None, None), frame("com.acme.Main", "main", 1)), 2)
    for name in names:
        block.access("heap_class", ((name, name, b"()V", name, 1, 2), frame("com.acme.Main", "main", 1)), 5, (name, ()))
    profile.append(block, name=b"\xed\xa0\x80\n\xff", begin=2**64 - 1, end=3)
    return profile.close()


def of(directory, name):
    return ROOT / "tests/data/profiles" / name if name in KEPT else directory / name


@pytest.fixture(scope="module")
def recordings(profiles, tmp_path_factory):
    """The file of each of SOME, and of a hostile profile; and the class path of the reader."""
    directory = tmp_path_factory.mktemp("jfr")
    hostile(profiles / "hostile")
    for i, (name, options) in enumerate([*SOME, ("hostile", [])]):
        report("-f", directory / ("%d.jfr" % i), *options, of(profiles, name))
    return directory


def read(jdk, directory, *files):
    """The kinds of sums of each file, each a counter."""
    classes = directory / ("classes-%d" % jdk.major)
    if not classes.exists():
        subprocess.run([jdk.javac, *QUICK_JAVAC, "-d", classes, ROOT / "tests/tools/ReadJfr.java"], check=True)
    done = run_command([jdk.java, "-XX:+UseSerialGC", "-Xshare:auto", "-cp", classes, "ReadJfr", *files])
    assert done.returncode == 0, done.stderr
    found = []
    for line in done.stdout.split("\n")[:-1]:
        kind, what, number = line.split("\t")
        if kind == "file":
            found.append(collections.defaultdict(collections.Counter))
        else:
            found[-1][kind][what] = int(number)
    return found


def alike(stacks, drop=False):
    """Collapsed stacks of both origins: for the JVM, and so for JFR, '/' in the name of a class is a '.'.

    `drop` leaves out samples of which the bucket alone is known: the stacks of objects have not all of them.
    """
    made = collections.Counter()
    for stack, n in stacks.items():
        if not drop or stack[1:-1] not in BUCKETS:
            made[stack.replace("[no call path]", "(no call path)").replace("/", ".")] += n
    return +made


def test_the_jdk_reads_what_the_other_formats_have(jdk, profiles, recordings):  # noqa: F811
    files = [recordings / ("%d.jfr" % i) for i in range(len(SOME) + 1)]
    *found, odd = read(jdk, recordings, *files)
    for (name, options), made in zip(SOME, found):
        where = name, options
        for kind in STACKS:
            drop = kind == "objects"
            assert alike(made[kind], drop) == alike(collapsed(profiles, of(profiles, name), kind, *options), drop), (where, kind)
        if "--top=1" not in options:
            json_report, total = wanted(profiles, of(profiles, name), options)
            assert made["event"]["jdk.ExecutionSample"] == total["samples"] == made["bucket"].total(), where
            assert made["alloc-bytes"].total() == total["bytes"] and made["alloc-count"].total() == total["allocations"], where
            for bucket, n in json_report["samples"].items():
                assert bucket == "total" or made["bucket"][bucket] == n, (where, bucket)
            metrics = json_report.get("metrics", {})
            assert made["latency"][""] == round(metrics.get("latency_samples", 0) * metrics.get("latency_mean", 0)), where
        assert set(made["state"]) <= {"STATE_RUNNABLE"} and set(made["engine"].values()) == {1}, where
    by_name = dict(zip((name for name, _ in SOME), found))
    check_h2(by_name["h2"])
    assert by_name["spectrum"]["cpu"][""] == 2
    assert odd["event"]["jdk.ExecutionSample"] == 3 + 9 * 2 + 11 * 5
    assert max(stack.count(";") for stack in odd["code"]) == DEEP - 1


def check_h2(made):
    """A real program's: times, threads, the process, fields and pauses."""
    found = json.loads(report("--format=json", ROOT / "tests/data/profiles/h2"))
    manifest = json.loads((ROOT / "tests/data/profiles/h2/manifest.json").read_text())["processes"][0]
    first, last = made["first"][""], made["last"][""]
    assert manifest["start_wall_ns"] <= first < last <= manifest["end_wall_ns"] and last - first > 4 * SECOND
    assert list(made["jvm"]) == ["OpenJDK 64-Bit Server VM|17.0.15+6-Debian-1deb12u1|" + manifest["command"]]
    threads = {"%s %d %d" % (t["name"], t["tid"], manifest["pid"]): t["samples"] for t in found["threads"] if t["samples"]}
    assert made["thread"] == threads, threads
    assert len(made["pause"]) == manifest["counters"]["gc_collections"] and all(made["pause"].values())
    fields = collections.Counter()
    for s in found["sites"]:
        for f in s.get("fields", []):
            part = f.get("name") or "%d-%d" % (f["first"], f["last"])
            fields["object [%s].%s" % (s["class"], part)] += f["samples"]
    assert fields and fields == {k: n for k, n in made["field"].items() if k.startswith("object ")}


def test_what_is_not_whole_is_an_error(profiles):  # noqa: F811
    full = run_command(["sh", "-c", 'exec "$0" report --format=jfr "$1" >/dev/full', BUILD / "locus", profiles / "objects"])
    assert full.returncode == 1 and "No space left on device" in full.stderr
    pipe = run_command(["bash", "-c", '"$0" report --format=jfr "$1" | true; exit ${PIPESTATUS[0]}', BUILD / "locus",
                        ROOT / "tests/data/profiles/h2"])
    other = run_command(["bash", "-c", '"$0" report --format=sqlite "$1" | true; exit ${PIPESTATUS[0]}', BUILD / "locus",
                         ROOT / "tests/data/profiles/h2"])
    assert (pipe.returncode, pipe.stderr) == (other.returncode, other.stderr)


@pytest.mark.slow
def test_the_jdks_tool_prints_all(jdk, profiles, recordings):  # noqa: F811
    """`jfr` counts and prints each event, and takes hostile names apart."""
    jfr = jdk.home / "bin" / "jfr"
    for i, (name, _) in enumerate([*SOME, ("hostile", [])]):
        file = recordings / ("%d.jfr" % i)
        if name not in ("numa", "odd", "h2", "hostile"):
            continue
        (found,) = read(jdk, recordings, file)
        summary = run_command([jfr, "summary", file])
        counts = {what: int(n) for what, n in re.findall(r"^ (\S+\.\S+) +(\d+) +\d+ *$", summary.stdout, re.M)}
        assert {k: n for k, n in counts.items() if n and not re.fullmatch(r"jdk\.(Metadata|Check[Pp]oint)", k)} == found["event"], name
        printed = run_command([jfr, "print", "--json", "--stack-depth", "5000", file])
        assert printed.returncode == 0, printed.stderr[:500]
        events = json.loads(printed.stdout)["recording"]["events"]
        assert collections.Counter(e["type"] for e in events) == found["event"], name
        weights = sum(e["values"]["weight"] for e in events if e["type"] == "jdk.ObjectAllocationSample")
        assert weights == found["alloc-bytes"].total(), name
        text = run_command([jfr, "print", file])
        assert text.returncode == 0 and text.stdout.count("\njdk.ExecutionSample {") == found["event"]["jdk.ExecutionSample"], name


@pytest.mark.slow
def test_mission_control_reads_all(jdk25, profiles, recordings):  # noqa: F811
    """Its own parser, with the thread, package and time that its pages need."""
    jars = [maven(jar) for jar in MISSION]
    files = [recordings / ("%d.jfr" % i) for i in range(len(SOME) + 1)]
    classes, path = recordings / "mission", ":".join(map(str, jars))
    subprocess.run([jdk25.javac, *QUICK_JAVAC, "-cp", path, "-d", classes, ROOT / "tests/tools/ReadMission.java"], check=True)
    done = run_command([jdk25.java, "-cp", "%s:%s" % (path, classes), "ReadMission", *files])
    assert done.returncode == 0, done.stderr
    wanted_lines = []
    for file, found in zip(files, read(jdk25, recordings, *files)):
        wanted_lines.append("%s %d %d %d" % (file, found["event"]["jdk.ExecutionSample"], found["alloc-bytes"].total(), found["bucket"].total()))
    assert done.stdout.splitlines() == wanted_lines
