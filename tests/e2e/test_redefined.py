# SPDX-License-Identifier: Apache-2.0
"""Lines when a class is redefined while it runs: each version's own, to the last allocation, and never another's."""

import collections
import pathlib
import subprocess

import pytest
from conftest import Profile, run_command
from helpers import by_hand, command, complaints, counters, each_value, execute, report

MORE = 40  # lines
# Their contents: nothing, so that the bytecode is the same and the JVM keeps calling it by one name; or code.
VERSIONS = {"moved": "\n", "longer": "\t\tsum++;\n"}
MARKS = ("loop", "make", "stay", "keep")
SOURCE = pathlib.Path(__file__).parent.parent / "workloads" / "Redefined.java"


def line_of(mark):
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.endswith("// " + mark))


LINE = {mark: line_of(mark) for mark in MARKS}


@pytest.fixture
def swapped(shared):
    """The class file of another version of class Swapped."""

    def build(jdk, version):
        def make(directory):
            text = SOURCE.read_text(encoding="utf-8").replace("return 1;", "return 2;")
            more = text.replace("\t\t// more lines\n", VERSIONS[version] * MORE + "\t\t// more lines\n")
            (directory / "Redefined.java").write_text(more, encoding="utf-8")
            compiled = run_command([jdk.javac, "-g", "-d", directory, directory / "Redefined.java"])
            assert compiled.returncode == 0, compiled.stderr

        return shared("swapped-%d-%s" % (jdk.major, version), make) / "Swapped.class"

    return build


@pytest.fixture
def agent(workload, shared):
    """A jar with the program as a Java agent."""

    def build(jdk):
        def make(directory):
            (directory / "manifest").write_text("Premain-Class: Redefined\nCan-Redefine-Classes: true\n")
            own = ["-C", workload(jdk, "Redefined"), "Redefined.class"]
            jar = [jdk.home / "bin" / "jar", "cfm", directory / "agent.jar", directory / "manifest", *own]
            assert run_command(jar).returncode == 0

        return shared("redefined-%d" % jdk.major, make) / "agent.jar"

    return build


def samples_by_line(r):
    """The samples of class Swapped by method and line, whatever was touched."""
    lines = collections.Counter()
    paths = [a for site in r["sites"] for a in site["accesses"]]
    paths += [a for c in r["classes"] for a in c.get("accesses", [])] + r["other_accesses"]
    for access in paths:
        if access["path"] and access["path"][0]["class"] == "Swapped":
            lines[access["path"][0]["method"], access["path"][0]["line"]] += access["samples"]
    return lines


def allocations_by_line(r):
    lines = collections.Counter()
    for site in r["sites"]:
        for frame in site["allocation_path"][:1]:
            if frame["class"] == "Swapped":
                lines[frame["line"]] += site["allocations"]
    return lines


def assert_lines_are_right(r, printed, slack):
    first, second, old, first_us, second_us = map(int, printed.splitlines()[-1].split())
    made = allocations_by_line(r)
    assert set(made) == {LINE["make"], LINE["make"] + MORE, LINE["keep"]}, made
    assert made[LINE["keep"]] == old
    assert made[LINE["make"]] + made[LINE["make"] + MORE] == first + second
    assert abs(made[LINE["make"]] - first) <= slack, (made, printed)
    samples = samples_by_line(r)
    in_loop = {line: n for (method, line), n in samples.items() if method == "loop"}
    before = sum(n for line, n in in_loop.items() if 0 <= LINE["loop"] - line < 3)
    after = sum(n for line, n in in_loop.items() if 0 <= LINE["loop"] + MORE - line < 3)
    # It has the other lines before the loop, too, and none where it is not known which version a frame was in.
    assert all(line == -1 or LINE["loop"] - 5 < line <= LINE["loop"] + MORE for line in in_loop), in_loop
    assert in_loop.get(-1, 0) <= 0.05 * (before + after), in_loop
    assert before + after >= 50, samples
    # Each sample is in the version that ran: as the CPU time was, but for the error of so few samples.
    assert abs(before / (before + after) - first_us / (first_us + second_us)) < 0.25, (in_loop, printed)
    stays = {line for (method, line), n in samples.items() if method == "stay"}
    assert stays and max(stays) <= LINE["keep"], samples
    nameless = [f for s in r["sites"] for f in s["allocation_path"] if f["class"] == "[unloaded class]"]
    assert not nameless


@each_value(jdk=[17, 25], version=VERSIONS, gc=["Serial", "G1"])
def test_an_agent_redefines_a_class(workload, jdk, tmp_path, swapped, agent, version, gc):
    java = ["-javaagent:%s" % agent(jdk), "-XX:+Use%sGC" % gc]
    line = command(workload, jdk, "Redefined", swapped(jdk, version), 600, java=java)
    run = execute(by_hand(line, tmp_path / "prof", "interval=1ms", "audit=on"))
    assert (run.returncode, complaints(run.stderr)) == (0, []), run.stderr
    profile = Profile(run, tmp_path / "prof")
    assert_lines_are_right(report(profile), run.stdout.decode(), 0)
    c = counters(profile)
    assert c["class_disagreements"] == 0
    # The JVM walks to the same frames, of old versions too.
    assert c["audit_own_walk_agreed"] > 0 and c["audit_own_walk_differs"] == 0


@each_value(jdk=[17, 25], version=VERSIONS)
def test_a_debugger_redefines_a_class(workload, jdk, tmp_path, shared, swapped, version):
    """The second version's first allocation may be counted by the program as the first version's."""

    def make(directory):
        source = SOURCE.parent.parent / "tools" / "HotSwap.java"
        compiled = run_command([jdk.javac, "-d", directory, source])
        assert compiled.returncode == 0, compiled.stderr

    client = shared("hot-swap-%d" % jdk.major, make)
    port = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"
    line = command(workload, jdk, "Redefined", "-", 600, java=[port])
    hand = [str(word) for word in by_hand(line, tmp_path / "prof", "interval=1ms")]
    process = subprocess.Popen(hand, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # "Listening for transport dt_socket at address: 12345" and "ready", whichever comes first.
        said = sorted(next(process.stdout) for _ in range(2))
        assert said[1] == "ready\n", said
        listening = said[0]
        swap = ["HotSwap", listening.split()[-1], "Swapped", swapped(jdk, version), "1"]
        told = run_command([jdk.java, "-cp", client, *swap], timeout=300)
        assert told.stdout == "1\n", told.stdout + told.stderr
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert (process.returncode, complaints(err)) == (0, []), err
    profile = Profile(subprocess.CompletedProcess(hand, 0, out, err), tmp_path / "prof")
    assert_lines_are_right(report(profile), out, 1)
