# SPDX-License-Identifier: Apache-2.0
"""--max-profile-size: the recording ends when the profile is as large as it may be, and the program goes on."""

import subprocess
import time

import pytest
from conftest import JDK_MAJORS
from helpers import COLLECTORS, allocations, collector, command, complaints, each_pair, sites_through, truth

KIB = 1024
LIMIT = 64 * KIB
BEHIND = 4 << 20  # bytes of the last second's blocks, at most
NEAR = 1  # seconds from the limit to the end of the recording, on a busy machine
LARGE = ("--spans=streams,tasks", "--trace")  # tens of KB a second


def size_of(directory):
    return sum(file.stat().st_size for file in directory.glob("*.lcb"))


def made_at(known, ns):
    """At least and at most so many arrays had been made by then."""
    return (max((made for time, made, _ in known["counts"] if time <= ns), default=0),
            min((made for time, made, _ in known["counts"] if time > ns), default=known["made"]))


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_a_profile_that_is_full_ends_and_the_program_goes_on(profile, workload, locus, jdk, gc):
    line = command(workload, jdk, "Duration", 5000, 7, "spans", java=["-Xmx256m", *collector(gc)])
    run = profile(line, "--max-profile-size=64k", *LARGE, check=False)
    assert run.returncode == 7, run.stderr
    (process,) = run.manifest()["processes"]
    (limit,) = process["limits"]
    assert process["complete"] and process["limited"] and limit["kind"] == "profile_size"
    assert "(64 KB, --max-profile-size)" in limit["text"]
    assert [line.partition("locus: ")[2] for line in complaints(run.stderr)] == [limit["text"]]
    assert limit["text"] in " ".join(locus("report", run.directory).stdout.split())
    known, end = truth(run), process["end_monotonic_ns"]
    assert LIMIT <= size_of(run.directory) < LIMIT + BEHIND
    counted = allocations(sites_through(run.report("--top=100000"), "make", "Duration"))
    assert made_at(known, end)[0] <= counted <= made_at(known, end + NEAR * 1e9)[1] + 100 < known["made"]
    assert [t for t in known["threads"] if "locus" in t.lower()] == []
    assert [f for f in known["files"] if str(run.directory) in f] == []


@pytest.mark.parametrize("limit", ("auto", "0", "1024g"))
def test_a_profile_below_its_limit_is_whole(profile, workload, jdk, limit):
    run = profile(command(workload, jdk, "Duration", 2500, 0, "spans"), "--max-profile-size", limit, *LARGE)
    (process,) = run.manifest()["processes"]
    assert size_of(run.directory) > LIMIT  # else it proves nothing of the limit of the test above
    assert "limits" not in process and "limited" not in process and complaints(run.stderr) == []
    assert allocations(sites_through(run.report("--top=100000"), "make", "Duration")) == truth(run)["made"]


def test_the_time_and_the_size_may_both_end_it(profile, workload, jdk):
    """Whichever comes first; the thread that waits for the time is the one that ends it."""
    line = command(workload, jdk, "Duration", 5000, 0, "spans")
    run = profile(line, "--max-profile-size=64k", "--duration=100s", *LARGE)
    (process,) = run.manifest()["processes"]
    assert [limit["kind"] for limit in process["limits"]] == ["profile_size"]
    assert not any("locus" in thread for thread in truth(run)["threads"])


def attach(locus, pid, *options):
    """It may have just begun, or not have put back everything of a recording yet."""
    for _ in range(200):
        done = locus("attach", pid, *options)
        if not done.returncode:
            return
        time.sleep(0.05)
    pytest.fail(done.stderr)


def test_a_jvm_that_is_attached_to_ends_so_and_is_attached_to_again(locus, workload, tmp_path, jdk):
    line = [str(word) for word in command(workload, jdk, "Duration", 100_000, 7, "spans")]
    with open(tmp_path / "stderr", "w+") as said, subprocess.Popen(line, stderr=said) as program:
        try:
            for name in ("first", "second"):
                attach(locus, program.pid, "-o", tmp_path / name, "--max-profile-size=64k", *LARGE)
                while "not recording" not in locus("status", program.pid).stdout:
                    assert program.poll() is None, "it has ended with the recording"
                    time.sleep(0.2)
                assert LIMIT <= size_of(tmp_path / name) < LIMIT + BEHIND
            assert program.poll() is None
        finally:
            program.kill()
        said.seek(0)
        assert sum("--max-profile-size" in line for line in said) == 2


@pytest.mark.parametrize("text", ("1k", "1025g", "x", "-1"))
def test_a_size_that_is_none_is_refused(locus, tmp_path, text):
    done = locus("run", "--max-profile-size=" + text, "-o", tmp_path / "p", "--", "true")
    assert done.returncode == 2 and "max-profile-size" in done.stderr and len(done.stderr.splitlines()) == 1
