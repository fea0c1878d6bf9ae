# SPDX-License-Identifier: Apache-2.0
"""`locus holders`: which references hold objects, in a program that knows."""

import json
import subprocess
import time

import pytest
from conftest import BUILD
from heap_dump import HeapDump
from helpers import COLLECTORS, collector, waiting_programs

MAP = "java.util.HashMap.table[] -> java.util.HashMap$Node.value"
LISTENERS = "static Held.button -> Held$Button.listeners -> java.util.concurrent.CopyOnWriteArrayList.array[]"
THREAD_LOCAL = ("thread -> java.lang.Thread.threadLocals -> java.lang.ThreadLocal$ThreadLocalMap.table[]"
                " -> java.lang.ThreadLocal$ThreadLocalMap$Entry.value")
VIRTUAL_LOCAL = "static HeldVirtual.threads -> java.util.ArrayList.elementData[]" + THREAD_LOCAL[len("thread"):]
LINKED = "static Held.first -> Held$Link.next (repeated) -> Held$Link.item"
# class: (objects, its most frequent chain, objects of the chain among those that are looked at)
HELD = {
    "InMap": (1000, "static Held.cache -> " + MAP, 16),
    "InList": (1000, "static Held.list -> java.util.ArrayList.elementData[]", 16),
    "InLinked": (1000, LINKED, 15),
    "InTwo": (16, "static Held.some[]", 12),
    "InThread": (1, THREAD_LOCAL, 1),
    "InLocal": (1, "local variable of Held.hold", 1),
    "InInterface": (1, "static Held$Marked.MARK", 1),
    "InBase": (1, "static Held.derived -> Held$Base.low", 1),
    "InDerived": (1, "static Held.derived -> Held$Derived.high", 1),
    "InWeak": (1, "static Held.deep[][]", 1),  # a weak reference is nearer
    "Window": (3, LISTENERS + " -> Held$Window$Pressed.this$0", 3),
}


@pytest.fixture
def held(workload, tmp_path):
    """held(jdk, *args, java=..., program="Held") starts the program; returns the process."""
    with waiting_programs(workload, tmp_path) as start:
        yield lambda jdk, *args, java=(), program="Held": start(jdk, program, *args, java=java)


