# SPDX-License-Identifier: Apache-2.0
"""Neither the program nor its sampling waits for the owners of pages: a kernel that is slow to tell them."""

import json
import shutil
import subprocess

import pytest
from conftest import WORKLOADS
from guest import TOOLS, numa_guest  # noqa: F401
from oracles import NUMA_HEAP

pytestmark = pytest.mark.quiet
SECONDS = 4
INTERVAL_NS = 5_000_000


def test_nothing_waits_for_the_owners_of_pages(numa_guest, jdk17, locus, tmp_path):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler")
    programs, out = tmp_path / "programs", tmp_path / "out"
    programs.mkdir()
    slow = programs / "slow_pages.so"
    subprocess.run([compiler, "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-shared", "-fPIC",
                    "-o", slow, TOOLS / "slow_pages.c"], check=True, timeout=300)
    subprocess.run([jdk17.javac, "-g", "-d", programs, WORKLOADS / "SteadyRead.java"], check=True, timeout=300)
    done = numa_guest(
        ["locus", "run", "-e", "timer", "--interval=5ms", "-o", out / "profile", "--",
         "java", "-XX:+UseSerialGC", *NUMA_HEAP, "-cp", programs, "SteadyRead", SECONDS],
        "--env", "LD_PRELOAD=%s" % slow, share=[programs], out=out, jdk=jdk17)
    assert done.returncode == 0, done.stderr
    truth = json.loads(done.stdout.splitlines()[-1])
    assert done.stderr.count("slow_pages") >= 3, done.stderr  # it was called, and each time waited
    seen = locus("report", out / "profile", "--format=json", "--thread=reader-*")
    assert seen.returncode == 0, seen.stderr
    report = json.loads(seen.stdout)
    # A sample that waited as long would make a thread take 60 times its CPU time.
    assert truth["wall_ns"] < 3 * truth["cpu_ns"] / 2, truth
    assert report["samples"]["lost"] == 0 and report["numa"]["samples_dropped"] == 0
    assert report["samples"]["total"] * INTERVAL_NS == pytest.approx(truth["cpu_ns"], rel=0.15)
    (array,) = [site for site in report["numa"]["sites"] if site["samples"] > 0.8 * report["samples"]["total"]]
    assert array["known"] == array["samples"], array
