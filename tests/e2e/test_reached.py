# SPDX-License-Identifier: Apache-2.0
"""References through which objects are reached, and reasons to read headers, of a program of which they are known."""

import re

import pytest
from conftest import JDK_MAJORS
from helpers import command, each_value, maven, truth

N = "Reached$"
# All references to objects of each class, but of those that have just been made.
WAYS = {
    N + "Node": {"Reached$Node.next", "Reached.head", "(new Reached$Node[])[]"},
    N + "Tree": {"Reached$Tree.left", "Reached$Tree.right", "Reached.root"},
    N + "Entry": {"Reached$Entry.next", "Reached.table[]"},
    N + "Holder": {"Reached.holders[]"},
    N + "Held": {"Reached$Holder.held"},
    N + "Each": {"java.util.ArrayList.elementData[]"},
    N + "Pair": {"Reached.pairs[]"},
    N + "Part": {"Reached$Pair.part"},
    N + "Giver": {"Reached.givers[]"},
    N + "Given": {"Reached$Giver.given"},
    N + "Lone": {"Reached.lone"},
    N + "Square": {"Reached.shapes[]"},
    N + "Circle": {"Reached.shapes[]"},
    N + "Line": {"Reached.shapes[]"},
    N + "Entry[]": {"Reached.table"},
    N + "Arg": {"Reached.args[]", "(new Reached$Arg[])[]"},
    N + "Arg[]": {"Reached.args", "new Reached$Arg[]"},
    N + "Key": {"Reached.keys[]", "java.util.HashMap$Node.key"},
    N + "Mapped": {"java.util.HashMap$Node.value", "java.util.Map.get()"},
    "long[]": {"Reached.grid[]"},
    "long[][]": {"Reached.grid"},
}
# Their headers are read to call them: they are no arrays, and nobody locks them.
CALLED = {N + "Square", N + "Circle", N + "Line"}

L = "ReachedLibraries$"
SCALA, KOTLIN = "scala.collection.immutable.", "kotlin.collections."
LIBRARIES = ("org.jetbrains.kotlin:kotlin-stdlib:1.9.24", "org.scala-lang:scala-library:2.13.14")
# Lists that are shuffled before they become a collection's.
SHUFFLED = {"java.util.ArrayList.elementData[]", "java.util.List.get()", "java.util.Iterator.next()"}


def in_vector(dimensions):
    """The arrays of a vector of four levels that have so many dimensions, or the elements (0)."""
    fields = {"Vector.prefix1": 1, "BigVector.suffix1": 1, "Vector4.data4": 4}
    fields.update(("Vector4.%s%d" % (name, n), n) for name in ("prefix", "suffix") for n in (2, 3))
    return {SCALA + name + "[]" * (n - dimensions) for name, n in fields.items() if n >= dimensions}


LIBRARY_WAYS = {
    L + "InList": {SCALA + "$colon$colon.head", SCALA + "List.head()"} | SHUFFLED,
    L + "InVector": in_vector(0) | {SCALA + "Vector.apply()"} | SHUFFLED,
    L + "InHashMap": {SCALA + "BitmapIndexedMapNode.content[]", SCALA + "MapNode.apply()"},
    L + "InDeque": {KOTLIN + "ArrayDeque.elementData[]"} | SHUFFLED,
    L + "InBuilder": {KOTLIN + "builders.MapBuilder.valuesArray[]", "java.util.Map.get()"},
    L + "InPair": {"kotlin.Pair.first"},
    L + "InSequence": SHUFFLED,
    # Arguments of calls whose callers are not known are parameters.
    L + "Key": {SCALA + "HashMap.apply(1)", SCALA + "BitmapIndexedMapNode.apply(1)"}
    | {SCALA + "BitmapIndexedMapNode.content[]", KOTLIN + "builders.MapBuilder.keysArray[]", "ReachedLibraries.keys[]"},
    SCALA + "$colon$colon": {SCALA + "$colon$colon.next", "ReachedLibraries.list", SCALA + "List.tail()"},
    "kotlin.Pair": {"ReachedLibraries.pairs[]"},
    "java.lang.Object[][][][]": in_vector(4),
    "java.lang.Object[][][]": in_vector(3),
    "java.lang.Object[][]": in_vector(2),
}


