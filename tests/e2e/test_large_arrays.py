# SPDX-License-Identifier: Apache-2.0
"""Large arrays that the JVM, libc or a JNI library clears, copies and sorts count for their objects."""

import pathlib
import re

import pytest
from helpers import COLLECTORS, collector, command, complaints, each_pair, each_value, native_library, report, table, truth

CLASS = "LargeArrays"
ALLOCATED = ("large", "longer", "nested", "reflected")  # their arrays are new: the method is the site's
KEPT = ("copies", "overlaps", "sets", "moves")  # arrays of the class's initializer
MOSTLY = 0.75  # of a thread that does nothing else; the rest is the JVM's way to allocate, and to start
# Measured shares are 4 to 15 points more. A phase has some 112 ticks that count twice, of which a busy machine
# took 12. The first phase pays for the program's start. G1 frees and takes regions for arrays that have regions
# of their own.
LEAST = {"copies": 0.84, "overlaps": 0.84, "longer": 0.85, "large": 0.85, "nested": 0.8, "reflected": 0.8}
LEAST_G1 = {**LEAST, "longer": 0.8, "large": 0.7, "nested": 0.75}


def by_phase(run, phases):
    """Samples of each phase's thread, and those of them in objects whose site is the phase's."""
    rows = []
    for phase in phases:
        r = report(run, "--thread=" + phase)
        site = phase if phase not in KEPT else "<clinit>"
        own = sum(
            s["samples"]
            for s in r["sites"]
            if any(f["class"] == CLASS and f["method"] in (site, "<clinit>") for f in s["allocation_path"])
        )
        rows.append((phase, r["samples"]["total"], own, r["samples"]))
    return rows


def check(run, phases, least=MOSTLY):
    rows = by_phase(run, phases)
    assert complaints(run.stderr) == []
    assert set(truth(run)) == set(phases)
    if not isinstance(least, dict):
        least = dict.fromkeys(phases, least)
    bad = [row for row in rows if row[1] < 20 or row[2] < least[row[0]] * row[1]]
    assert not bad, table(("phase", "samples", "in its arrays", "buckets"), rows)
    return rows


def large_arrays(workload, profile, jdk, threads, ms, phases, java=()):
    line = command(workload, jdk, CLASS, threads, ms, *phases, java=["-Xmx512m", *java])
    return profile(line, "--interval=2ms")


@each_pair(jdk=(17, 25), gc=COLLECTORS, threads=(1, 4))
def test_time_in_large_arrays_is_theirs(workload, profile, jdk, gc, threads):
    """With several threads, collections come between the clearing of an array and its record."""
    phases = ALLOCATED if threads > 1 else KEPT[:2] + ALLOCATED
    ms = 900 if threads == 1 else 150  # for one thread as long as makes its start small, on a busy machine too
    run = large_arrays(workload, profile, jdk, threads, ms, phases, collector(gc))
    least = LEAST_G1 if gc == "G1" else LEAST
    # Several threads of G1 wait for each other, too.
    rows = check(run, phases, least if threads == 1 else MOSTLY if gc != "G1" else 0.5)
    assert sum(row[3]["heap_unknown"] for row in rows) <= 0.03 * sum(row[1] for row in rows), rows


@each_value(jdk=(17, 25), gc=COLLECTORS)
def test_the_fence_behind_the_making_of_an_array_is_of_the_array(workload, profile, jdk, gc):
    """Without it a fourth to two fifths of the first phase are the JVM's, as are 5% to 8% of the second."""
    run = large_arrays(workload, profile, jdk, 1, 800, ("small", "middle"), collector(gc))
    check(run, ("small", "middle"), {"small": 0.42, "middle": MOSTLY})


@pytest.mark.quiet  # on busy CPUs one interrupt may count for a third of a phase
def test_arrays_of_interpreted_code_are_copied_by_the_jvm(workload, profile, jdk):
    phases = KEPT[:1] + KEPT[2:] + ("longer",)
    run = large_arrays(workload, profile, jdk, 1, 300, phases, ["-Xint", "-XX:+UseParallelGC"])
    check(run, phases, 0.65)  # the interpreter reads the clock


def test_clones_are_of_the_two_arrays(workload, profile, jdk):
    run = large_arrays(workload, profile, jdk, 1, 800, ("clones",), ["-XX:+UseSerialGC"])
    check(run, ("clones",), 0.8)  # 0.79 to 0.93 of 0.4 s, 0.89 to 0.93 of 1.2 s


def test_jni_libraries_work_on_arrays(workload, profile, jdk, tmp_path):
    library = native_library(jdk, "arrays", tmp_path)
    if not library:
        pytest.skip("no C compiler")
    phases = ("regions", "critical")
    run = large_arrays(workload, profile, jdk, 1, 400, phases, ["-Dlibrary=%s" % library])
    rows = by_phase(run, phases)
    shares = {row[0]: row[2] / row[1] for row in rows}
    assert shares["critical"] >= MOSTLY, rows
    # Half of what a copy waits for is native memory, or nearly all, if the array is in a cache.
    assert shares["regions"] >= 0.25, rows


def test_the_vector_library_sorts_the_array(workload, profile, jdk):
    """JDK 25 sorts in libsimdsort where the CPU has AVX-512 or AVX2; it is loaded late.

    With AVX2, which it takes on AMD's CPUs that have both, too, each partition looks up tables of the library's own (avx2_compressstore_lut32_perm,
    avx2_mask_helper_lut32), which are native memory: 0.35 to 0.43 of all samples are there.
    """
    run = large_arrays(workload, profile, jdk, 1, 800, ("sorts",))
    cpu = pathlib.Path("/proc/cpuinfo").read_text()
    flags = set(re.search(r"^flags\s*:(.*)$", cpu, re.M).group(1).split())
    with_tables = jdk.major >= 25 and "avx2" in flags and ("avx512f" not in flags or "AuthenticAMD" in cpu)
    ((_, total, own, buckets),) = check(run, ("sorts",), 0.45 if with_tables else 0.6)
    if with_tables:
        assert own + buckets["native"] >= 0.85 * total, buckets
