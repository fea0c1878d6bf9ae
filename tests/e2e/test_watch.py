# SPDX-License-Identifier: Apache-2.0
"""-e watch: accesses to one place of one object are counted exactly, while it moves."""

import pytest
from conftest import JDK_MAJORS
from helpers import COLLECTORS, TIERS, collector, command, complaints, counters, each_pair, each_value, hits

NEEDS = "breakpoint events cannot be opened here"


def watch_in(program, events, profile, gc="G1", java=(), options=()):
    """Run a program, given as a function that makes its command from JVM options."""
    asked = [word for event in events for word in ("-e", "watch:" + event)]
    run = profile(program(["-Xmx64m", *collector(gc), *java]), *asked, *options)
    if any("the timer samples instead" in c or "cannot sample" in c for c in complaints(run.stderr)):
        pytest.skip("%s: %s" % (NEEDS, complaints(run.stderr)))
    return run


def watch(workload, profile, jdk, *events, writes=100000, reads=0, **how):
    def program(flags):
        return command(workload, jdk, "Watch", writes, reads, java=flags)

    return watch_in(program, events, profile, options=["--min-size=64"], **how)


def watch_small(workload, profile, jdk, mode, times, *events, **how):
    def program(flags):
        return command(workload, jdk, "WatchSmall", mode, times, java=flags)

    return watch_in(program, events, profile, **how)


def fields(r, cls):
    return [f for s in r["sites"] if s["class"] == cls for f in s.get("fields", [])]


def check_element(run, count, period=101):
    """All were counted, and each sample is one of that element, at a path through the program."""
    c, r = counters(run), run.report()
    assert hits(c) == count, c
    assert c["engine_watch_found"] == 1
    # Every thread has a remainder of its own.
    assert count // period - 2 - c["engine_traps_causeless"] <= c["engine_watch_samples"] <= count // period
    assert c["engine_watch_lost"] == 0 and c.get("engine_watch_throttled", 0) == 0, c
    assert r["samples"]["object"] == r["samples"]["total"] == c["engine_watch_samples"]
    found = fields(r, "float[]")
    assert [(f["name"], f["first"], f["last"]) for f in found] == [("", 7, 7)], found
    assert found[0]["samples"] == c["engine_watch_samples"]
    return c, found[0]


def test_an_element_written_many_times_is_counted_exactly(workload, profile, jdk):
    run = watch(workload, profile, jdk, "float[]#1[7]:w", writes=250000)
    c, field = check_element(run, 250000)
    assert c["engine_watch_moved"] >= 1, "no collection moved it: %s" % c
    assert field["stores"] == field["samples"] and field["loads"] == 0
    assert not complaints(run.stderr)


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
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
    assert c.get("engine_watch_2_counted", 0) == 0 and c["engine_watch_2_found"] == 1
    assert hits(c, "3_") == 8000 and c["engine_watch_counted"] <= 6000 and c["engine_watch_3_counted"] <= 2000, c
    assert {(f["name"], f["samples"]) for f in fields(r, "Watch$Record")} == {
        ("count", c["engine_watch_samples"])
    }


@pytest.mark.parametrize(
    "options, times", [((), 250000), (("--min-size=0",), 200000)], ids=["default", "min-size-0"]
)
def test_a_field_of_a_small_object_is_counted_exactly(workload, profile, jdk, options, times):
    """The second object of the class, touched at the same time, is told from the first."""
    first, second = "WatchSmall$Counter#1.value:w", "WatchSmall$Counter#2.value:w@1"
    run = watch_small(workload, profile, jdk, "count", times, first, second, options=options)
    c = counters(run)
    assert hits(c, "2_") == times + 3 and c["engine_watch_counted"] <= times and c["engine_watch_2_counted"] <= 3, c
    assert (c["engine_watch_objects_seen"], c["engine_watch_2_objects_seen"]) == (1, 2), c
    assert c["engine_watch_moved"] >= 1 and c["engine_watch_2_moved"] >= 1, c
    assert not complaints(run.stderr)


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_a_small_object_is_followed_by_each_collector(workload, profile, jdk, gc):
    """Its samples are in a tracked object, at its line, whatever collections there are."""
    run = watch_small(workload, profile, jdk, "count", 20000, "WatchSmall$Counter#1.value:w", gc=gc)
    c, r = counters(run), run.report()
    assert hits(c) == 20000 and c["engine_watch_moved"] >= 1, c
    assert r["samples"]["object"] == r["samples"]["total"] == c["engine_watch_samples"], r["samples"]
    sites = [s for s in r["sites"] if s["class"] == "WatchSmall$Counter"]
    assert len(sites) == 1 and sites[0]["allocation_path"][0]["method"] == "count", sites
    assert [(f["name"], f["stores"]) for f in sites[0]["fields"]] == [("value", c["engine_watch_samples"])]


