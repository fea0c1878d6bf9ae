# SPDX-License-Identifier: Apache-2.0
"""Strings that C2 joins, and arrays of the JDK's internal classes: sampled by default, and counted with --exact."""

import pytest
from helpers import allocations, command, counters, report

STRINGS, SEEDS = 200000, 20000


def rows(r, kind, leaf):
    """Sites, or estimates, of byte arrays whose path begins at the method, below a toString() that was called."""
    found = []
    for row in r[kind]:
        path = [f["method"] for f in row["allocation_path"]]
        if row["class"] == "byte[]" and leaf in (path[:1], path[1:2] if path[:1] == ["toString"] else None):
            found.append(row)
    return found


def of(r, method):
    """How many byte arrays the method made: counted, and estimated."""
    return allocations(rows(r, "sites", [method])), sum(e["objects"] for e in rows(r, "estimates", [method]))


@pytest.mark.parametrize("option", ("--exact", "--sample-interval=0"))
def test_exact_counts_every_large_array(jdk, workload, profile, option):
    r = report(profile(command(workload, jdk, "Unhooked", STRINGS, SEEDS), option), "--top=1000")
    assert of(r, "join") == (STRINGS, 0)
    assert of(r, "implGenerateSeed") == (SEEDS, 0)


def test_by_default_what_has_no_hook_is_estimated(jdk, workload, profile):
    """Strings of the interpreter and C1 are counted; C2 makes the most."""
    run = profile(command(workload, jdk, "Unhooked", STRINGS, SEEDS))
    r = report(run, "--top=1000")
    counted, estimated = of(r, "join")
    assert 0 < counted < 0.7 * STRINGS
    assert estimated == pytest.approx(STRINGS - counted, rel=0.3)  # some 400 samples, of which HotSpot rounds distances
    counted, estimated = of(r, "implGenerateSeed")
    assert counted == 0 and 0.4 * SEEDS < estimated < 1.8 * SEEDS  # some 40 samples
    c = counters(run)
    assert c["classes_retransformed"] < 100, c
