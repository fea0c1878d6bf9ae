# SPDX-License-Identifier: Apache-2.0
"""Hard programs for a profiler: classes that come and go, code that is thrown away, children, depth. Nothing is lost unsaid."""

import re

import pytest
from conftest import Profile
from helpers import (
    allocations,
    by_hand,
    command,
    complaints,
    counters,
    each_value,
    execute,
    maven,
    native_library,
    report,
    sites_through,
)

# MODE: (times, JVM options)
STORMS = {
    "classes": (400, ()),
    "deoptimise": (300, ("-Xbatch",)),  # so that the code is there when it turns out wrong
    "compile": (600, ("-XX:ReservedCodeCacheSize=2500k",)),
    "humongous": (200, ("-Xmx256m", "-Xms256m")),
    "collect": (300, ("-Xmx64m",)),
    "children": (60, ()),
    "deep": (20, ()),
    "threads": (2000, ("-Xss256k",)),
}
# MODE: (JVM options for a log, what stands in it, how often at least, by times). That the JVM did what the mode is for.
SHOWN = {
    "classes": (["-Xlog:class+unload=info:file=%s"], r"unloading class Storm\$Victim", lambda times: times / 2),
    "deoptimise": (["-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-XX:LogFile=%s"], "<uncommon_trap thread=",
                   lambda times: times / 10),
    # Parallel logs both halves of one System.gc() with JDK 17.
    "collect": (["-Xlog:gc:file=%s"], r"Pause (?:Young(?! \(System)|Full)", lambda times: 3),
    "compile": (["-Xlog:codecache*=debug:file=%s"], "CodeCache flushing|Flushing nmethod", lambda times: 1),
}
# Missing paths must be in one of them, and be told.
LOST = ("alloc_records_lost", "paths_overflow", "gc_incomplete", "gc_moves_lost")


def assert_nothing_lost(bare, run, directory, method, made):
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout), run.stderr
    assert complaints(run.stderr) == []
    profile = Profile(run, directory)
    c = counters(profile)
    r = report(profile)
    assert allocations(sites_through(r, method)) == made
    assert c["class_disagreements"] == 0
    assert {name: c[name] for name in LOST} == dict.fromkeys(LOST, 0)
    assert r["samples"]["lost"] == 0, r["samples"]
    return r, c


@each_value(jdk=[17, 25], gc=["Serial", "Parallel", "G1"], mode=STORMS)
def test_storm(workload, jdk, tmp_path, gc, mode):
    times, java = STORMS[mode]
    options, shown, least = SHOWN.get(mode, ([], "", lambda times: 0))
    java = [*java, *(option.replace("%s", str(tmp_path / "log")) for option in options)]
    line = command(workload, jdk, "Storm", mode, times, java=["-XX:+Use%sGC" % gc, *java])
    bare = execute(line)
    assert bare.returncode == 3, bare.stderr
    (tmp_path / "log").unlink(missing_ok=True)
    run = execute(by_hand(line, tmp_path / "prof", "interval=1ms"))
    if options:
        assert len(re.findall(shown, (tmp_path / "log").read_text(errors="replace"))) >= least(times)
    r, c = assert_nothing_lost(bare, run, tmp_path / "prof", "stormAllocate", 10 * times)
    if mode == "classes":
        assert allocations(sites_through(r, "call", "Storm$Victim")) == 10 * times
    if mode == "humongous":
        assert allocations(sites_through(r, "humongous", "Storm")) == 11 * times
    if mode == "collect":
        assert c["gc_collections"] == len(re.findall(shown, (tmp_path / "log").read_text()))


@each_value(jdk=[17, 25], gc=["Serial", "G1"])
def test_class_redefined_while_it_runs(workload, jdk, tmp_path, gc):
    """An agent that attaches itself late, as Mockito's inline mocks do, redefines a class that allocates."""
    jars = [maven("net.bytebuddy:byte-buddy-agent:1.17.7")]
    java = ["-XX:+Use%sGC" % gc, "-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading"]
    line = command(workload, jdk, "Storm", "redefine", 60, java=java, jars=jars)
    bare = execute(line)
    assert bare.returncode == 3, bare.stderr
    run = execute(by_hand(line, tmp_path / "prof", "interval=1ms"))
    r, _ = assert_nothing_lost(bare, run, tmp_path / "prof", "stormAllocate", 600)
    assert allocations(sites_through(r, "call", "Storm$Victim")) > 0


@each_value(jdk=[17, 25], gc=["Serial", "Parallel", "G1"])
def test_children_of_native_code_and_critical_sections(workload, jdk, tmp_path, gc):
    """By fork, vfork and posix_spawn: a timer or a handler that a child inherited would end it otherwise."""
    library = native_library(jdk, "child", tmp_path)
    if not library:
        pytest.skip("no C compiler on this machine")
    line = command(workload, jdk, "Children", library, 60, java=["-XX:+Use%sGC" % gc, "-Xmx64m"])
    bare = execute(line)
    assert bare.returncode == 3 and bare.stdout.startswith(b"180 "), (bare.stdout, bare.stderr)
    run = execute(by_hand(line, tmp_path / "prof", "interval=1ms"))
    assert_nothing_lost(bare, run, tmp_path / "prof", "childAllocate", 600)
