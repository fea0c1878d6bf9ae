# SPDX-License-Identifier: Apache-2.0
"""Recorded holders: which references hold the objects of a line, in a program that knows."""

import json
import signal
import subprocess

import pytest
from conftest import BUILD
from helpers import COLLECTORS, collector, command, complaints, waiting_programs

MAP = "static HeldLeak.cache -> java.util.HashMap.table[] -> java.util.HashMap$Node.value -> HeldLeak$Page.bytes"
LISTENERS = "static HeldLeak.button -> HeldLeak$Button.listeners -> java.util.concurrent.CopyOnWriteArrayList.array[] -> HeldLeak$$Lambda"
THREAD_LOCAL = ("thread -> java.lang.Thread.threadLocals -> java.lang.ThreadLocal$ThreadLocalMap.table[]"
                " -> java.lang.ThreadLocal$ThreadLocalMap$Entry.value -> java.util.ArrayList.elementData[]")
SMALL = "static HeldLeak.small -> java.util.ArrayList.elementData[]"
HELD = {"byte[]": MAP, "long[]": LISTENERS, "int[]": THREAD_LOCAL, "HeldLeak$Small": SMALL}
PAUSE = "--max-pause=60s"
# How the program ends, its exit status, and whether its main thread, which has a thread local, is still there.
ENDS = {"return": (0, False), "exit": (3, True), "halt": (4, True), "throw": (1, False)}


def held(locus, profile):
    """The chain that most of the objects of a class are held by, and of how many objects."""
    live = json.loads(locus("report", "--format=json", profile).stdout)["live"]
    return {line["class"]: line["holders"] for line in reversed(live["lines"]) if line.get("holders", {}).get("chains")}


def check(found, thread_lives=True):
    for name, chain in HELD.items():
        if thread_lives or name != "int[]":
            assert found[name]["chains"][0]["chain"].startswith(chain), (name, found[name])
            assert 10 <= found[name]["looked_at"] <= 16 and found[name]["chains"][0]["objects"] >= 10
    assert thread_lives or "int[]" not in found


def run_to_end(workload, profile, locus, jdk, gc, way):
    status, thread_lives = ENDS[way]
    p = profile(command(workload, jdk, "HeldLeak", way, java=["-Xmx256m", "-Xcheck:jni", *collector(gc)]), "--holders", PAUSE, check=False)
    assert (p.returncode, complaints(p.stderr)) == (status, []) and "JNI" not in p.stderr
    assert p.stdout == ("done\n" if way == "return" else "")
    check(held(locus, p.directory), thread_lives)


def test_the_end_of_a_recording_names_the_fields(workload, profile, locus, jdk):
    run_to_end(workload, profile, locus, jdk, "G1", "exit")


@pytest.fixture
def recorded(workload, tmp_path):
    """recorded(jdk, *java, options=...) starts the program, recorded into tmp_path / "p"; it waits for its input."""
    agent = "-agentpath:%s=output=%s" % (BUILD / "liblocus.so", tmp_path / "p")
    with waiting_programs(workload, tmp_path) as start:
        yield lambda jdk, *java, options="": start(jdk, "HeldLeak", "wait", java=[agent + options, *java])


def test_a_running_jvm_tells_the_holders_of_a_line(recorded, locus, tmp_path, jdk):
    p = recorded(jdk, "-Xcheck:jni")
    line = locus("holders", "--site=HeldLeak.fill:55", PAUSE, "--format=json", p.pid)
    first = json.loads(line.stdout)["classes"][0]
    assert first["class"] == "int[]" and first["allocated_at"] == "HeldLeak.fill:55" and first["known"] == 1600 and first["looked_at"] == 16
    assert first["chains"] == [{"objects": 16, "chain": THREAD_LOCAL}]
    metrics = locus("status", "--metrics", p.pid).stdout
    assert 'locus_live_objects{class="int[]",allocated_at="HeldLeak.fill:55",off_heap="false"} 1600\n' in metrics, metrics
    none = locus("holders", "--site=no.such.Frame", p.pid)
    assert none.returncode == 1 and "allocated at no.such.Frame" in none.stderr
    assert locus("dump", "--holders", PAUSE, p.pid).returncode == 0
    check(held(locus, tmp_path / "p"))
    assert locus("detach", "--holders", PAUSE, p.pid).returncode == 0
    check(held(locus, tmp_path / "p"))
    out, err = p.communicate(timeout=300)
    assert (p.returncode, out) == (0, "done\n") and "JNI" not in err and complaints(err) == []


def test_wrong_options_are_refused(locus):
    for args, words in ((["dump", "--max-pause=1s", 1], "holders"), (["holders", "--site=a", "--class=b", 1], "either"),
                        (["holders", "--site=", 1], "frames"), (["run", "--max-pause=1s", "true"], "holders"),
                        (["run", "--holders", "--no-hooks", "true"], "holders needs hooks")):
        done = locus(*args)
        assert done.returncode == 2 and words in done.stderr, (args, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("way", ENDS)
@pytest.mark.parametrize("gc", (*COLLECTORS, "Z"))
def test_each_end_of_a_program_has_holders(workload, profile, locus, jdk, gc, way):
    run_to_end(workload, profile, locus, jdk, gc, way)


@pytest.mark.slow
def test_a_signal_ends_the_program_after_the_walk(recorded, locus, tmp_path, jdk):
    p = recorded(jdk, "-Xcheck:jni", options=",holders,max-pause=60s")
    p.send_signal(signal.SIGTERM)
    assert p.wait(timeout=300) == 128 + signal.SIGTERM and complaints(p.stderr.read()) == []
    check(held(locus, tmp_path / "p"))


@pytest.mark.slow
def test_a_walk_that_may_take_too_long_leaves_a_whole_profile(recorded, locus, tmp_path, jdk):
    """JDK 17 does not begin it, and JDK 25 ends it at once; the program ends as always."""
    p = recorded(jdk, options=",holders,max-pause=1ms")
    out, err = p.communicate(timeout=300)
    assert (p.returncode, out) == (0, "done\n")
    assert "add --max-pause=" in err if jdk.major < 19 else "ended at --max-pause" in err, err
    told = json.loads(locus("report", "--format=json", tmp_path / "p").stdout)["processes"][0]["limits"]
    assert {limit["kind"] for limit in told} & {"holders", "holders_partial"}


@pytest.mark.slow
def test_an_exit_during_a_walk_is_survived(recorded, locus, tmp_path, jdk):
    """The program ends at different times of a dump's walk; the recording wants one at its end, too."""
    for i in range(10):
        p = recorded(jdk, options=",holders,max-pause=60s")
        with subprocess.Popen([BUILD / "locus", "dump", "--holders", PAUSE, str(p.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as dump:
            try:
                dump.wait(timeout=0.02 * i)
            except subprocess.TimeoutExpired:
                pass
            out, _ = p.communicate(timeout=300)
            dump.wait(timeout=300)
        assert (p.returncode, out) == (0, "done\n") and not list(tmp_path.glob("hs_err*"))