def through(row):
    return [(t["name"], t["kind"], t["samples"]) for t in row.get("reached", {}).get("through", [])]


def is_right(ways, cls, name):
    """All that a name offers is a way to the class; else the program has just made the object."""
    return set(name.split(" or ")) <= ways[cls] | {"new " + cls}


def first_references(text):
    """The first name of each line about references, and its share in percent, as the text says."""
    return [(m[1], int(m[2])) for m in re.finditer(r"^ +reached through (.+?) (\d+)%", text, re.M)]


def check_a_narrow_screen(run, locus):
    """A name that is too long has a gap, and keeps its own share."""
    shares = {}
    for row in run.report("--group=class")["ranking"]["rows"]:
        for name, _, samples in through(row):
            share = "%.0f" % (100 * samples / row["reached"]["samples"])
            shares.setdefault(int(share), set()).add(name)
    for columns in 44, 52, 60, 80:
        text = locus("report", "--group=class", run.directory, env={"COLUMNS": str(columns)}).stdout
        found = first_references(text)
        assert (found or columns < 80) and all(len(line) <= columns for line in text.splitlines() if "reached through" in line), text
        for name, share in found:
            ends = name.split("..")
            assert any(n.endswith(ends[-1]) and (len(ends) == 1 or ends[0] in n) for n in shares.get(share, ())), (name, share)


def check_references(run, ways, samples_min):
    """Nearly all samples of the classes have a reference, a right one. Returns their rows."""
    assert truth(run)["done"]
    rows = [row for row in run.report("--group=class", "--top=100")["ranking"]["rows"] if row["class"] in ways]
    samples = sum(row["reached"]["samples"] for row in rows if "reached" in row)
    known = [(row["class"], *way) for row in rows for way in through(row)]
    wrong = [way for way in known if not is_right(ways, *way[:2])]
    assert samples > samples_min, rows
    assert sum(way[3] for way in known) >= 0.95 * samples, known
    assert sum(way[3] for way in wrong) <= 0.01 * sum(way[3] for way in known), wrong
    return rows


@each_value(jdk=JDK_MAJORS)
def test_a_reference_is_known_and_right(workload, profile, locus, jdk):
    java = ["-Xmx1g", "-XX:+UseSerialGC", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Reached.variable"]
    run = profile(command(workload, jdk, "Reached", 8, java=java), "-e", "timer", "--interval=1ms")
    rows = check_references(run, WAYS, 1000)
    assert {row["class"] for row in rows if through(row)} >= {N + c for c in ("Node", "Tree", "Entry", "Held", "Part", "Arg")}
    for row in rows:
        for why in row.get("reached", {}).get("header_read_for", []):
            if row["class"] in CALLED:
                assert why["why"] not in {"no_header", "length", "bounds_check", "monitor"}, row
    check_a_narrow_screen(run, locus)


@each_value(jdk=JDK_MAJORS)
@pytest.mark.slow
def test_collections_of_kotlin_and_scala_have_their_references(workload, profile, jdk):
    """C2 inlines several of their methods into one another, and then tells few places right."""
    java = ["-Xmx1g", "-XX:+UseSerialGC"]
    line = command(workload, jdk, "ReachedLibraries", 10, java=java, jars=[maven(c) for c in LIBRARIES])
    rows = check_references(profile(line, "-e", "timer", "--interval=1ms"), LIBRARY_WAYS, 250)
    assert {row["class"] for row in rows if through(row)} >= {L + c for c in ("InVector", "InDeque", "InPair", "Key")}
