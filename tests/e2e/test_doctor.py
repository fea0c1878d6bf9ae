# SPDX-License-Identifier: Apache-2.0
"""locus doctor: what it says of this machine, against facts found another way, and in broken ones."""

import ctypes
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess

import pytest
from conftest import BUILD, JDKS, jdk_of, run_command

NAMES = [
    "kernel",
    "perf_event_paranoid",
    "seccomp",
    "mlock",
    "pmu",
    "memory_events",
    "aux_event",
    "debug_registers",
    "software_events",
    "timer",
    "process_vm_readv",
    "membarrier",
    "launcher",
    "agent",
    "jdk",
    "collector",
    "trial",
    "numa",
    "disk",
]
DEVICES = pathlib.Path("/sys/bus/event_source/devices")
EPERM = 1
SYS_PERF_EVENT_OPEN = 298


@pytest.fixture
def doctor(locus, tmp_path):
    """doctor("--java", java) returns the process and its JSON; without JAVA_HOME unless `env` has it."""

    def run(*options, env=None, tool=None, **more):
        env = {"JAVA_HOME": "", **(env or {})}
        arguments = ["doctor", "--json", "-o", tmp_path, *options]
        if tool:
            done = run_command([tool, *arguments], env=env, **more)
        else:
            done = locus(*arguments, env=env, **more)
        assert done.stderr == ""
        return done, json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def told(shared, locus):
    """The process and the JSON of `locus doctor` without further options, of which several tests ask: it starts JVMs."""

    def make(directory):
        done = locus("doctor", "--json", "-o", directory, env={"JAVA_HOME": ""})
        (directory / "told.json").write_text(json.dumps([done.returncode, done.stdout, done.stderr]))

    done = subprocess.CompletedProcess([], *json.loads((shared("doctor", make) / "told.json").read_text()))
    assert done.stderr == ""
    return done, json.loads(done.stdout)


def check(report, name):
    found = [c for c in report["checks"] if c["name"] == name]
    assert len(found) == 1, (name, report)
    return found[0]


def assert_consistent(done, report):
    assert report["format"] == 1
    assert done.returncode == (0 if report["works"] else 1)
    for c in report["checks"]:
        assert set(c) == {"name", "status", "value", "advice"}
        assert c["status"] in ("ok", "limited", "missing")
        assert c["value"] and "\n" not in c["value"] + c["advice"]
        assert (c["status"] == "ok") == (c["advice"] == ""), c
    return report


def java_on_path():
    if not shutil.which("java"):
        pytest.skip("no java on PATH")
    return os.path.realpath(shutil.which("java"))


def version_of(java):
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    return re.search(r'version "([^"]+)"', text).group(1)


def read(path):
    return pathlib.Path(path).read_text().strip()


def effective(capability):
    mask = int(re.search(r"^CapEff:\s*(\w+)", read("/proc/self/status"), re.M).group(1), 16)
    return bool(mask >> capability & 1)


def test_it_says_of_this_machine_what_is_true(told):
    java = java_on_path()
    done, report = told
    assert_consistent(done, report)
    assert [c["name"] for c in report["checks"]] == NAMES
    assert report["works"]
    assert check(report, "kernel")["value"] == "Linux " + os.uname().release
    assert check(report, "perf_event_paranoid")["value"].split(",")[0] == read(
        "/proc/sys/kernel/perf_event_paranoid"
    )
    jdk = check(report, "jdk")
    assert jdk["status"] == "ok"
    assert jdk["value"] == "HotSpot %s (%s)" % (version_of(java), java)
    nodes = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")))
    assert check(report, "numa")["value"].startswith("%d node" % nodes)
    assert check(report, "launcher")["value"] == str(BUILD / "liblocus-preload.so")
    assert check(report, "agent")["value"] == str(BUILD / "liblocus.so")
    assert check(report, "timer")["status"] == "ok"


