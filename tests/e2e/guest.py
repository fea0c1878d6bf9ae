# SPDX-License-Identifier: Apache-2.0
"""The guest with several NUMA nodes (scripts/numa-guest), and what runs in it.

A machine that cannot boot one skips the tests that ask for it, with the reason.
"""

import collections
import json
import os
import shlex
import shutil
import subprocess

import pytest
from conftest import BUILD, QUICK_JAVAC, ROOT, WORKLOADS, Profile, run_command
from oracles import NUMA_HEAP, numa_placement

NUMA_GUEST = ROOT / "scripts" / "numa-guest"
TOOLS = ROOT / "tests" / "tools"
Programs = collections.namedtuple("Programs", "directory truth native refuse")


@pytest.fixture(scope="session")
def numa_guest():
    """numa_guest(["numactl", "-H"], "--huge-pages=never", nodes=4) runs a command in a guest.

    `share` are the files and directories that it sees, `out` the directory that it brings back,
    `jdk` the Jdk it has, `seconds` its time limit. Returns the completed process.
    """
    environment = {"LOCUS_BUILD": str(BUILD)}
    check = run_command([NUMA_GUEST, "--check"], timeout=300, env=environment)
    if check.returncode != 0:
        pytest.skip(check.stderr.strip())

    def run(command, *options, nodes=2, share=(), out=None, jdk=None, seconds=240, env=None):
        line = [NUMA_GUEST, "--nodes", nodes, "--timeout", seconds, *options]
        for path in share:
            line += ["--share", path]
        if out:
            line += ["--out", out]
        if jdk:
            line += ["--jdk", jdk.home]
        line += ["--", *command]
        return run_command(line, timeout=seconds + 60, env={**environment, **(env or {})})

    return run


@pytest.fixture(scope="session")
def numa_programs(shared, jdk17):
    """numa_truth, refuse_call, libnuma_native.so and the classes of Numa*.java, in one directory."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler")
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]
    include = jdk17.home / "include"
    jni = ["-shared", "-fPIC", "-isystem", include, "-isystem", include / "linux"]

    def make(directory):
        for command in (
            [compiler, *flags, "-o", directory / "numa_truth", TOOLS / "numa_truth.c"],
            [compiler, *flags, *jni, "-o", directory / "libnuma_native.so", TOOLS / "numa_native.c"],
            [compiler, *flags, "-o", directory / "refuse_call", TOOLS / "refuse_call.c"],
            [jdk17.javac, *QUICK_JAVAC, "-g", "-d", directory, *sorted(WORKLOADS.glob("Numa*.java"))],
        ):
            subprocess.run([str(word) for word in command], check=True, timeout=300)

    directory = shared("numa", make)
    programs = [directory / name for name in ("numa_truth", "libnuma_native.so", "refuse_call")]
    return Programs(directory, *programs)


def placement(programs, mode, *args, **more):
    """The command that runs NumaPlacement in the guest, whose `share` has programs.directory."""
    return numa_placement(programs.directory, programs.native, mode, *args, **more)


def numa_case(programs, name, mode, *args, java=(), pin=True, compiler="-XX:TieredStopAtLevel=1"):
    """The command that runs one of the case programs (NumaCollect, ...), by default quick to start."""
    flags = ["-XX:+UseSerialGC", compiler, *NUMA_HEAP, *java]
    if pin:
        flags.append("-Dnative=%s" % programs.native)
    return ["java", *flags, "-cp", str(programs.directory), name, mode, *map(str, args)]


class GuestRun(Profile):
    """A profile that was made in the guest: also what `locus numa` says of it, and how long it took."""

    def __init__(self, process, directory, seconds):
        super().__init__(process, directory)
        self.seconds = seconds

    def numa_text(self):
        done = run_command([BUILD / "locus", "numa", self.directory])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def numa(self):
        done = run_command([BUILD / "locus", "numa", "--format=json", self.directory])
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["numa"]


def run_in_guest(numa_guest, directory, jobs, *options, **more):
    """Run several commands in one guest, one after the other; the completed process of each, by name."""
    lines = ["mkdir -p %s && cd %s" % ((shlex.quote(str(directory)),) * 2)]
    for name, command in jobs.items():
        lines.append("%s >%s.out 2>%s.err" % (shlex.join(map(str, command)), name, name))
        lines.append("echo $? >%s.status" % name)
    done = numa_guest(["sh", "-c", "\n".join(lines)], *options, out=directory, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    runs = {}
    for name, command in jobs.items():
        status, out, err = [(directory / (name + end)).read_text() for end in (".status", ".out", ".err")]
        runs[name] = subprocess.CompletedProcess(command, int(status), out, err)
    return runs


def profile_in_guest(numa_guest, programs, directory, jobs, *options, before="", **more):
    """Run several commands under Locus in one guest; a GuestRun of each, by name.

    `jobs`: name to (words before `locus`, options of `locus run`, command). A job whose first
    words are a text is shell code, with "$@" for the rest. `before` is shell code that runs first.
    """
    lines = ["mkdir -p %s && cd %s" % ((shlex.quote(str(directory)),) * 2), before]
    for name, (prefix, locus, command) in jobs.items():
        profiled = ["locus", "run", "-q", "-o", directory / name, *locus, "--", *command]
        if isinstance(prefix, str):
            words = ["sh", "-c", prefix, "sh", *profiled]
        else:
            words = [*prefix, *profiled]
        lines.append("echo job: %s >&2" % name)
        lines.append("read begin rest </proc/uptime")
        lines.append("%s >%s.out 2>%s.err" % (shlex.join(map(str, words)), name, name))
        lines.append("echo $? $begin $(cat /proc/uptime) >%s.status" % name)
    done = numa_guest(["sh", "-c", "\n".join(lines)], *options, share=[programs.directory], out=directory, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    runs = {}
    for name, (_, _, command) in jobs.items():
        status, begin, end, _ = (directory / (name + ".status")).read_text().split()
        texts = [(directory / (name + suffix)).read_text() for suffix in (".out", ".err")]
        process = subprocess.CompletedProcess(command, int(status), *texts)
        runs[name] = GuestRun(process, directory / name, float(end) - float(begin))
    return runs


def phase_of(truth, name):
    """A phase of what NumaPlacement printed, by its name."""
    return next(phase for phase in truth["phases"] if phase["name"] == name)


def processes_with(word):
    """Command lines of this machine's processes that hold a word, and are no zombies."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                line = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found
