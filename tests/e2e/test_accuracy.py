# SPDX-License-Identifier: Apache-2.0
"""Every site's share of the samples is its share of the time, while its arrays move."""

import pytest
from conftest import JDK_MAJORS
from helpers import (
    COLLECTORS,
    EACH_TICK,
    check_agreement,
    check_explained,
    collector,
    command,
    counters,
    each_value,
    has_frame,
    marked_lines,
    report,
    share_through,
    table,
    truth,
)

POINTS = 0.025


def check_shares(run):
    """Each phase's site has the phase's part of all CPU time, within POINTS; or 3 sigma, if a busy machine lets few interrupts come."""
    told, r = truth(run), report(run)
    check_explained(r)
    check_agreement(run, 200)
    rows, wrong = [], []
    for site, ns in told["phases_ns"].items():
        true, sampled = ns / told["total_ns"], share_through(r, site, "Accuracy")
        rows.append((site, "%.2f%%" % (100 * true), "%.2f%%" % (100 * sampled)))
        sigma = (true * (1 - true) / r["observations"]["effective"]) ** 0.5
        if abs(true - sampled) > max(POINTS, 3 * sigma):
            wrong.append(site)
    assert not wrong, "%s off in\n%s\n%s, %d GCs" % (
        ", ".join(wrong),
        table(("site", "true", "sampled"), rows),
        (r["samples"], r["observations"]),
        told["gcs"],
    )
    return told, r


def accuracy(workload, profile, jdk, gc, threads, seconds):
    java = ["-Xmx384m", "-Xmn64m", *collector(gc, "16m")]
    run = profile(command(workload, jdk, "Accuracy", threads, seconds, java=java), *EACH_TICK)
    told, _ = check_shares(run)
    assert told["gcs"] >= seconds, "too few collections to prove anything: %d" % told["gcs"]
    # The timer misses nothing; expirations that the kernel folded into one count as well.
    fired = counters(run)["engine_timer_samples"] + counters(run).get("engine_timer_overruns", 0)
    assert 0.9 <= fired / (told["total_ns"] / 4e6) <= 1.1


@pytest.mark.everywhere
@each_value(jdk=JDK_MAJORS, gc=COLLECTORS, threads=[1, 2])
def test_share_of_each_site_is_its_share_of_cpu_time(workload, profile, jdk, gc, threads):
    """About 1,600 samples, which come at a fixed rate within phases of 50 to 120 ms: the error of each share is a few samples."""
    accuracy(workload, profile, jdk, gc, threads, 6 / threads)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("gc", COLLECTORS)
def test_share_stays_true_over_a_longer_run(workload, profile, jdk, gc, threads):
    accuracy(workload, profile, jdk, gc, threads, 40 / threads)


@pytest.mark.slow
def test_share_is_true_with_wide_references(workload, profile, jdk):
    java = ["-Xmx384m", "-Xmn64m", "-XX:+UseSerialGC", "-XX:-UseCompressedOops"]
    check_shares(profile(command(workload, jdk, "Accuracy", 1, 8, java=java), *EACH_TICK))


@pytest.mark.recording("load-line")
@pytest.mark.parametrize(
    "site, mark", [("newGather", "gather-load"), ("newScatter", "scatter-load")]
)
def test_access_path_names_the_line_of_the_load(workload, profile_once, jdk, site, mark):
    run = profile_once("load-line-%d" % jdk.major, command(workload, jdk, "LoadLine", 3), "--interval=4ms")
    line = marked_lines("LoadLine", "line")[mark]
    accesses = [
        a
        for s in report(run)["sites"]
        if has_frame(s["allocation_path"][:1], site)
        for a in s["accesses"]
    ]
    # A stack that could not be walked is a sample with an empty path: it counts as not named.
    total = sum(a["samples"] for a in accesses)
    named = [a for a in accesses if has_frame(a["path"][:1], mark.split("-")[0], "LoadLine", line)]
    assert total >= 100, accesses
    assert sum(a["samples"] for a in named) >= 0.9 * total, (line, accesses)
