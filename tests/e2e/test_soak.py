# SPDX-License-Identifier: Apache-2.0
"""A server that is profiled for long: no crash, nothing lost, and no more memory, descriptors or files at its end than half-way,
as beside it the same server without Locus.

LOCUS_SOAK_SECONDS is how long `make soak` runs each (900); a run of LOCUS_SOAK_CI_SECONDS (4) is part of `make test`, for each
collector once.
"""

import concurrent.futures
import os
import pathlib
import statistics
import subprocess
import time

import pytest
from conftest import Profile, run_command
from helpers import allocations, by_hand, command, complaints, counters, each_value, report, sites_through

CI_SECONDS = int(os.environ.get("LOCUS_SOAK_CI_SECONDS", "4"))
SOAK_SECONDS = int(os.environ.get("LOCUS_SOAK_SECONDS", "900"))
COLLECTORS = ("Serial", "Parallel", "G1", "Z", "Shenandoah")
LONG = ((17, "G1"), (25, "G1"), (25, "Serial"), (17, "Parallel"), (25, "Z"), (17, "Shenandoah"))
PERCENT = 2  # by which memory may grow beyond the bare program's
START_BYTES = 16 << 20  # by which it may grow in seconds, while the program is compiled and Locus's tables fill
FILES_MAX = 64 + 2  # FILES of src/profile/profile_writer.c; the manifest, and the next one while it is written
LOST = ("alloc_records_lost", "gc_moves_lost", "gc_incomplete", "paths_overflow")


def look(pid, directory):
    """(resident bytes, descriptors, files of the profile) now; None: it has ended."""
    words = dict(line.split(":", 1) for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines())
    if "VmRSS" not in words:
        return None
    fds = len(os.listdir("/proc/%d/fd" % pid))
    return int(words["VmRSS"].split()[0]) << 10, fds, len(list(directory.glob("*")))


def watch(line, directory, seconds):
    """Run it, and look at it ten times a second at first and last once a second: (process result, looks)."""
    process = subprocess.Popen([str(word) for word in line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    looks, begin = [], time.monotonic()
    try:
        for text in process.stdout:
            if text.startswith("end"):
                break
            looks.append(look(process.pid, directory))
        rest, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert time.monotonic() - begin >= seconds
    return process.returncode, text + rest, err, [row for row in looks if row]


def ends(looks):
    """Medians of the first and the last quarter of the second half, each (before, after): memory, descriptors, files."""
    half = looks[len(looks) // 2:]
    quarter = max(1, len(half) // 4)
    return [[statistics.median(row[i] for row in part) for part in (half[:quarter], half[-quarter:])] for i in range(3)]


def assert_flat(looks, bare, more=0):
    """The second half: memory grows by no more than the bare program's and PERCENT, or `more` bytes; descriptors are no more at its
    end than at its begin, files no more than there can be."""
    (resident, fds, files), (alone, _, _) = ends(looks), ends(bare)
    most = max(resident[0] * PERCENT / 100, more)
    assert resident[1] <= resident[0] * max(1, alone[1] / alone[0]) + most, (resident, alone)
    assert fds[1] <= fds[0] + 2, fds
    assert files[1] <= max(files[0], FILES_MAX), files


def soak(workload, jdk, directory, gc, seconds):
    if run_command([jdk.java, "-XX:+Use%sGC" % gc, "-version"]).returncode != 0:
        pytest.skip("this JVM has no %s collector" % gc)
    # The heap is resident from the beginning, so that what grows is not the heap.
    java = ["-XX:+Use%sGC" % gc, "-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch"]
    bare = command(workload, jdk, "Server", seconds, java=java)
    line = by_hand(bare, directory, "interval=1ms")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        beside = pool.submit(watch, bare, directory, seconds)
        status, out, err, looks = watch(line, directory, seconds)
    assert status == beside.result()[0] == 0, err
    run = Profile(subprocess.CompletedProcess(line, status, out, err), directory)
    c, r = counters(run), report(run)
    assert complaints(err) == []
    assert allocations(sites_through(r, "serverAllocate")) == int(out.split()[1])
    assert c["class_disagreements"] == 0
    assert {name: c[name] for name in LOST} == dict.fromkeys(LOST, 0)
    assert r["samples"]["total"] > 10 * seconds
    return looks, beside.result()[3]


@pytest.mark.few(2)
@each_value(jdk=[17, 25], gc=COLLECTORS)
def test_server_for_seconds(workload, jdk, tmp_path, gc):
    looks, bare = soak(workload, jdk, tmp_path / "prof", gc, CI_SECONDS)
    # Hundreds of threads have come and gone.
    assert max(files for _, _, files in looks) <= FILES_MAX, looks
    assert_flat(looks, bare, START_BYTES)


@pytest.mark.slow
@pytest.mark.seconds(SOAK_SECONDS + 300)
@pytest.mark.parametrize(("jdk", "gc"), LONG, indirect=["jdk"])
def test_server_for_long(workload, jdk, tmp_path, gc):
    assert_flat(*soak(workload, jdk, tmp_path / "prof", gc, SOAK_SECONDS))
