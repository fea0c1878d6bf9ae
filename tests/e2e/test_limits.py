# SPDX-License-Identifier: Apache-2.0
"""Scarce resources of the process (descriptors, pending signals) stay the program's, and Locus says what it does without."""

import errno

import pytest
from conftest import BUILD, JDK_MAJORS, Profile
from helpers import (command, complaints, counters, each_pair, each_value, execute, native_library, report,
                     sites_through, truth)

QUARTER = 4
# The profile's directory and file, and a margin: what the JVM has open differs by a few.
OWN_FILES = 8


def under(limit, line, tmp_path, *options):
    """The command under a limit of the shell's ("-n 160"), without and with Locus."""
    shell = ["bash", "-c", 'ulimit %s && exec "$@"' % limit, "bash"]
    bare = execute([*shell, *line])
    run = execute([*shell, BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", *options, "--", *line])
    assert (run.returncode, bare.returncode) == (0, 0), run.stderr
    run.stdout, bare.stdout = run.stdout.decode(), bare.stdout.decode()
    return bare, run


def limits_of(run, tmp_path):
    """The kinds of limits that the report notes, each of which was said in one line."""
    r = report(Profile(run, tmp_path / "prof"))
    limits = {limit["kind"]: limit["text"] for limit in r["processes"][0].get("limits", [])}
    for text in limits.values():
        assert sum(text in line for line in complaints(run.stderr)) == 1, run.stderr
    return r, limits


@pytest.mark.parametrize("limit, threads", [pytest.param(160, 100, marks=pytest.mark.slow), (96, 100)])
def test_the_program_keeps_its_file_descriptors(workload, jdk17, tmp_path, limit, threads):
    java = ["-XX:-MaxFDLimit", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    line = command(workload, jdk17, "FewFiles", threads, 1_200_000, java=java)
    bare, run = under("-n %d" % limit, line, tmp_path, "--interval=1ms")
    left, ours = truth(bare)["opened"], truth(run)["opened"]
    assert ours >= left - left / QUARTER - OWN_FILES, (left, ours)
    r, limits = limits_of(run, tmp_path)
    assert r["samples"]["total"] > 0
    c = counters(Profile(run, tmp_path / "prof"))
    if c["engine_traps_armed"] > left / 2:
        assert "fds_breakpoints" in limits, (limits, c)


@each_value(jdk=[17, 25], end=[(), ("end",)])
def test_a_program_without_descriptors_is_recorded(workload, jdk, tmp_path, end):
    """It has used them up when the first block is due; a block, and the manifest, are written at its end."""
    java = ["-XX:-MaxFDLimit", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    line = command(workload, jdk, "FewFiles", 2, 500_000, 1300, *end, java=java)
    bare, run = under("-n 64", line, tmp_path, "--interval=1ms")
    assert 0 < truth(run)["opened"] <= truth(bare)["opened"]
    r, _ = limits_of(run, tmp_path)
    assert r["samples"]["total"] > 0
    assert len(sites_through(r, "list", "FewFiles")) >= 1
    assert Profile(run, tmp_path / "prof").manifest()["processes"][0]["complete"]


def test_threads_without_a_timer_are_told(workload, jdk17, tmp_path):
    line = command(workload, jdk17, "FewFiles", 2, 1_000_000)
    _, run = under("-i 0", line, tmp_path)
    r, limits = limits_of(run, tmp_path)
    assert r["samples"]["total"] == 0
    assert "ulimit -i" in limits["threads_not_sampled"]
    assert sum("not sampled" in x for x in complaints(run.stderr)) == 1


@pytest.mark.parametrize("error, words", [(errno.EPERM, "seccomp"), (errno.EAGAIN, "ulimit -i")])
def test_a_timer_that_is_refused_is_told(workload, jdk17, tmp_path, refuse, locus, error, words):
    line = command(workload, jdk17, "FewFiles", 2, 1_000_000)
    run = execute([*refuse("timer_create", error), BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", "--", *line])
    assert run.returncode == 0
    run.stdout = run.stdout.decode()
    r, limits = limits_of(run, tmp_path)
    assert r["samples"]["total"] == 0
    assert words in limits["threads_not_sampled"]
    assert limits["threads_not_sampled"].startswith("no thread is sampled" if error == errno.EPERM else "some threads")
    assert limits["threads_not_sampled"] in " ".join(locus("report", tmp_path / "prof").stdout.split())
    doctor = execute([*refuse("timer_create", error), BUILD / "locus", "doctor"]).stdout.decode()
    assert "thread CPU timers do not expire" in doctor and words in doctor


@each_pair(jdk=JDK_MAJORS, engine=("timer", "fault"))
def test_a_small_stack_for_signal_handlers_is_left_alone(workload, jdk, tmp_path, engine):
    library = native_library(jdk, "altstack", tmp_path)
    if not library:
        pytest.skip("no C compiler")
    for size, small in ((8192, True), (256 << 10, False)):
        line = command(workload, jdk, "AltStack", library, size, 700)
        profile = tmp_path / str(size)
        run = execute([BUILD / "locus", "run", "-q", "-o", profile, "-e", engine, "--interval=1ms", "--", *line])
        assert run.returncode == 0, run.stderr
        run.stdout = run.stdout.decode()
        assert truth(run)["installed"]  # by the kernel, which wants more on some machines
        r, c = report(Profile(run, profile)), counters(Profile(run, profile))
        kinds = [limit["kind"] for limit in r["processes"][0].get("limits", [])]
        assert ("small_stacks" in kinds) == small == (c["engine_no_stack"] > 0)
        assert r["samples"]["lost"] >= c["engine_no_stack"]
