# SPDX-License-Identifier: Apache-2.0
"""Limits of containers, users and small machines: the program is unharmed, and the reason is told."""

import errno
import json
import shutil

import pytest
from conftest import BUILD, JDKS, Profile, run_command
from helpers import allocations, command, complaints, counters, execute, report, sites_through

ROUNDS = 20000
# The agent's line on stderr, and what `locus doctor` has to say of the call: its row and status.
CALLS = {
    "perf_event_open": (None, "seccomp", ("limited", "missing")),
    "process_vm_readv": (None, "process_vm_readv", ("limited",)),
    "membarrier": (None, "membarrier", ("limited",)),
    "timer_create": ("timer_create", "timer", ("missing",)),
}


def bare_and_profiled(line, tmp_path, before=(), options=()):
    run = [*before, BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", *options, "--", *line]
    return execute([*before, *line]), execute(run)


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=["EPERM", "ENOSYS"])
@pytest.mark.parametrize("call", CALLS)
def test_call_that_the_kernel_refuses(workload, refuse, tmp_path, call, error):
    jdk = JDKS.get(17 if error == errno.EPERM else 25)
    if not jdk:
        pytest.skip("no such JDK on this machine")
    line = command(workload, jdk, "NarrowLoader", "wide", ROUNDS)
    bare, run = bare_and_profiled(line, tmp_path, refuse(call, error))
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout) and not bare.returncode, run.stderr
    said, row, statuses = CALLS[call]
    assert len(complaints(run.stderr)) == (1 if said else 0), run.stderr
    assert not said or said in run.stderr.decode()
    r = report(Profile(run, tmp_path / "prof"))
    assert allocations(sites_through(r, "ownAllocate", "NarrowLoader")) == ROUNDS
    assert r["samples"]["object"] > 0 or call == "timer_create", r["samples"]
    doctor = run_command([*refuse(call, error), BUILD / "locus", "doctor", "--json"])
    checks = {check["name"]: check for check in json.loads(doctor.stdout)["checks"]}
    assert checks[row]["status"] in statuses, checks


def test_refused_reads_with_checked_jni_are_told(workload, refuse, jdk17, tmp_path):
    """There no handler catches faults, so without the kernel the heap cannot be read."""
    line = command(workload, jdk17, "NarrowLoader", "wide", 10, java=["-Xcheck:jni"])
    bare, run = bare_and_profiled(line, tmp_path, refuse("process_vm_readv", errno.EPERM))
    assert run.stdout == bare.stdout
    assert "process_vm_readv" in complaints(run.stderr)[0], run.stderr


LIMITS = {
    "one CPU": ["taskset", "-c", "0"],
    "64 files": ["prlimit", "--nofile=64"],
    "no locked memory": ["prlimit", "--memlock=0"],
    "no pending signals": ["prlimit", "--sigpending=0"],
    "little address space": ["prlimit", "--as=5000000000"],
}


@pytest.mark.parametrize("limit", LIMITS)
def test_limit_of_a_user(workload, jdk, tmp_path, limit):
    if not shutil.which(LIMITS[limit][0]):
        pytest.skip("no %s on this machine" % LIMITS[limit][0])
    java = ["-Xmx64m", "-XX:ReservedCodeCacheSize=32m", "-XX:CompressedClassSpaceSize=64m"]
    line = command(workload, jdk, "NarrowLoader", "wide", 2000, java=java)
    bare, run = bare_and_profiled(line, tmp_path, LIMITS[limit])
    assert (run.returncode, run.stdout) == (0, bare.stdout) and bare.returncode == 0, run.stderr
    r = report(Profile(run, tmp_path / "prof"))
    assert allocations(sites_through(r, "ownAllocate", "NarrowLoader")) == 2000
    assert counters(Profile(run, tmp_path / "prof"))["class_hooks"] > 0
