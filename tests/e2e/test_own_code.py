# SPDX-License-Identifier: Apache-2.0
"""Own code (--app, or as the profile tells it): samples by the nearest own frame are those that the call paths give."""

import collections
import fnmatch
import json
import re

import pytest
from conftest import ROOT

PROFILES = ROOT / "tests" / "data" / "profiles"
PARTIAL = 3  # exit status


def read(locus, name, *options, status=0):
    done = locus("report", "--format=json", *options, PROFILES / name)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)

JDK = ("java.", "javax.", "jdk.", "sun.")


def is_own(patterns, class_name):
    return any(fnmatch.fnmatchcase(class_name, p) for p in patterns)


def nearest(patterns, path):
    return next(((f["class"], f["method"]) for f in path if is_own(patterns, f["class"])), None)


def expected(report, patterns):
    """Samples by the nearest own method, from all call paths of the report."""
    found = collections.Counter()
    for place in [*report["sites"], *report["classes"]]:
        for access in place["accesses"]:
            found[nearest(patterns, access["path"])] += access["samples"]
    for access in report["other_accesses"]:
        found[nearest(patterns, access["path"])] += access["samples"]
    found.pop(None, None)
    return found


def shown(report):
    found = collections.Counter()
    for m in report["code"]["own_methods"]:
        found[m["class"], m["method"]] += m["samples"]
    return +found


@pytest.mark.parametrize("name, options, patterns", (
    ("h2", (), ["Database"]),
    ("h2", ("--app=org.h2.*",), ["org.h2.*"]),
    ("h2", ("--app=org.h2.mvstore.*", "--app", "Database"), ["org.h2.mvstore.*", "Database"]),
    ("lucene", (), ["SearchEngine"]),
    ("google-java-format", (), ["com.google.googlejavaformat.*"]),
    ("google-java-format", ("--app=com.google.*", "--app=java.util.*"), ["com.google.*", "java.util.*"]),
))
def test_each_sample_counts_for_its_nearest_own_method(locus, name, options, patterns):
    report = read(locus, name, *options)
    code = report["code"]
    assert code["own"]["patterns"] == patterns and code["own"]["given"] == bool(options)
    assert shown(report) == expected(report, patterns)
    assert sum(shown(report).values()) + code["not_own"] == report["samples"]["total"]
    for row in report["ranking"]["rows"]:
        frames = [row.get("allocated_in"), *(line.get("in") for line in row["accessed_at"])]
        # Libraries stand in for own code where there is none.
        assert all(is_own(patterns, f["class"]) or not f["class"].startswith(JDK) for f in frames if f), row
        assert "allocated_in" not in row or not is_own(patterns, row["allocated_at"]["class"]), row


def test_the_screen_names_the_own_code_and_adds_up(locus):
    text = locus("report", "--app=org.h2.mvstore.*", PROFILES / "h2").stdout
    part = text[text.index("time by own code"):].split("\n\n")[0].splitlines()
    assert part[0] == "time by own code: org.h2.mvstore.*; --app changes that"
    assert sum(float(line.split("%")[0]) for line in part[1:]) == pytest.approx(100, abs=0.05 * len(part))
    code = read(locus, "h2", "--app=org.h2.mvstore.*")["code"]
    total = code["not_own"] + sum(m["samples"] for m in code["own_methods"])
    assert re.fullmatch(r" *%.1f%% +no own frame: \S+\.\S+ [\d.]+%%.*" % (100 * code["not_own"] / total), part[-1])


def test_names_without_packages_change_no_sum(locus):
    whole, simple = (read(locus, "google-java-format", *options)["code"] for options in ((), ("--simple",)))
    assert simple["own"] == whole["own"] and simple["not_own"] == whole["not_own"] > 0


def test_a_pattern_that_matches_nothing_is_named(locus):
    done = locus("report", "--app=org.none.*", "--app=org.h2.*", PROFILES / "h2")
    assert done.returncode == PARTIAL and "--app: 'org.none.*' matches no frame" in done.stderr
    assert "org.h2.*" in done.stdout
    text = locus("report", "--app=org.none.*", PROFILES / "h2").stdout
    assert re.search(r"^time by own code: org\.none\.\*; .*\n100\.0% +no own frame: \S+\.\S+ ", text, re.M)
