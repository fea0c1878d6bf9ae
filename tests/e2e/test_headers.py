# SPDX-License-Identifier: Apache-2.0
"""The list of classes that are touched at the header: `--view objects`, and `header_classes` of the JSON."""

import json
import re

import helpers
import pytest


def run_of(profile_once, workload, jdk, mode):
    command = helpers.command(workload, jdk, "Findings", mode, 2.5, java=["-Xmx2g"])
    return profile_once("findings-%d-%s" % (jdk.major, mode), command)


def classes_of(locus, run):
    ranking = json.loads(locus("report", "--format=json", "--top=1000", run.directory).stdout)["ranking"]
    assert sum(c["samples"] for c in ranking["header_classes"]) == ranking["in_headers"]
    for c in ranking["header_classes"]:
        assert 0 < c["samples"] <= c["known"] and c["low"] <= c["part"] <= c["high"]
    return {c["class"]: c for c in ranking["header_classes"]}


@pytest.mark.recording("findings-header")
def test_classes_that_a_loop_asks_for_their_class_are_listed_with_their_size(profile_once, locus, workload, jdk):
    run = run_of(profile_once, workload, jdk, "header")
    classes = classes_of(locus, run)
    text = locus("report", "--view=objects", run.directory, env={"COLUMNS": "100"}).stdout
    for name in ("Findings$Square", "Findings$Circle"):
        assert classes[name]["only_header"] and classes[name]["part"] > 0.8, classes[name]
        # A header of 12 bytes, and of 8 in JDK 25's compact layout, which is not the default; one long, aligned to 8.
        assert classes[name]["bytes_each"] == 24
        line = next(line for line in text.splitlines() if line.endswith(name) and " bytes " in line)
        percent = re.match(r" *[\d.]+% +(\d+)% \(", line).group(1)
        assert percent == "%.0f" % (100 * classes[name]["part"]) and " 24 bytes " in line


@pytest.mark.recording("findings-{mode}")
@pytest.mark.parametrize("mode", ("fields", "calm"))
def test_classes_that_are_read_are_not_in_the_list(profile_once, locus, workload, jdk, mode):
    run = run_of(profile_once, workload, jdk, mode)
    assert not any(c["only_header"] for c in classes_of(locus, run).values())
    assert "mostly at the header" not in locus("report", "--view=objects", run.directory).stdout
