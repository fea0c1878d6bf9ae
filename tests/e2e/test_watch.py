"""-e watch: accesses to one place of one object are counted exactly, while it moves."""

import pytest
from helpers import COLLECTORS, collector, command, complaints, counters

NEEDS = "breakpoint events cannot be opened here"


def watch(workload, profile, jdk, *events, gc="G1", writes=100000, reads=0, java=(), options=()):
    flags = ["-Xmx64m", *collector(gc), *java]
    asked = [word for event in events for word in ("-e", "watch:" + event)]
    line = command(workload, jdk, "Watch", writes, reads, java=flags)
    run = profile(line, "--min-size=64", *asked, *options)
    if any("the timer samples instead" in c or "cannot sample" in c for c in complaints(run.stderr)):
        pytest.skip("%s: %s" % (NEEDS, complaints(run.stderr)))
    return run


def fields(r, cls):
    return [f for s in r["sites"] if s["class"] == cls for f in s.get("fields", [])]


def check_element(run, count, period=101):
    """All were counted, and each sample is one of that element, at a path through the program."""
    c, r = counters(run), run.report()
    assert c["engine_watch_counted"] == count
    assert c["engine_watch_found"] == 1
    # Every thread has a remainder of its own.
    assert count // period - 2 <= c["engine_watch_samples"] <= count // period
    assert c["engine_watch_lost"] == 0 and c.get("engine_watch_throttled", 0) == 0, c
    assert r["samples"]["object"] == r["samples"]["total"] == c["engine_watch_samples"]
    found = fields(r, "float[]")
    assert [(f["name"], f["first"], f["last"]) for f in found] == [("", 7, 7)], found
    assert found[0]["samples"] == c["engine_watch_samples"]
    return c, found[0]


def test_an_element_written_a_million_times_is_counted_exactly(workload, profile, jdk):
    run = watch(workload, profile, jdk, "float[]#1[7]:w", writes=1000000)
    c, field = check_element(run, 1000000)
    assert c["engine_watch_moved"] >= 1, "no collection moved it: %s" % c
    assert field["stores"] == field["samples"] and field["loads"] == 0
    assert not complaints(run.stderr)


@pytest.mark.parametrize("gc", COLLECTORS)
def test_loads_are_counted_with_stores_and_told_apart(workload, profile, jdk, gc):
    run = watch(workload, profile, jdk, "float[]#1[7]:rw@101", gc=gc, writes=60000, reads=40000)
    c, field = check_element(run, 100000)
    assert c["engine_watch_moved"] >= 1
    told = field["loads"] + field["stores"]
    assert told >= 0.9 * field["samples"], field
    assert abs(field["loads"] / told - 0.4) <= 0.05, field


def test_interpreted_accesses_are_counted_as_well(workload, profile, jdk):
    run = watch(workload, profile, jdk, "float[]#1[7]:w@101", writes=20000, java=["-Xint"])
    check_element(run, 20000)


def test_a_field_of_the_nth_object_is_watched(workload, profile, jdk):
    """The fourth record is written 2 * 3000 times, the first one never; two watches side by side."""
    run = watch(
        workload,
        profile,
        jdk,
        "Watch$Record#4.count:w@10",
        "Watch$Record#1.count:w@10",
        "float[]#1[7]:w@1000",
        writes=2000,
    )
    c, r = counters(run), run.report("--engine=1")
    assert c["engine_watch_counted"] == 6000
    assert c.get("engine_watch_2_counted", 0) == 0 and c["engine_watch_2_found"] == 1
    assert c["engine_watch_3_counted"] == 2000
    assert {(f["name"], f["samples"]) for f in fields(r, "Watch$Record")} == {
        ("count", c["engine_watch_samples"])
    }


def test_a_dead_object_is_not_watched_any_longer(workload, profile, jdk):
    """What lies at its address later is somebody else's."""
    run = watch(workload, profile, jdk, "byte[][]#2[3]:w@1", gc="Serial", writes=0)
    c = counters(run)
    assert c["engine_watch_died"] == 1
    assert c["engine_watch_counted"] == c["engine_watch_samples"] == 1


@pytest.mark.parametrize(
    "event, told",
    [
        ("Watch$Recrod#1.count", "did you mean 'Watch$Record'?"),
        ("Watch$Record#6.count", "object #6 of Watch$Record never appeared: 5 were allocated"),
        ("no.such.Thing#1", "no object of no.such.Thing appeared"),
    ],
)
def test_an_object_that_never_appears_is_told_at_the_end(workload, profile, jdk17, event, told):
    run = watch(workload, profile, jdk17, event, writes=0)
    lines = [c for c in complaints(run.stderr) if told in c]
    assert len(lines) == 1 and len(complaints(run.stderr)) == 1, run.stderr
    assert "objects below --min-size=64 are not seen" in lines[0]
    assert counters(run)["engine_watch_found"] == 0


@pytest.mark.parametrize(
    "event, told",
    [
        ("Watch$Record#2.cuont", "Watch$Record has no field 'cuont'; did you mean 'count'?"),
        ("float[]#1[16]", "the array has no element 16"),
        ("float[]#1+80", "the object has only 80 bytes"),
    ],
)
def test_a_place_that_is_not_there_is_refused(workload, profile, jdk17, event, told):
    run = watch(workload, profile, jdk17, event, writes=0)
    assert [c for c in complaints(run.stderr) if told in c], run.stderr
    assert len(complaints(run.stderr)) == 1, run.stderr
    assert counters(run)["engine_watch_found"] == 0
