"""The guest with several NUMA nodes (scripts/numa-guest), and what runs in it.

A machine that cannot boot one skips the tests that ask for it, with the reason.
"""

import collections
import os
import shutil
import subprocess

import pytest
from conftest import BUILD, ROOT, WORKLOADS, run_command

NUMA_GUEST = ROOT / "scripts" / "numa-guest"
TOOLS = ROOT / "tests" / "tools"
# Fits in the smallest node that the tests lay out. The young generation holds NumaPlacement's array,
# and a whole old generation is there for a collection to move it to.
HEAP = ["-Xms192m", "-Xmx192m", "-Xmn96m"]

Programs = collections.namedtuple("Programs", "directory truth native")


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
def numa_programs(tmp_path_factory, jdk17):
    """numa_truth, libnuma_native.so and NumaPlacement.class, in one directory."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler")
    directory = tmp_path_factory.mktemp("numa")
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]
    include = jdk17.home / "include"
    jni = ["-shared", "-fPIC", "-isystem", include, "-isystem", include / "linux"]
    truth, native = directory / "numa_truth", directory / "libnuma_native.so"
    for command in (
        [compiler, *flags, "-o", truth, TOOLS / "numa_truth.c"],
        [compiler, *flags, *jni, "-o", native, TOOLS / "numa_native.c"],
        [jdk17.javac, "-g", "-nowarn", "-d", directory, WORKLOADS / "NumaPlacement.java"],
    ):
        subprocess.run([str(word) for word in command], check=True, timeout=120)
    return Programs(directory, truth, native)


def placement(programs, mode, *args, collector="Serial", java=()):
    """The command that runs NumaPlacement in the guest, whose `share` has programs.directory."""
    flags = ["-XX:+Use%sGC" % collector, *HEAP, "-Dnative=%s" % programs.native, *java]
    return ["java", *flags, "-cp", str(programs.directory), "NumaPlacement", mode, *map(str, args)]


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
