# SPDX-License-Identifier: Apache-2.0
"""Classes that the JVM has loaded before the agent: only those with a site are transformed."""

import subprocess

import pytest
from helpers import allocations, command, counters, report, sites_through

COUNT = 300
STRINGS = 100000
PATCH = """package java.lang;
public interface Appendable {
	Appendable append(CharSequence s) throws java.io.IOException;
	Appendable append(CharSequence s, int from, int to) throws java.io.IOException;
	Appendable append(char c) throws java.io.IOException;
	static Object make(int n) { return new byte[n]; }
}
"""


def counters_of_a_short_run(profile_once, workload, jdk):
    return counters(profile_once("loaded-%d" % jdk.major, command(workload, jdk, "LoadedClasses", 1)))


def test_most_classes_of_the_jdk_are_not_transformed(jdk, workload, profile_once):
    c = counters_of_a_short_run(profile_once, workload, jdk)
    assert c["classes_looked_at"] > c["classes_retransformed"], c
    assert c["classes_retransformed"] > 30, c
    assert not c["classes_retransform_failed"], c


def test_no_class_is_transformed_once_the_program_runs(jdk, workload, profile, profile_once):
    """Code that is being compiled at that time would be compiled once more."""
    run = profile(command(workload, jdk, "LateStrings", STRINGS), "--exact")
    early = counters(profile_once("loaded-exact-%d" % jdk.major, command(workload, jdk, "LoadedClasses", 1), "--exact"))["classes_retransformed"]
    # Classes of the JDK that have a site and were loaded, but for a library or two that a JVM has besides.
    assert counters(run)["classes_retransformed"] == pytest.approx(early, abs=2)
    made = sites_through(report(run), "toString", "java.lang.StringBuilder")
    assert allocations([s for s in made if s["allocation_path"][1]["class"] == "java.util.Hashtable$Entry"]) == STRINGS


def test_a_class_that_is_used_later_has_its_hooks(jdk, workload, profile):
    r = report(profile(command(workload, jdk, "LoadedClasses", COUNT), "--min-size=256", "--exact"))
    used = [s for s in r["sites"] if s["allocation_path"][0]["class"] == "jdk.internal.math.FDBigInteger"]
    # The JDK 25 parses numbers without arrays of digits, and makes a table of numbers once.
    assert allocations(used) >= (COUNT if jdk.major == 17 else 1), r["sites"]


def test_a_patched_class_has_its_hooks(jdk, workload, profile, tmp_path):
    source = tmp_path / "java.base" / "java" / "lang" / "Appendable.java"
    source.parent.mkdir(parents=True)
    source.write_text(PATCH)
    classes = tmp_path / "patched"
    subprocess.run(
        [jdk.javac, "--patch-module", "java.base=%s" % (tmp_path / "java.base"), "-d", classes, source],
        check=True,
        timeout=300,
    )
    run = profile(
        command(
            workload,
            jdk,
            "LoadedClasses",
            COUNT,
            java=["--patch-module", "java.base=%s" % classes],
        ),
        "--exact",
    )
    assert counters(run)["classes_looked_at"] > 0
    assert allocations(sites_through(report(run), "make", "java.lang.Appendable")) == COUNT
