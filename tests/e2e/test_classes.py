# SPDX-License-Identifier: Apache-2.0
"""Objects that nobody tracked have their class: the right one, whatever the JVM's pointers look like."""

import pytest
from conftest import JDK_MAJORS, jdk_of
from helpers import (
    COLLECTORS,
    EACH_TICK,
    TIERS,
    check_agreement,
    check_explained,
    collector,
    command,
    complaints,
    counters,
    each_value,
    has_frame,
    is_part_of,
    report,
    table,
    truth,
)

CLASS = "KnownClasses"
ALL_COLLECTORS = (*COLLECTORS, "Z", "Shenandoah")
RIGHT = 0.97

# How class words and references look; None: any JDK.
LAYOUTS = {
    "narrow": (None, []),
    "wide-classes": (None, ["-XX:-UseCompressedClassPointers"]),
    "wide-references": (None, ["-XX:-UseCompressedOops"]),
    "wide": (None, ["-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"]),
    "scaled": (None, ["-Xmx6g"]),
    "based": (None, ["-XX:HeapBaseMinAddress=40g"]),
    "aligned": (None, ["-XX:ObjectAlignmentInBytes=16"]),
    "compact": (25, ["-XX:+UseCompactObjectHeaders"]),
    "compact-wide": (25, ["-XX:+UseCompactObjectHeaders", "-XX:-UseCompressedOops"]),
}


def in_phase(access, phase):
    return has_frame(access["path"], phase, CLASS)


def by_phase(r, told):
    """Samples per phase and class of what it read; "" is the heap, class unknown."""
    found = {phase: {} for phase in told}
    rows = [(s["class"], a) for s in r["classes"] + r["sites"] for a in s["accesses"]]
    rows += [("", a) for a in r["other_accesses"] if a["bucket"] == "heap_unknown"]
    for name, access in rows:
        for phase in told:
            if in_phase(access, phase):
                found[phase][name] = found[phase].get(name, 0) + access["samples"]
    return found


def check_classes(r, told, least=40):
    """At least RIGHT of the heap samples, of each phase and of all, are of its classes, and none of an impossible one."""
    rows, bad = [], []
    unknown = heap = 0
    for phase, found in by_phase(r, told).items():
        total = sum(found.values())
        mostly = sum(found.get(c, 0) for c in told[phase]["mostly"])
        also = sum(found.get(c, 0) for c in told[phase]["also"])
        # The JVM itself reads the array of what a class's constants are, on the thread that meets a new one.
        constants = 0 if "java.lang.Object[]" in told[phase]["also"] else min(1, found.get("java.lang.Object[]", 0))
        wrong = total - mostly - also - constants - found.get("", 0)
        rows.append((phase, total, mostly, also, found.get("", 0), wrong, found))
        unknown, heap = unknown + total - mostly - also, heap + total
        if total < least or wrong or not is_part_of(r, total - mostly - also, total, 1 - RIGHT) or 2 * mostly < total:
            bad.append(phase)
        missed = [c for c in told[phase]["mostly"] if not found.get(c)]
        if missed and phase != "map":  # its values are a small part
            bad.append("%s: no %s" % (phase, missed))
    if not is_part_of(r, unknown, heap, 1 - RIGHT):
        bad.append("all")
    assert not bad, "%s\n%s" % (
        bad,
        table(("phase", "heap", "mostly", "also", "unknown", "wrong", "found"), rows),
    )


def known_classes(workload, profile, jdk, seconds, java, *options):
    run = profile(command(workload, jdk, CLASS, seconds, java=["-Xmx512m", *java]), *EACH_TICK, *options)
    return run, truth(run), report(run)


@pytest.mark.few(1)
@each_value(jdk=JDK_MAJORS, gc=ALL_COLLECTORS)
def test_classes_of_untracked_objects_are_right(workload, profile, jdk, gc):
    run, told, r = known_classes(workload, profile, jdk, 1.5, collector(gc))
    assert set(told) == {"list", "tree", "map", "strings", "integers"}
    check_classes(r, told, 150)
    check_explained(r)
    check_agreement(run)
    assert counters(run)["classes_unnamed"] == 0
    assert complaints(run.stderr) == []


