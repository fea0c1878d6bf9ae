# SPDX-License-Identifier: Apache-2.0
"""Arrays are shown by the field or local variable that the program stores them in."""

import json
import re

import pytest
import synthetic
from conftest import JDK_MAJORS
from helpers import each_pair
from oracles import NAMES, names_by_pattern

ROUNDS = {"interpreted": 40, "compiled": 12000}
DEBUG = {"with debug tables": "-g", "without": "-g:none"}
FIELD, LOCAL, ARGUMENT = "field", "local", "argument"


@each_pair(jdk=JDK_MAJORS, rounds=ROUNDS, debug=DEBUG)
def test_each_pattern_has_its_name(profile, workload, jdk, rounds, debug):
    path = workload(jdk, "Names", flags=(DEBUG[debug],))
    java = [jdk.java, "-XX:+UseSerialGC", "-Xmx512m", "-cp", path, "Names", str(ROUNDS[rounds])]
    found = names_by_pattern(profile(java, "--sample-interval=0").report("--top=1000"))
    for pattern in NAMES:
        # Without tables local variables have no names.
        expected = tuple(tuple(n) for n in pattern["names"] if n[0] != LOCAL or debug != "without")
        assert found.get((pattern["method"], pattern["class"])) == {expected}, pattern


def test_an_object_has_the_name_of_its_field(profile, workload, jdk):
    java = [jdk.java, "-cp", workload(jdk, "Names", ("-g",)), "Names", "20"]
    found = names_by_pattern(profile(java, "--min-size=0").report("--top=100000"))
    assert found[("object", "java.util.HashMap")] == {((FIELD, "Names.map"),)}
    assert found[("passed", "Names$Holder")] == {((FIELD, "Names.holder"),)}
    assert ((FIELD, "Names.made"),) in found[("lambda", "float[]")]  # the JDK makes others


@pytest.fixture
def recorded(profile_once, workload, jdk):
    java = [jdk.java, "-XX:+UseSerialGC", "-cp", workload(jdk, "Names", ("-g",)), "Names", "40"]
    return profile_once("names-%d" % jdk.major, java, "--sample-interval=0").directory


@pytest.mark.recording("names")
def test_the_text_shows_names_and_then_the_class(locus, recorded):
    text = locus("report", "--view=alloc", "--top=100", recorded).stdout
    assert re.search(r"% +[\d.]+ .B +Names\.re \(double\[\]\) <- Names\.field:\d+$", text, re.M), text
    assert re.search(r"  Names\.first, Names\.second \(int\[\]\) <- Names\.twoFields:\d+$", text, re.M), text
    assert re.search(r"  buffer \(byte\[\]\) <- ", text), text
    # One line of several callers: all their names.
    assert re.search(r"  Names\.looped, kept \(byte\[\]\) <- Names\.filled:\d+$", text, re.M), text
    assert re.search(r"  argument of List\.add \(boolean\[\]\) ", text), text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.recording("names")
def test_rows_of_the_json_have_the_names_of_their_sites(locus, recorded):
    found = json.loads(locus("report", "--format=json", "--top=1000", recorded).stdout)
    names = {s["id"]: s.get("names", []) for s in found["sites"]}
    rows = [r for r in found["ranking"]["rows"] if r.get("allocated_at")]
    for line in {(r["class"], r["allocated_at"]["method"], r["allocated_at"]["line"]) for r in rows}:
        row = next(
            r for r in rows if (r["class"], r["allocated_at"]["method"], r["allocated_at"]["line"]) == line
        )
        sites = [
            s
            for s in found["sites"]
            if s["allocation_path"] and s["class"] == line[0]
            and (s["allocation_path"][0]["method"], s["allocation_path"][0]["line"]) == line[1:]
            and s["allocation_path"][0]["class"] == row["allocated_at"]["class"]
        ]
        union = {(n["kind"], n["name"]) for s in sites for n in names[s["id"]]}
        assert {(n["kind"], n["name"]) for n in row.get("names", [])} == union, line


@pytest.mark.recording("names")
def test_names_outlive_a_merge_and_lose_their_packages_where_classes_do(locus, recorded, tmp_path):
    assert locus("merge", "-o", tmp_path / "merged", recorded, synthetic.another(recorded, tmp_path / "other")).returncode == 0
    text = locus("report", "--view=alloc", "--top=100", tmp_path / "merged").stdout
    assert re.search(r"  Names\.first, Names\.second \(int\[\]\) <- ", text), text
    found = json.loads(
        locus("report", "--format=json", "--simple", "--top=1000", tmp_path / "merged").stdout
    )
    names = {n["name"] for s in found["sites"] for n in s.get("names", [])}
    assert {"List.add", "ArrayList.elementData", "Names.re", "buffer"} <= names