# The objects of a round of the workload, in each of its three threads. The JDK makes some more of its own
# classes at most.
OBJECTS = {"WatchSmall$Counter": 4, "WatchSmall$Fails": 1.5, "WatchSmall$Large": 1, "java.lang.Double": 1}
ARRAYS = {"WatchSmall$Counter[]": 10, "WatchSmall$Counter[][]": 1, "short[]": 4, "java.lang.String": 1}
OF_THE_JDK = {"java.lang.Double": 10, "short[]": 10, "java.lang.String": 1000}


MADE = {"objects": OBJECTS, "arrays": ARRAYS}


@each_pair(jdk=JDK_MAJORS, kind=list(MADE), tier=list(TIERS), options=[(), ("--min-size=0",)])
def test_objects_of_any_size_are_numbered_without_a_gap(workload, profile, jdk, kind, tier, options):
    """Constructed, reflected, cloned, copied, by three threads at once; and no subclass's."""
    made = MADE[kind]
    rounds = 1000 if tier == "interpreted" else 20000
    events = [name + "#1000000000" for name in made]
    how = {"java": TIERS[tier], "options": options}
    c = counters(watch_small(workload, profile, jdk, "make", rounds, *events, **how))
    for i, (name, each) in enumerate(made.items(), 1):
        seen = c["engine_watch_%sobjects_seen" % ("%d_" % i if i > 1 else "")]
        more = seen - 3 * each * rounds
        assert 0 <= more <= OF_THE_JDK.get(name, 0), (name, seen, 3 * each * rounds)


def test_reads_of_a_boxed_number_are_counted(workload, profile, jdk):
    run = watch_small(workload, profile, jdk, "read", 20000, "java.lang.Float#1.value", java=["-Xint"])
    c = counters(run)
    assert (c["engine_watch_objects_seen"], hits(c)) == (1, 20000), c


@pytest.mark.parametrize(
    "event", ["java.lang.String#3.hash", "java.util.ArrayList#1.size", "java.lang.Object#1", "byte[]#1[0]"]
)
def test_classes_loaded_before_the_agent_are_watched_as_well(workload, profile, jdk, event):
    run = watch_small(workload, profile, jdk, "count", 100, event)
    assert counters(run)["engine_watch_found"] == 1
    assert not complaints(run.stderr)


def test_a_dead_object_is_not_watched_any_longer(workload, profile, jdk):
    """An object at its address later is another one."""
    run = watch(workload, profile, jdk, "byte[][]#2[3]:w@1", gc="Serial", writes=0)
    c = counters(run)
    assert c["engine_watch_died"] == 1
    assert c["engine_watch_counted"] == c["engine_watch_samples"] == 1


@pytest.mark.parametrize(
    "event, told",
    [
        ("Watch$Recrod#1.count", "no such class was loaded; did you mean 'Watch$Record'?"),
        ("Watch$Record#6.count", "object #6 of Watch$Record never appeared: 5 were allocated"),
        ("no.such.Thing#1", "no object of no.such.Thing appeared: no such class was loaded"),
        ("java.util.AbstractList#1", "no object of java.util.AbstractList appeared, though"),
    ],
)
def test_an_object_that_never_appears_is_told_at_the_end(workload, profile, jdk17, event, told):
    run = watch(workload, profile, jdk17, event, writes=0)
    lines = [c for c in complaints(run.stderr) if told in c]
    assert len(lines) == 1 and len(complaints(run.stderr)) == 1, run.stderr
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
