# SPDX-License-Identifier: Apache-2.0
"""Changes that findings advise, of programs that wait for objects, and of the same programs with the change made."""

import re

import pytest
from conftest import JDK_MAJORS
from helpers import command, each_value

NONE = "(?!)"
# By mode: the class whose first finding is looked at, what is advised, and the line of the program that makes it.
ADVICE = {
    "boxes": ("java.lang.Long", r"keep the numbers themselves in Advice\.boxes\[\]", "make"),
    "numbers": ("long[]", NONE, "make"),
    "list": ("java.lang.Integer", "a collection of primitives", "make"),
    "hash": ("java.util.HashMap$Node", "use a map without nodes", "make"),
    "tree": ("java.util.TreeMap$Entry", "use a hash map if the order is not needed", "make"),
    "linked": ("java.util.LinkedList$Node", "use an ArrayList or ArrayDeque", "make"),
    "chain": ("Advice$Node", r"each node is reached only through another \(Advice\$Node\.next\)", "make"),
    "points": ("double[]", r"keep the few elements in fields of Advice\$Point", "<init>"),
    "flats": ("Advice$Flat", NONE, "make"),
    "items": ("Advice$Item", r"keep rank in an array of its own, beside Advice\.items\[\]", "make"),
    "orders": ("Advice$Item", r"keep rank in Advice\$Order", "make"),
    "shapes": (r"Advice\$(Square|Circle|Triangle|Star)", r"the call at Advice\.shapes:\d+ has several targets", "make"),
}
# Sentences of one kind of object, none of which is of a program that has no such object.
KINDS = "numbers themselves|primitives|map|ArrayList|each node|few elements|of its own|keep rank|targets"


def of_class(report, cls):
    pattern = re.compile(cls if cls.startswith(r"Advice\$") else re.escape(cls))
    return [f for f in report["findings"] if pattern.fullmatch(f.get("class", ""))]


@each_value(jdk=JDK_MAJORS, mode=list(ADVICE))
def test_the_advice_fits_the_objects(workload, profile, locus, jdk, mode):
    cls, wanted, made_in = ADVICE[mode]
    run = profile(command(workload, jdk, "Advice", mode, 1.5, java=["-Xmx1g", "-XX:+UseSerialGC"]), "--interval=1ms")
    report = run.report()
    found = of_class(report, cls)
    assert found, report["findings"]
    change = found[0].get("change", "")
    if wanted == NONE:
        assert not re.search(KINDS, change), found
    else:
        assert re.search(wanted, change), found
    # The program's own line is named, whether or not a method of the JDK made the objects.
    assert re.search(r" (of|in|at) Advice(\$\w+)?\.%s:\d+" % re.escape(made_in), found[0]["text"]), found
    first = report["findings"][0]  # which is on the screen in any case
    text = " ".join(locus("report", run.directory).stdout.split())
    assert ("To try: " + first["change"][:20] if "change" in first else first["id"]) in text


@each_value(jdk=JDK_MAJORS)
def test_objects_of_one_cause_are_one_finding(workload, profile, jdk):
    """Four classes that one call of an interface reaches: their shares add up, and no list of classes is beside them."""
    run = profile(command(workload, jdk, "Advice", "shapes", 1.5, java=["-Xmx1g", "-XX:+UseSerialGC"]), "--interval=1ms")
    report = run.report()
    (f,) = of_class(report, ADVICE["shapes"][0])
    rows = [r for r in report["ranking"]["rows"] if re.fullmatch(ADVICE["shapes"][0], r["class"]) and not r["rest"]]
    assert len(rows) == 4 and abs(f["share"] - sum(r["share"] for r in rows)) < 0.02, (f, rows)
    assert f["low"] < f["share"] < f["high"] and f["kind"] == "header-only"
    assert " and 1 more: " in f["text"] and not [o for o in report["findings"] if o["kind"] == "headers-of-many"]


# By mode of AdviceMade: what is advised of some finding of it, and of none where the change is made ("kept-" and the mode).
MADE = {
    "builder": "give the builder the size that it needs",
    "reader": "keep one stream or buffer and use it again|small and let it grow, or reuse one",  # few bytes of it are used
    "pattern": "compile the expression once",
    "date": "keep the time as a long",
    "reflect": "look the member up once and keep it",
    "growth": "give the collection its size when it is made",
    "decimal": "count in long",
    "optional": "return the value or null",
    "stream": "use a loop here",
    "string": "make fewer strings",
}

# Modes whose sentence is true of the program, too.
BESIDE = {"reader": ("string",), "pattern": ("string",), "string": ("builder",)}


@pytest.mark.few(3)
@each_value(jdk=JDK_MAJORS, mode=list(MADE))
def test_what_is_made_again_and_again_is_kept(workload, profile, jdk, mode):
    for kept in ("", "kept-"):
        options = ["-Xmx512m", "-Xmn32m", "-XX:+UseSerialGC"]
        report = profile(command(workload, jdk, "AdviceMade", kept + mode, 1.5, java=options), "--interval=1ms").report()
        changes = [f.get("change", "") for f in report["findings"]]
        assert any(re.search(MADE[mode], change) for change in changes) == (not kept), report["findings"]
        assert not [c for c in changes if any(re.search(w, c) and w != MADE[mode] for m, w in MADE.items() if m not in BESIDE.get(mode, ()))], changes
