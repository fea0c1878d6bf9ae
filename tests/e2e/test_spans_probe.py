# SPDX-License-Identifier: Apache-2.0
"""Counts of streams stay exact where windows of them are counted and not timed."""

import collections
import json
import re

import helpers
import pytest

ROUNDS = 200_000


@pytest.mark.parametrize("java", [[], ["-XX:TieredStopAtLevel=1"]], ids=["C2", "C1"])
def test_each_stream_is_counted(jdk, workload, locus, profile, java):
    run = profile(helpers.command(workload, jdk, "SpanProbe", ROUNDS, java=java), "--spans=streams")
    done = locus("spans", run.directory, "--format=json")
    assert done.returncode == 0, done.stderr
    lines = (helpers.WORKLOADS / "SpanProbe.java").read_text().splitlines()
    found = collections.Counter()
    for row in json.loads(done.stdout)["streams"]:
        if row["class"].startswith("SpanProbe"):
            level = "" if row["level"] < 2 else " inside"
            found[lines[row["line"] - 1].split("// ")[1] + level] += row["executions"]
    inside = 2 * (ROUNDS // 50_000)
    assert found == {
        "outer": 2, "seldom": 2 * ROUNDS, "failing": 2 * ROUNDS, "leaf": 3 * ROUNDS, "leaf inside": inside
    }
    counted = re.search(r'"spans_counted":\s*(\d+)', (run.directory / "manifest.json").read_text())
    assert int(counted.group(1)) > 1000
    assert not helpers.complaints(run.stderr), run.stderr
