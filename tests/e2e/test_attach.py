"""`locus attach` and `detach`: a JVM that runs is recorded, and then is as it was."""

import json
import signal
import subprocess

import pytest
from conftest import JDK_MAJORS
from helpers import COLLECTORS, allocations, collector, command, each_pair, sites_through

WARNINGS = 3  # lines of JDK 21 and later, of an agent that is loaded into a running JVM


class Program:
    """tests/workloads/Attach.java, which runs."""

    def __init__(self, line, cwd):
        self.error = open(cwd / "stderr", "w+")
        self.process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.error,
                                        text=True, cwd=cwd)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def make(self, n):
        """Have it allocate; returns how many arrays."""
        self.process.stdin.write("make %d\n" % n)
        self.process.stdin.flush()
        word, made = self.process.stdout.readline().split()
        assert word == "made"
        return int(made)

    def end(self):
        """Returns what it says last, its status, and its lines on stderr."""
        out = self.process.communicate("end\n", timeout=60)[0]
        self.error.seek(0)
        return out, self.process.returncode, [line for line in self.error if not line.startswith("WARNING: ")]


@pytest.fixture
def program(workload, tmp_path):
    started = []

    def start(jdk, *args, java=()):
        started.append(Program(command(workload, jdk, "Attach", *args, java=["-Xmx256m", *java]), tmp_path))
        return started[-1]

    yield start
    for p in started:
        p.process.kill()
        p.process.wait()


def counters(directory):
    return json.loads((directory / "manifest.json").read_text())["processes"][0]["counters"]


def made_in(directory, locus):
    report = json.loads(locus("report", "--format=json", "--top=100000", directory).stdout)
    return allocations(sites_through(report, "make", "Attach$Maker")), report


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS, storm=("gc", "loop"))
def test_a_running_program_is_recorded_exactly(locus, program, tmp_path, jdk, gc, storm):
    p = program(jdk, 3, storm, java=collector(gc))
    p.make(1000)
    done = locus("attach", p.pid, "-o", tmp_path / "p", "--interval=1ms")
    assert done.returncode == 0, done.stderr
    made = p.make(20_000)
    assert p.end() == ("storms 3\n", 7, [])
    counted, report = made_in(tmp_path / "p", locus)
    assert counted == made
    assert report["samples"]["total"] > 20
    c = counters(tmp_path / "p")
    assert c["gc_incomplete"] <= 1 and c["alloc_records_lost"] == 0
    # The loop that never ends is left alone, and its thread allocates all the same.
    assert c["classes_running"] >= (storm == "loop")
    assert not sites_through(report, "run", "Attach$Loop")


def test_attached_twice(locus, program, tmp_path, jdk):
    p = program(jdk, 1)
    assert locus("attach", p.pid, "-o", tmp_path / "p").returncode == 0
    again = locus("attach", p.pid, "-o", tmp_path / "q")
    assert (again.returncode, again.stderr) == (1, "locus: this JVM is being profiled already\n")
    made = p.make(1000)
    assert p.end() == ("storms 1\n", 7, [])
    assert made_in(tmp_path / "p", locus)[0] == made


def test_what_is_wrong_is_said_in_a_line(locus, program, tmp_path, jdk17):
    sleeping = subprocess.Popen(["sleep", "60"])
    try:
        assert locus("attach", sleeping.pid).stderr == "locus: process %d is no JVM\n" % sleeping.pid
    finally:
        sleeping.kill()
        sleeping.wait()
    gone = locus("attach", sleeping.pid)
    assert (gone.returncode, gone.stderr) == (1, "locus: there is no process %d\n" % sleeping.pid)
    assert locus("attach", "x1").returncode == 2 and locus("attach").returncode == 2
    p = program(jdk17, 0)
    bad = locus("attach", p.pid, "-o", "/proc/none/x")
    assert bad.returncode == 1 and "/proc/none/x" in bad.stderr and len(bad.stderr.splitlines()) == 1
    p.process.send_signal(signal.SIGSTOP)
    stopped = locus("attach", p.pid)
    p.process.send_signal(signal.SIGCONT)
    assert stopped.returncode == 1 and "is stopped" in stopped.stderr
    assert p.end() == ("storms 0\n", 7, [])


@pytest.mark.parametrize("flag, word", [("-XX:+DisableAttachMechanism", "+DisableAttachMechanism"),
                                        ("-XX:-EnableDynamicAgentLoading", "-EnableDynamicAgentLoading"),
                                        ("-Xrs", "-Xrs")])
def test_a_jvm_that_is_not_to_be_attached_to(locus, program, jdk25, flag, word):
    p = program(jdk25, 0, java=[flag])
    done = locus("attach", p.pid)
    assert done.returncode == 1 and word in done.stderr and len(done.stderr.splitlines()) == 1
    assert p.end() == ("storms 0\n", 7, [])