def test_memory_that_may_be_locked(told):
    _, report = told
    value = check(report, "mlock")["value"]
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if effective(14) or limit == resource.RLIM_INFINITY:
        assert value == "no limit for this user"
    else:
        assert "perf_event_mlock_kb %s for each of " % read("/proc/sys/kernel/perf_event_mlock_kb") in value
        assert "ulimit -l %d:" % (limit // 1024) in value


def test_pmu_and_what_auto_takes(told):
    _, report = told
    present = [n for n in ("cpu", "cpu_core", "cpu_atom", "ibs_op") if (DEVICES / n).exists()]
    pmu, memory = check(report, "pmu"), check(report, "memory_events")
    if not present:
        assert pmu["status"] == "missing" and pmu["value"] == "none"
        guest = " hypervisor" in read("/proc/cpuinfo")
        assert ("virtual machine" in pmu["advice"]) == guest
        assert memory["status"] == "missing"
    for name in present:
        assert "%s (type %s" % (name, read(DEVICES / name / "type")) in pmu["value"]
    assert (report["engine"] == "timer") == (memory["status"] == "missing")


def test_timer_resolution_is_that_of_a_timer(told):
    """Between a tenth of a millisecond (high resolution) and HZ=100."""
    _, report = told
    value = check(report, "timer")["value"]
    found = re.search(r"([\d.]+) (ms|us) of CPU time apart", value)
    assert found, value
    ms = float(found.group(1)) / (1 if found.group(2) == "ms" else 1000)
    assert 0.1 <= ms <= 20


def test_text_says_the_same_as_json(doctor, locus, tmp_path):
    java_on_path()
    done, report = doctor()
    text = locus("doctor", "--output=%s" % tmp_path, env={"JAVA_HOME": ""})
    assert (text.returncode, text.stderr) == (done.returncode, "")
    lines = text.stdout.splitlines()
    for line, c in zip(lines, report["checks"]):
        name, status, rest = line.split(None, 2)
        assert (name, status) == (c["name"], c["status"])
        expected = c["value"] + ("; " + c["advice"] if c["advice"] else "")
        if name == "timer":  # it measures
            rest, expected = (re.sub(r"[\d.]+ (ms|us)", "", t) for t in (rest, expected))
        elif name == "disk":  # and others write
            rest, expected = (re.sub(r"^[\d.]+ ", "", t) for t in (rest, expected))
        assert rest == expected
    rest = lines[len(report["checks"]) :]
    assert rest == ["", "Profiling works here; -e auto uses the engine '%s'." % report["engine"]]


def test_each_jdk_and_its_collectors(doctor, jdk):
    for option, collector in (
        ("-XX:+UseSerialGC", "Serial"),
        ("-XX:+UseParallelGC", "Parallel"),
        ("-XX:+UseG1GC", "G1"),
        ("-XX:+UseZGC", "ZGC"),
    ):
        done, report = doctor("--java", jdk.java, env={"JDK_JAVA_OPTIONS": option})
        assert_consistent(done, report)
        assert check(report, "jdk")["value"] == "HotSpot %s (%s)" % (version_of(jdk.java), jdk.java)
        assert check(report, "collector")["status"] == "ok"
        assert check(report, "collector")["value"].startswith(collector + " ")


def test_java_home_is_checked_beside_path(doctor):
    first = java_on_path()
    others = [j for j in JDKS.values() if os.path.realpath(j.java) != first]
    if not others:
        pytest.skip("only one JDK here")
    done, report = doctor(env={"JAVA_HOME": str(others[0].home)})
    assert_consistent(done, report)
    assert "(%s)" % first in check(report, "jdk")["value"]
    assert check(report, "jdk_home")["value"].startswith("HotSpot %s (" % others[0].version)
    assert check(report, "collector_home")["status"] == "ok"
    _, report = doctor(env={"JAVA_HOME": "/nowhere"})
    assert check(report, "jdk_home")["status"] == "missing"
    assert "JAVA_HOME" in check(report, "jdk_home")["advice"]
    assert report["works"]


def test_without_java_it_fails_and_says_so(doctor, locus, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    done, report = doctor(env={"PATH": str(empty)})
    assert_consistent(done, report)
    assert done.returncode == 1
    jdk = check(report, "jdk")
    assert (jdk["status"], jdk["value"]) == ("missing", "no java on PATH")
    assert "install a JDK" in jdk["advice"]
    text = locus("doctor", "-o", tmp_path, env={"PATH": str(empty), "JAVA_HOME": ""})
    assert text.returncode == 1
    assert text.stdout.endswith("Profiling does not work here: see what is missing above.\n")
    home = jdk_of(min(JDKS, default=0)).home
    done, report = doctor(env={"PATH": str(empty), "JAVA_HOME": str(home)})
    assert report["works"] and done.returncode == 0


@pytest.mark.parametrize(
    "script, status, value, advice",
    [
        ("exit 1", "missing", "cannot be run", "-version"),
        ("echo hello", "missing", "does not print its version", "-version"),
        ("echo 'java version \"1.8.0_402\"' >&2", "missing", "1.8.0_402 is too old", "JDK 11"),
        ("echo 'openjdk version \"17.0.1\"' >&2", "missing", "not HotSpot", "HotSpot"),
    ],
)
def test_java_that_is_of_no_use(doctor, tmp_path, script, status, value, advice):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\n%s\n" % script)
    java.chmod(0o755)
    done, report = doctor("--java", java)
    assert_consistent(done, report)
    jdk = check(report, "jdk")
    assert jdk["status"] == status
    assert value in jdk["value"] and advice in jdk["advice"]
    assert done.returncode == 1


def test_directory_that_cannot_be_written(doctor, tmp_path):
    java_on_path()
    (tmp_path / "file").write_text("")
    for output, reason in (
        (tmp_path / "file" / "p", "Not a directory"),
        ("/proc/p", "No such file or directory"),
    ):
        done, report = doctor("-o", output)
        assert_consistent(done, report)
        disk = check(report, "disk")
        assert disk["status"] == "missing"
        assert str(output) in disk["value"] and reason in disk["value"]
        assert "--output" in disk["advice"]
        assert done.returncode == 1
    before = sorted(tmp_path.iterdir())
    done, report = doctor("-o", tmp_path / "not" / "yet")  # `run` will make it
    disk = check(report, "disk")
    assert disk["status"] in ("ok", "limited")
    assert str(tmp_path) in disk["value"]
    assert sorted(tmp_path.iterdir()) == before


def test_library_that_is_missing_or_broken(doctor, tmp_path):
    java_on_path()
    place = tmp_path / "moved"
    place.mkdir()
    shutil.copy(BUILD / "locus", place)
    shutil.copy(BUILD / "liblocus-preload.so", place)
    done, report = doctor(tool=place / "locus")
    assert_consistent(done, report)
    assert check(report, "launcher")["status"] == "ok"
    assert check(report, "agent")["status"] == "missing"
    assert "build or install Locus again" in check(report, "agent")["advice"]
    assert done.returncode == 1
    for name in ("liblocus.so", "liblocus-preload.so"):
        (place / name).write_bytes(b"\x7fELF is not all that it takes")
    done, report = doctor(tool=place / "locus")
    assert_consistent(done, report)
    assert check(report, "launcher")["status"] == "missing"
    assert "cannot be preloaded" in check(report, "launcher")["value"]
    assert check(report, "agent")["status"] == "missing"
    assert "cannot be loaded" in check(report, "agent")["value"]
    assert done.returncode == 1


def forbid_perf_event_open():
    """A seccomp filter that answers EPERM, as those of containers do."""

    class Filter(ctypes.Structure):
        _fields_ = [
            ("code", ctypes.c_ushort),
            ("jt", ctypes.c_ubyte),
            ("jf", ctypes.c_ubyte),
            ("k", ctypes.c_uint),
        ]

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(Filter))]

    code = (Filter * 4)(
        Filter(0x20, 0, 0, 0),  # load the number of the system call
        Filter(0x15, 0, 1, SYS_PERF_EVENT_OPEN),
        Filter(0x06, 0, 0, 0x00050000 | EPERM),  # SECCOMP_RET_ERRNO
        Filter(0x06, 0, 0, 0x7FFF0000),  # SECCOMP_RET_ALLOW
    )
    program = Program(4, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program)):
        os._exit(99)


def test_seccomp_filter_as_in_a_container(tmp_path):
    """Nothing of perf is left, and profiling still works, with the timer."""
    java_on_path()
    done = subprocess.run(
        [BUILD / "locus", "doctor", "--json", "-o", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "JAVA_HOME": ""},
        preexec_fn=forbid_perf_event_open,
    )
    if done.returncode == 99:
        pytest.skip("this machine has no seccomp filters")
    report = assert_consistent(done, json.loads(done.stdout))
    seccomp = check(report, "seccomp")
    assert seccomp["status"] == "limited"
    assert "--cap-add PERFMON" in seccomp["advice"]
    for name in ("debug_registers", "software_events", "memory_events"):
        assert check(report, name)["status"] == "missing"
    assert "seccomp" in check(report, "software_events")["advice"]
    assert report["engine"] == "timer"
    assert report["works"] and done.returncode == 0


def test_bad_arguments_get_one_line(locus):
    for args, message in (
        (["--jsn"], "did you mean '--json'?"),
        (["now"], "unexpected argument 'now'"),
        (["--java"], "needs a value: FILE"),
    ):
        done = locus("doctor", *args)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr and done.stderr.count("\n") == 1
    assert "--json" in locus("doctor", "--help").stdout