def holders(locus, pid, pattern, *options):
    done = locus("holders", pid, "--class", pattern, "--max-pause=60s", "--format=json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(locus, pid):
    found = {c["class"]: c for pattern in ("Held$In?????*", "Held$In????", "Held$In???", "Held$W*")
             for c in holders(locus, pid, pattern)["classes"]}
    for name, (objects, chain, count) in HELD.items():
        c = found["Held$" + name]
        assert (c["objects"], c["looked_at"], c["chains"][0]) == (objects, min(objects, 16), {"objects": count, "chain": chain})
    assert [c["chain"] for c in found["Held$InTwo"]["chains"]] == ["static Held.some[]", "static Held.others -> " + MAP]


def check_dump(jdk, pid, path, *answers):
    """Each chain is in the heap dump, and leads to an object of the class. Returns how many have roots that a dump has."""
    subprocess.run([jdk.home / "bin/jcmd", str(pid), "GC.heap_dump", path], check=True, stdout=subprocess.DEVNULL)
    dump, known = HeapDump(path), 0
    for c in (c for answer in answers for c in answer["classes"]):
        if c["class"].startswith("Held"):
            assert c["objects"] == len(dump.of_class[c["class"]])
        for chain in c["chains"]:
            objects, rooted = dump.follow(chain["chain"])
            known += rooted
            assert objects & dump.of_class[c["class"]] or (c["class"] == "java.lang.Class" and objects & dump.classes.keys()), chain
    return known


@pytest.mark.parametrize("gc", (*COLLECTORS, "Z"))
def test_holders_are_those_of_the_program(locus, held, tmp_path, jdk, gc):
    """Whether the JVM was ever recorded, is recorded, or was so."""
    p = held(jdk, java=["-Xcheck:jni", *collector(gc)])
    check(locus, p.pid)
    assert locus("attach", p.pid, "-o", tmp_path / "p").returncode == 0
    whole = holders(locus, p.pid, "*")
    assert locus("detach", p.pid).returncode == 0
    check(locus, p.pid)
    assert whole["stopped_by"] is None and whole["objects"] > 5000 and len(whole["classes"]) == 10
    assert [c["bytes"] for c in whole["classes"]] == sorted((c["bytes"] for c in whole["classes"]), reverse=True)
    text = locus("holders", "--max-pause=60s", "-c", "Held$InTwo", p.pid).stdout.splitlines()
    assert text[0].startswith("looked at ") and text[2:] == [
        "Held$InTwo: 16 live objects (256 B); chains to 16 of them", "  12  static Held.some[]",
        "   4  static Held.others -> " + MAP]
    part = locus("holders", p.pid, "--max-pause=1ms")
    # It looked at a part, or the estimate was too long to begin.
    assert "add --max-pause=" in (part.stdout if part.returncode == 0 else part.stderr), (part.stdout, part.stderr)
    if (jdk.home / "bin/jcmd").exists():
        assert check_dump(jdk, p.pid, tmp_path / "h", holders(locus, p.pid, "Held$*")) >= 10
    none = locus("holders", p.pid, "--max-pause=60s", "-c", "no.such.Class")
    assert none.returncode == 1 and "'no.such.Class'" in none.stderr and not none.stdout
    out, err = p.communicate(timeout=300)
    assert (p.returncode, out) == (0, "") and "JNI" not in err


@pytest.mark.parametrize("gc", (*COLLECTORS, "Z"))
@pytest.mark.parametrize("runtime", [21, 25], indirect=True)
def test_virtual_threads_hold_their_local_variables(locus, held, runtime, gc):
    """The JVM reads the continuation of each that it visits, and one whose constructor still runs has none."""
    p = held(runtime, program="HeldVirtual", java=collector(gc))
    for _ in range(5):
        found = {c["class"]: c for c in holders(locus, p.pid, "HeldVirtual$*")["classes"]}
        assert found["HeldVirtual$Kept"]["chains"] == [{"objects": 1, "chain": "static HeldVirtual.kept"}]
        assert (found["HeldVirtual$Alone"]["objects"], found["HeldVirtual$InLocal"]["objects"]) == (300, 300)
        chains = {name: found["HeldVirtual$" + name]["chains"][0] for name in ("Alone", "InLocal")}
        assert [c["chain"] for c in chains.values()] == ["virtual thread, local variable of HeldVirtual.hold", VIRTUAL_LOCAL]
        assert min(c["objects"] for c in chains.values()) >= 13  # some wait in Object.wait(), mounted with JDK 21
    assert p.communicate(timeout=300)[0] == "" and p.returncode == 0


def test_wrong_command_lines_are_refused(locus):
    for args, words in ((["x"], "'x' is not a process ID"), ([], "one JVM"), ([1, "-c", ""], "--class"), ([1, "--max-pause=0ms"], "--max-pause"),
                        ([1, "--max-pause=2h"], "--max-pause"), ([1, "-f", "xml"], "--format"), ([1, "--max-memory=1k"], "max-memory")):
        done = locus("holders", *args)
        assert done.returncode == 2 and words in done.stderr, (args, done.stderr)


@pytest.mark.slow
def test_a_walk_ends_where_its_memory_does(locus, held, jdk):
    p = held(jdk, 1_500_000)
    part = holders(locus, p.pid, "*", "--max-memory=32m")
    assert part["stopped_by"] == "--max-memory" and part["objects"] < (32 << 20) / 16
    whole = holders(locus, p.pid, "*", "--max-memory=256m")
    assert whole["stopped_by"] is None and whole["objects"] > 1_500_000


@pytest.mark.slow
@pytest.mark.parametrize("gc", (*COLLECTORS, "Z"))
def test_chains_are_those_of_a_heap_dump(locus, held, tmp_path, jdk, gc):
    """The holders of the classes with most bytes, and of all classes of the JDK."""
    if not (jdk.home / "bin/jcmd").exists():
        pytest.skip("no jcmd")
    p = held(jdk, 20_000, java=collector(gc))
    patterns = ("*", "java.util.*", "java.lang.*", "jdk.*", "Held*")
    assert check_dump(jdk, p.pid, tmp_path / "h", *(holders(locus, p.pid, pattern) for pattern in patterns)) > 50


@pytest.mark.slow
def test_walks_exclude_each_other_and_an_exit_meanwhile_is_survived(locus, held, tmp_path, jdk):
    """A walk that does not begin is refused: another one goes on, or the JVM ends."""
    p = held(jdk, 1_000_000)
    line = [str(BUILD / "locus"), "holders", str(p.pid), "--max-pause=600s"]
    walks = [subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    answers = [walk.communicate(timeout=300) for walk in walks]
    assert any(walk.returncode == 0 for walk in walks)
    for out, err in answers:
        assert out.startswith("looked at ") if out else err == "locus: Locus is busy with another request\n"
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as last:
        time.sleep(0.3)
        p.communicate(timeout=300)
        out, err = last.communicate(timeout=300)
    assert p.returncode == 0 and not list(tmp_path.glob("hs_err*"))
    assert out.startswith("looked at ") if out else "has ended" in err or "is ending" in err
