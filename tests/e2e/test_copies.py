# SPDX-License-Identifier: Apache-2.0
"""Objects that collections copy, and that outlive one, by line of allocation: against the addresses that the program saw."""

import json

import pytest
import synthetic
from conftest import JDK_MAJORS
from helpers import COLLECTORS, collector, command, counters, each_pair, each_value, truth

SIZES = {"small": (20000, 200), "humongous in G1": (2000000, 8)}
ROUNDS = 6


def rows_of(locus, run, *options):
    found = json.loads(locus("report", "--format=json", "--top=100000", *options, run.directory).stdout)
    rows = {
        row["allocated_at"]["method"]: row
        for row in found["ranking"]["rows"]
        if row["allocated_at"] and row["allocated_at"]["class"] == "Copies"
    }
    return found, rows


def record(profile, workload, jdk, gc, size, mode, young):
    size, arrays = SIZES[size]
    java = ["-Xmx768m", "-Xmn%dm" % young, *collector(gc)]
    return profile(command(workload, jdk, "Copies", ROUNDS, arrays, size, mode, java=java))


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS, size=SIZES)
def test_what_moved_was_copied_and_what_lived_outlived_its_collection(profile, workload, locus, jdk, gc, size):
    """The young generation holds a round: the program's own collections are all that there are."""
    run = record(profile, workload, jdk, gc, size, "full", 256)
    _, rows = rows_of(locus, run)
    known = truth(run)
    kept, dropped = rows["keep"]["collected"], rows["drop"]["collected"]
    assert rows["keep"]["allocations"] == rows["drop"]["allocations"] == known["arrays"]
    assert kept["outlived"] == known["arrays"]
    assert kept["outlived_bytes"] == rows["keep"]["bytes"] >= known["bytes"]
    assert kept["copied"] == known["moved"] and (known["moved"] or gc == "G1")
    assert kept["copied_bytes"] == kept["copied"] * rows["keep"]["bytes"] / known["arrays"]
    assert dropped["outlived"] == dropped["copied"] == 0
    assert counters(run)["gc_copied_lost"] == 0


@each_value(jdk=JDK_MAJORS, gc=COLLECTORS, size=SIZES)
def test_young_collections_are_outlived_by_what_is_kept_alone(profile, workload, locus, jdk, gc, size):
    run = record(profile, workload, jdk, gc, size, "young", 24)
    found, rows = rows_of(locus, run)
    known = truth(run)
    kept, dropped = rows["keep"]["collected"], rows["drop"]["collected"]
    assert kept["outlived"] == known["arrays"]
    assert kept["copied"] >= known["arrays"] or (gc == "G1" and size != "small" and not kept["copied"])
    # One array is on its way when the JVM collects.
    assert dropped["outlived"] <= known["collections"] and rows["churn"]["collected"]["outlived"] <= known["collections"]
    copied = sum(row.get("collected", {}).get("copied_bytes", 0) for row in found["ranking"]["rows"])
    assert copied == counters(run)["gc_copied_bytes"]
    if kept["copied"]:
        models = [row["collected"]["gc_model_ns"] for row in found["ranking"]["rows"] if row.get("collected")]
        assert sum(models) == pytest.approx(found["bill"]["gc"]["ns"])


def test_a_merged_profile_has_the_copies_of_both_and_one_thread_s_has_none(profile, workload, locus, jdk, tmp_path):
    run = record(profile, workload, jdk, "Parallel", "small", "young", 24)
    once = rows_of(locus, run)[1]["keep"]["collected"]
    assert "collected" not in rows_of(locus, run, "--thread=main")[1]["keep"]
    other = synthetic.another(run.directory, tmp_path / "other")
    assert locus("merge", "-o", tmp_path / "merged", run.directory, other).returncode == 0
    run.directory = tmp_path / "merged"
    twice = rows_of(locus, run)[1]["keep"]["collected"]
    for number in ("copied", "copied_bytes", "outlived", "outlived_bytes"):
        assert twice[number] == 2 * once[number] > 0


def test_the_text_has_both_models(profile, workload, locus, jdk):
    run = record(profile, workload, jdk, "Serial", "small", "young", 24)
    text = " ".join(locus("report", "--view=alloc", run.directory).stdout.split())
    assert "divided by bytes allocated, or by bytes copied (models, not measurements)" in text
    assert "%d counted; 100%% of the bytes outlived a collection; copied " % truth(run)["arrays"] in text
    assert "%d counted; 0%% of the bytes outlived a collection" % truth(run)["arrays"] in text