# The narrow one is there with each collector already.
@pytest.mark.few(2)
@each_value(lambda jdk, layout: LAYOUTS[layout][0] in (None, jdk), jdk=JDK_MAJORS, layout=[layout for layout in LAYOUTS if layout != "narrow"])
def test_classes_are_right_for_every_layout_of_headers(workload, profile, jdk, layout):
    _, flags = LAYOUTS[layout]
    run, told, r = known_classes(workload, profile, jdk, 0.5, ["-XX:+UseSerialGC", *flags])
    assert [line for line in complaints(run.stderr) if "locus" in line] == []
    check_classes(r, told)
    check_agreement(run)


@pytest.mark.slow
@pytest.mark.parametrize("gc", ALL_COLLECTORS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_classes_are_right_for_long(workload, profile, jdk, layout, gc):
    major, flags = LAYOUTS[layout]
    if major not in (None, jdk.major):
        pytest.skip("no such layout in JDK %d" % jdk.major)
    run, told, r = known_classes(workload, profile, jdk, 6, [*collector(gc), *flags])
    check_classes(r, told, 600)
    check_explained(r)
    check_agreement(run)


@pytest.mark.slow
def test_map_and_headers_agree_on_every_object(workload, profile, jdk):
    """Everything is tracked: each sample of an object tests the map by the object's own header."""
    run, told, r = known_classes(workload, profile, jdk, 0.8, [], "--min-size=0")
    check_classes(r, told)
    check_agreement(run, 40)


@pytest.mark.parametrize("jdk_flags", ([], ["-XX:TieredStopAtLevel=1"]), ids=("tiered", "C1"))
def test_classes_of_objects_in_the_making_are_right(workload, profile, jdk, jdk_flags):
    """A new object's memory still holds the headers of what was there before: none of them counts."""
    run = profile(command(workload, jdk, "FreshObjects", 3, java=["-Xmx256m", *jdk_flags]), *EACH_TICK)
    told, r = truth(run), report(run)
    found = {}
    for s in r["classes"]:
        for a in s["accesses"]:
            for phase, names in told.items():
                if has_frame(a["path"], phase, "FreshObjects"):
                    found.setdefault(phase, {}).setdefault(s["class"], 0)
                    found[phase][s["class"]] += a["samples"]
    check_explained(r)
    for phase, names in told.items():
        classes = found.get(phase, {})
        assert set(classes) <= set(names), (phase, classes, names)
        assert sum(classes.values()) >= 10, (phase, classes, r["samples"])


def test_name_of_an_unloaded_class_is_not_the_next_ones(workload, profile, jdk):
    """Classes come and go at the same addresses; each name that is reported was that of its samples."""
    run = profile(
        command(workload, jdk, "ClassTurnover", 4, java=["-Xmx128m", "-XX:MaxMetaspaceSize=48m"]),
        "--interval=4ms",
    )
    told, r = truth(run), report(run)
    assert told["loaded"] >= 20 and told["unloaded"] > 0, told
    assert counters(run)["code_freed"] > 0, counters(run)  # compiled methods go with their classes
    generations = 0
    for s in r["classes"]:
        if not s["class"].startswith("Generation"):
            continue
        generations += 1
        for a in s["accesses"]:  # GenerationN is read by GenerationN.walk() alone
            walkers = {f["class"] for f in a["path"] if f["method"] == "walk"}
            assert walkers <= {s["class"]}, (s["class"], a)
    assert generations >= 10, [s["class"] for s in r["classes"]]
    # A Klass * is soon another class's, of larger objects or smaller ones.
    assert r["samples"]["heap_unknown"] < 0.03 * r["samples"]["total"], r["samples"]
    check_agreement(run, 0)


@pytest.mark.parametrize("tier", ("tiered", "C1"))
def test_contents_of_arrays_are_no_headers(workload, profile, tier):
    """With compact headers two ints are often like the header of an object; the map knows the array."""
    jdk = jdk_of(25)
    java = ["-Xmx256m", "-XX:+UseCompactObjectHeaders", *TIERS[tier]]
    run = profile(command(workload, jdk, "IntContents", 3000, java=java), "--interval=2ms")
    r = report(run)
    found = {}
    for s in r["classes"] + r["sites"]:
        for a in s["accesses"]:
            if a["path"] and a["path"][0]["class"] == "IntContents" and a["path"][0]["method"] != "main":
                found[s["class"]] = found.get(s["class"], 0) + a["samples"]
    assert set(found) == {"int[]"}, found
    assert found["int[]"] >= 200, r["samples"]
    check_agreement(run, 100)
