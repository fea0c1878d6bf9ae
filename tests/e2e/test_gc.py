# SPDX-License-Identifier: Apache-2.0
"""The address map agrees with the JVM after every collection."""

import pytest
from conftest import JDK_MAJORS
from helpers import COLLECTORS, collector, command, counters, each_value, report, truth

WRONG = ("audit_wrong_missing", "audit_wrong_moved", "audit_wrong_overlap")


def audit(workload, profile, jdk, java, gcs=330, live=32):
    line = command(workload, jdk, "GcAudit", gcs, live, java=java)
    run = profile(line, "--audit", timeout=400)
    c = counters(run)
    seen = " ".join("%s=%d" % i for i in c.items() if i[0].split("_")[0] in ("audit", "gc", "map", "alloc"))
    assert truth(run)["gcs"] >= gcs
    assert c["audit_gcs"] >= 200, seen
    assert c["audit_survivors"] >= 100_000, seen
    assert c["audit_checks"] >= c["audit_survivors"], seen
    assert {k: c[k] for k in WRONG} == dict.fromkeys(WRONG, 0), seen
    report(run)


@pytest.mark.everywhere
@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_no_interval_is_wrong_over_two_hundred_collections(workload, profile, jdk, gc):
    audit(workload, profile, jdk, ["-Xmx96m", *collector(gc, "1m")])


@pytest.mark.covers(gc=["Parallel", "Serial"])
@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_no_interval_is_wrong_when_the_heap_is_tight(workload, profile, jdk, gc):
    """Full collections and evacuations that fail. In G1's few survive."""
    audit(workload, profile, jdk, ["-Xmx56m", *collector(gc, "1m")], gcs=750 if gc == "G1" else 500)


@pytest.mark.few(2)
@each_value(
    jdk=JDK_MAJORS,
    options=[
        ["-XX:+UseSerialGC", "-XX:-UseCompressedOops"],
        ["-XX:+UseSerialGC", "-XX:MaxTenuringThreshold=0"],
        ["-XX:+UseParallelGC", "-XX:ParallelGCThreads=4", "-XX:-UseAdaptiveSizePolicy"],
        ["-XX:+UseG1GC", "-XX:ParallelGCThreads=4", "-XX:InitiatingHeapOccupancyPercent=10"],
        ["-XX:+UseG1GC", "-XX:G1HeapRegionSize=4m", "-XX:+ExplicitGCInvokesConcurrent"],
    ],
)
def test_no_interval_is_wrong_with_collector_options(workload, profile, jdk, options):
    audit(workload, profile, jdk, ["-Xmx96m", *options])


@pytest.mark.slow
@pytest.mark.parametrize("gc", COLLECTORS)
def test_no_interval_is_wrong_over_two_thousand_collections(workload, profile, jdk, gc):
    audit(workload, profile, jdk, ["-Xmx96m", *collector(gc, "1m")], gcs=2000)
