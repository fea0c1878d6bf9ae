# SPDX-License-Identifier: Apache-2.0
"""`locus attach` and `detach`: a JVM that runs is recorded, and then is as it was."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from conftest import BUILD, JDK_MAJORS
from helpers import COLLECTORS, allocations, collector, command, each_pair, each_value, has_frame, native_library, sites_through, wait_until

WARNINGS = 3  # lines of JDK 21 and later, of an agent that is loaded into a running JVM


class Program:
    """tests/workloads/Attach.java, which runs."""

    def __init__(self, line, cwd):
        self.cwd = cwd
        self.error = open(cwd / "stderr", "w+")
        self.process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.error,
                                        text=True, cwd=cwd)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def make(self, n):
        """Have it allocate; returns how many arrays."""
        self.process.stdin.write("make %d\n" % n)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer.startswith("made "):
            pytest.fail("the program has not answered: " + answer + self.last_words())
        return int(answer.split()[1])

    def last_words(self):
        """The file that a crashed JVM writes."""
        self.process.kill()
        out = self.process.communicate()[0]
        reports = sorted(self.cwd.glob("hs_err*"))
        return out + "".join(report.read_text(errors="replace")[:20_000] for report in reports)

    def end(self):
        """Returns what it says last, its status, and its lines on stderr."""
        out = self.process.communicate("end\n", timeout=300)[0]
        self.error.seek(0)
        return out, self.process.returncode, [line for line in self.error
                                              if not line.startswith("WARNING: ") and "has not returned" not in line]


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


def code_lengths(p, library, jdk, directory):
    """For each loaded class how long the code of its methods is, as the JVM has it."""
    out = directory / "lengths"
    done = subprocess.run([jdk.home / "bin/jcmd", str(p.pid), "JVMTI.agent_load", library, out], check=True,
                          capture_output=True, text=True)
    assert "return code: 0" in done.stdout, done.stdout
    return dict(line.rsplit(" ", 1) for line in out.read_text().splitlines())


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


def test_an_attach_tells_how_far_it_is_and_can_be_ended(locus, workload, tmp_path, jdk):
    """While hooks are put into thousands of classes; afterwards the program can be recorded anew."""
    line = command(workload, jdk, "ManyClasses", 4000)
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as p:
        try:
            assert p.stdout.readline() == "ready\n"
            attach = subprocess.Popen([BUILD / "locus", "attach", str(p.pid), "-o", tmp_path / "p"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
            told = []
            while attach.poll() is None and not told:
                told = re.findall(r"^attaching: instrumenting classes: (\d+) of ([1-9]\d+)$", locus("status", p.pid).stdout, re.M)
            detach = locus("detach", p.pid)
            out, err = attach.communicate(timeout=300)
            assert told, "the attach has ended before it told anything: load more classes"
            assert (detach.returncode, attach.returncode) == (0, 0), (detach.stderr, err)
            done, of = map(int, re.search(r"^'locus detach' is already ending it: (\d+) of (\d+) classes were instrumented$", out, re.M).groups())
            assert int(told[0][0]) <= done < of == int(told[0][1]) and "progress:" not in out
            assert locus("status", p.pid).stdout == "not recording\n"
            assert json.loads((tmp_path / "p" / "manifest.json").read_text())["processes"][0]["complete"]
            assert locus("attach", p.pid, "-o", tmp_path / "q", "--no-hooks").returncode == 0
            assert p.communicate(timeout=300)[0] == "ended\n" and p.returncode == 0
        finally:
            p.kill()


def test_an_attach_that_measures_says_so_and_can_be_ended(locus, program, tmp_path, monkeypatch, jdk):
    """The cost of a span is measured in seconds, or in minutes on a busy machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    p = program(jdk, 1)
    attach = subprocess.Popen([BUILD / "locus", "attach", str(p.pid), "-o", tmp_path / "p", "--spans=streams,tasks"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    told = []
    while attach.poll() is None and not told:
        told = re.findall(r"^attaching: measuring the cost of a span: (\d+) of (\d+)$", locus("status", p.pid).stdout, re.M)
    detach = locus("detach", p.pid)
    out, err = attach.communicate(timeout=300)
    assert told and int(told[0][0]) < int(told[0][1]), (told, out, err)
    assert (detach.returncode, attach.returncode) == (0, 0), (detach.stderr, err)
    assert "'locus detach' is already ending it" in out and "progress:" not in out
    spans = json.loads((tmp_path / "p" / "manifest.json").read_text())["processes"][0]["spans"]
    assert spans["calibration"] == "none" and "could not be measured: Operation canceled" in spans["calibration_warning"]
    assert not list((tmp_path / "cache").glob("locus/calibration-*"))
    cycle(locus, p, tmp_path / "q")
    assert p.end() == ("storms 1\n", 7, [])


@pytest.mark.parametrize("gc", ["Serial", "G1", "Z"])
def test_an_attach_without_hooks_rewrites_no_class(locus, program, tmp_path, jdk, gc):
    """Samples have the class of the objects; what the JVM runs is as it was, and all counts are estimates."""
    library = native_library(jdk, "codelengths", tmp_path)
    p = program(jdk, 3, "gc", java=collector(gc))
    before = code_lengths(p, library, jdk, tmp_path) if library else None
    done = locus("attach", p.pid, "-o", tmp_path / "p", "--no-hooks", "--interval=1ms")
    assert done.returncode == 0, done.stderr
    p.make(20_000)
    if library:
        during = code_lengths(p, library, jdk, tmp_path)
        common = before.keys() & during.keys()
        assert len(common) > 400 and {name: during[name] for name in common} == {name: before[name] for name in common}
        assert "Ljava/lang/LocusHook;" not in during
    assert locus("detach", p.pid).returncode == 0
    assert p.end() == ("storms 3\n", 7, [])
    counted, report = made_in(tmp_path / "p", locus)
    assert counted == 0 and not allocations(report["sites"])
    assert any(has_frame(e["allocation_path"][:1], "one", "Attach$Storm") for e in report["estimates"]), report["estimates"]
    assert report["samples"]["total"] > 20
    text = " ".join(locus("report", tmp_path / "p").stdout.split())
    assert "no class was instrumented (--no-hooks)" in text


@pytest.mark.parametrize("options", [["--spans=streams"], ["--audit"], ["--min-size=100"], ["-e", "watch:Node#1"],
                                     ["-e", "alloc", "--sample-interval=0"]])
def test_what_needs_hooks_is_refused_without(locus, options):
    done = locus("attach", "--no-hooks", *options, "1")
    assert done.returncode == 2 and "omit no-hooks" in done.stderr, done.stderr


def test_what_spans_cost_is_measured_after_an_attach_too(locus, program, tmp_path, monkeypatch, jdk):
    """On the thread of the attach, which is none of the program's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    p = program(jdk, 1)
    done = locus("attach", p.pid, "-o", tmp_path / "p", "--spans=streams,tasks")
    assert done.returncode == 0, done.stderr
    assert "measuring the cost of a span once" in done.stdout + done.stderr
    p.make(100)
    assert p.end() == ("storms 1\n", 7, [])
    spans = json.loads((tmp_path / "p" / "manifest.json").read_text())["processes"][0]["spans"]
    assert (spans["calibration"], spans.get("calibration_warning")) == ("measured", None)
    assert all(cost["mean_cycles"] > 0 for cost in spans["costs"] if cost["name"] in ("inner", "anonymous", "task"))


def test_attached_twice(locus, program, tmp_path, jdk):
    p = program(jdk, 1)
    assert locus("attach", p.pid, "-o", tmp_path / "p").returncode == 0
    again = locus("attach", p.pid, "-o", tmp_path / "q")
    assert (again.returncode, again.stderr) == (1, "locus: this JVM is already being recorded\n")
    made = p.make(1000)
    assert p.end() == ("storms 1\n", 7, [])
    assert made_in(tmp_path / "p", locus)[0] == made


def test_what_is_wrong_is_said_in_a_line(locus, program, tmp_path, jdk17):
    sleeping = subprocess.Popen(["sleep", "60"])
    try:
        assert locus("attach", sleeping.pid).stderr == "locus: process %d is not a JVM\n" % sleeping.pid
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


def test_a_jvm_for_musl_is_refused(locus, tmp_path):
    """A process that maps what such a JVM maps."""
    code = "import mmap, sys\nfiles = [open(p, 'rb') for p in sys.argv[1:]]\nmaps = [mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) for f in files]\nprint(flush=True)\ninput()"
    files = [tmp_path / "libjvm.so", tmp_path / "ld-musl-x86_64.so.1"]
    for f in files:
        f.write_text("code")
    with subprocess.Popen([sys.executable, "-c", code, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        p.stdout.readline()
        done = locus("attach", p.pid)
        p.communicate(b"\n")
    assert done.returncode == 1 and "has the C library musl" in done.stderr and "'make musl'" in done.stderr


@pytest.mark.parametrize("flag, word", [("-XX:+DisableAttachMechanism", "+DisableAttachMechanism"),
                                        ("-XX:-EnableDynamicAgentLoading", "-EnableDynamicAgentLoading"),
                                        ("-Xrs", "-Xrs")])
def test_a_jvm_that_is_not_to_be_attached_to(locus, program, jdk25, flag, word):
    p = program(jdk25, 0, java=[flag])
    done = locus("attach", p.pid)
    assert done.returncode == 1 and word in done.stderr and len(done.stderr.splitlines()) == 1
    assert p.end() == ("storms 0\n", 7, [])


def test_a_jvm_that_has_just_begun(locus, workload, tmp_path, jdk):
    """Attached to as soon as it has mapped its library, and later."""
    line = command(workload, jdk, "Attach", 1, java=["-Xmx256m"])
    for i in range(4):
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
            wait_until("the JVM's library", lambda: "/libjvm.so" in pathlib.Path("/proc/%d/maps" % p.pid).read_text())
            time.sleep(0.02 * i)
            directory = tmp_path / ("p%d" % i)
            done = locus("attach", p.pid, "-o", directory)
            assert done.returncode == 0, done.stderr
            assert p.stdout.readline() == "ready\n"
            p.stdin.write("make 500\n")
            p.stdin.flush()
            assert p.stdout.readline() == "made 2000\n"
            p.stdin.write("end\n")
            p.stdin.flush()
            assert p.stdout.readline() == "storms 1\n" and p.wait() == 7
        assert made_in(directory, locus)[0] >= 2000


def test_a_jvm_that_removes_its_own_socket_is_asked_again(locus, program, tmp_path, jdk):
    """Like a JVM that has not yet removed the files of a killed JVM of its process ID."""
    p = program(jdk, 1)
    path, end = pathlib.Path("/tmp/.java_pid%d" % p.pid), time.monotonic() + 180

    def remove():
        while time.monotonic() < end:
            try:
                return path.unlink()
            except FileNotFoundError:
                continue

    remover = threading.Thread(target=remove)
    remover.start()
    done = locus("attach", p.pid, "-o", tmp_path / "p")
    remover.join()
    assert done.returncode == 0, done.stderr
    # No thread dump, which a JVM prints that is asked while it listens.
    assert p.end() == ("storms 1\n", 7, [])


def test_the_socket_of_a_killed_jvm_is_not_this_ones(locus, program, tmp_path, jdk):
    """One that had the same process ID, and that the JVM, which has just begun, has not removed yet."""
    p = program(jdk, 1)
    path = pathlib.Path("/tmp/.java_pid%d" % p.pid)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
        left.listen()
    try:
        done = locus("attach", p.pid, "-o", tmp_path / "p")
        assert done.returncode == 0, done.stderr
        assert p.end()[:2] == ("storms 1\n", 7)
    finally:
        path.unlink(missing_ok=True)
    assert (tmp_path / "p" / "manifest.json").exists()


LOOKS, BETWEEN_LOOKS = 4, 0.02  # at the open files of a process; seconds


def open_now(proc):
    """The open files of a process, as (number, name)."""
    files = set()
    for fd in (proc / "fd").iterdir():
        try:
            files.add((fd.name, os.readlink(fd)))
        except OSError:
            pass  # closed meanwhile
    return files


def open_files(proc):
    """The names of files that stay open. A JVM opens files of its control group again and again, and closes them at once."""
    files = open_now(proc)
    for _ in range(LOOKS - 1):
        time.sleep(BETWEEN_LOOKS)
        files &= open_now(proc)
    return sorted(name for _, name in files)


def test_files_that_stay_open_are_told_from_others(tmp_path, monkeypatch):
    """The first of these is closed after the first look."""
    with open(tmp_path / "short", "w") as short, open(tmp_path / "long", "w"):
        monkeypatch.setattr(time, "sleep", lambda _: short.close())
        files = state(os.getpid())["fds"]
    assert str(tmp_path / "long") in files and str(tmp_path / "short") not in files


def state(pid):
    """The state of a process that a guest may leave behind."""
    proc = pathlib.Path("/proc/%d" % pid)
    status = dict(line.split(":\t", 1) for line in (proc / "status").read_text().splitlines() if ":\t" in line)
    names = []
    for task in (proc / "task").iterdir():
        try:
            names.append((task / "comm").read_text().strip())
        except OSError:
            pass  # ended meanwhile
    return {
        "fds": [name for name in open_files(proc) if not name.startswith("socket:")],  # the attach listener's
        "threads": sorted(name for name in names if "ocus" in name),
        "handlers": status["SigCgt"],
        "ignored": status["SigIgn"],
        "timers": (proc / "timers").read_text(),
        "rss": int(status["VmRSS"].split()[0]),
        "maps": len((proc / "maps").read_text().splitlines()),
        "slots": copies_sealed(proc),
    }


def copies_sealed(proc):
    """Pages of libjvm that can be written, as (offset, length): the import slots are sealed."""
    maps = [line.split() for line in (proc / "maps").read_text().splitlines() if line.endswith("/libjvm.so")]
    return [(row[1], row[2]) for row in maps]


def cycle(locus, p, directory, *options):
    done = locus("attach", p.pid, "-o", directory, *options)
    assert done.returncode == 0, done.stderr
    made = p.make(500)
    done = locus("detach", p.pid)
    assert done.returncode == 0, done.stderr
    return made


CYCLES = [pytest.param(2, id="few"), pytest.param(100, id="many", marks=[pytest.mark.slow, pytest.mark.seconds(3600)])]
# With these, nearly all that the JVM has committed is resident from the beginning, and the rest is what others have.
MEASURED = ["-XX:+UseSerialGC", "-Xms256m", "-XX:+AlwaysPreTouch", "-XX:NativeMemoryTracking=summary"]
GROWTH = 96  # KiB a cycle of the rest; 47 and 55 were measured: what malloc keeps beside what it is asked for, and pages of libjvm


def memory_of_jvm(p, jdk):
    """The memory that the JVM has committed, in KiB. Each retransformation leaves it metadata: 0.1 to 0.5 MB for the classes of a cycle."""
    done = subprocess.run([jdk.home / "bin/jcmd", str(p.pid), "VM.native_memory", "summary"], check=True,
                          capture_output=True, text=True)
    return int(re.search(r"^Total: .*committed=(\d+)KB", done.stdout, re.M).group(1))


@pytest.mark.few(1)
@pytest.mark.parametrize("cycles", CYCLES)
@each_value(jdk=JDK_MAJORS, options=((), ("--spans=streams,tasks",), ("--min-size=0",), ("-e", "fault")))
def test_nothing_is_left_after_detach(locus, program, tmp_path, jdk, options, cycles):
    p = program(jdk, 1, "gc", java=MEASURED if cycles >= 100 else ())
    p.make(1000)
    before = state(p.pid)
    rest = []
    for i in range(cycles):
        made = cycle(locus, p, tmp_path / ("p%d" % i), *options)
        assert made_in(tmp_path / ("p%d" % i), locus)[0] == made
        after = state(p.pid)
        for what in ("fds", "threads", "handlers", "ignored", "timers", "slots"):
            assert after[what] == before[what], what
        shutil.rmtree(tmp_path / ("p%d" % i))
        if cycles >= 100 and i >= 10:
            rest.append(after["rss"] - memory_of_jvm(p, jdk))
            print("cycle %d: resident %d KiB, of which the JVM's %d" % (i, after["rss"], after["rss"] - rest[-1]))
    assert not rest or rest[-1] - rest[0] < GROWTH * len(rest), rest
    assert p.make(500) == 2000
    assert p.end() == ("storms 1\n", 7, [])


def test_no_class_keeps_a_hook(locus, program, tmp_path, jdk):
    library = native_library(jdk, "codelengths", tmp_path)
    if not library or not (jdk.home / "bin/jcmd").exists():
        pytest.skip("no C compiler, or no jcmd")
    p = program(jdk, 1)
    p.make(1000)
    before = code_lengths(p, library, jdk, tmp_path)
    assert locus("attach", p.pid, "-o", tmp_path / "p", "--spans=streams,tasks").returncode == 0
    during = code_lengths(p, library, jdk, tmp_path)
    longer = [name for name in before if int(during.get(name, 0)) > int(before[name])]
    assert len(longer) > 20 and "LAttach$Maker;" in longer
    assert locus("detach", p.pid).returncode == 0
    after = code_lengths(p, library, jdk, tmp_path)
    assert {name: n for name, n in after.items() if before.get(name, n) != n} == {}
    assert p.end() == ("storms 1\n", 7, [])


def best_compiled(p, jdk):
    """The program's methods that compiled code is in use of, from the compiler that optimises most."""
    done = subprocess.run([jdk.home / "bin/jcmd", str(p.pid), "Compiler.codelist"], check=True, capture_output=True,
                          text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[3].partition("(")[0] for row in rows if len(row) > 3 and row[1:3] == ["4", "0"] and "Many" in row[3]}


def test_what_was_compiled_is_compiled_again(locus, workload, tmp_path, jdk):
    if not (jdk.home / "bin/jcmd").exists():
        pytest.skip("no jcmd")
    hot = {"ManyClasses.turn"} | {"Many%05d.apply" % i for i in range(0, 200, 2)}
    p = Program([jdk.java, "-Xmx256m", "-cp", workload(jdk, "bench/ManyClasses"), "ManyClasses", "200"], tmp_path)
    try:
        wait_until("compiled methods", lambda: hot <= best_compiled(p, jdk))
        assert locus("attach", p.pid, "-o", tmp_path / "p").returncode == 0
        assert locus("detach", p.pid).returncode == 0
        wait_until("compiled methods", lambda: hot <= best_compiled(p, jdk))
    finally:
        p.process.kill()
        p.process.wait()


def test_the_time_is_up(locus, program, tmp_path, jdk):
    p = program(jdk, 1)
    before = state(p.pid)
    assert locus("attach", p.pid, "-o", tmp_path / "p", "-d", "500ms").returncode == 0
    wait_until("the end of the threads", lambda: state(p.pid)["threads"] == [])
    after = state(p.pid)
    assert all(after[what] == before[what] for what in ("fds", "handlers", "timers"))
    made = cycle(locus, p, tmp_path / "q")
    assert made_in(tmp_path / "q", locus)[0] == made
    assert p.end() == ("storms 1\n", 7, [])


def test_detached_before_the_time_is_up_and_not_attached(locus, program, tmp_path, jdk):
    p = program(jdk, 1)
    assert locus("detach", p.pid).stderr == "locus: JVM %d has no Locus agent\n" % p.pid
    cycle(locus, p, tmp_path / "p", "--duration=100s")
    again = locus("detach", p.pid)
    assert (again.returncode, again.stderr) == (1, "locus: this JVM is not being recorded\n")
    assert p.end() == ("storms 1\n", 7, [])


def test_a_start_that_failed_can_be_tried_again(locus, program, tmp_path, jdk):
    p = program(jdk, 1)
    before = state(p.pid)
    assert locus("attach", p.pid, "-o", "/proc/none/x").returncode == 1
    assert all(state(p.pid)[what] == before[what] for what in ("fds", "threads", "handlers", "timers", "slots"))
    made = cycle(locus, p, tmp_path / "p")
    assert made_in(tmp_path / "p", locus)[0] == made
    assert p.end() == ("storms 1\n", 7, [])


def test_status_and_dump(locus, program, tmp_path, jdk):
    p = program(jdk, 1)
    assert locus("status", p.pid).stderr == "locus: JVM %d has no Locus agent\n" % p.pid
    assert locus("attach", p.pid, "-o", tmp_path / "p", "--interval=2ms").returncode == 0
    made = p.make(700)
    done = locus("dump", p.pid)
    assert (done.returncode, done.stdout) == (0, "written to %s\n" % (tmp_path / "p"))
    assert made_in(tmp_path / "p", locus)[0] == made
    with concurrent.futures.ThreadPoolExecutor(6) as pool:  # as `locus top` and others meet: each has its answer
        assert {done.stderr for done in pool.map(lambda _: locus("dump", p.pid), range(12))} == {""}
    done = locus("status", p.pid)
    assert done.returncode == 0 and str(tmp_path / "p") in done.stdout and "interval=2ms" in done.stdout
    made += p.make(700)
    assert locus("detach", p.pid).returncode == 0
    assert made_in(tmp_path / "p", locus)[0] == made
    assert locus("status", p.pid).stdout == "not recording\n"
    assert locus("dump", p.pid).returncode == 1
    assert p.end() == ("storms 1\n", 7, [])


def test_a_full_disk_where_the_answer_belongs(locus, workload, tmp_path, tmp_path_factory, jdk):
    """The program has a small /tmp of its own. The command says at once what is wrong, and begins nothing.

    The build may lie below /tmp too. It has to be there for the program, since a copy of the library would find no room.
    """
    base = tmp_path_factory.getbasetemp()
    if base.name.startswith("popen-"):  # of one of several workers, whose programs are beside it
        base = base.parent
    script = 'exec 8<"$0" 9<"$1" && mount -t tmpfs -o size=256k none /tmp && mkdir -p "$0" "$1" && ' \
        'mount -c --bind /proc/self/fd/8 "$0" && mount -c --bind /proc/self/fd/9 "$1" && shift && exec "$@"'
    apart = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, base, BUILD]
    tried = subprocess.run([*apart, "true"], check=False, capture_output=True, text=True)
    if tried.returncode:
        pytest.skip("no such mounts may be made here: %s" % tried.stderr.strip())
    p = Program([*apart, *command(workload, jdk, "Attach", 1, java=["-XX:-UsePerfData"])], tmp_path)
    filler = pathlib.Path("/proc/%d/root/tmp/filler" % p.pid)
    try:
        with pytest.raises(OSError), open(filler, "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        refused = locus("attach", p.pid, "-o", tmp_path / "p")
        assert refused.returncode == 1 and len(refused.stderr.splitlines()) == 1, refused.stderr
        assert "no room for the agent's answer" in refused.stderr and "No space left on device" in refused.stderr
        assert not (tmp_path / "p").exists() and sorted(path.name for path in filler.parent.iterdir() if "reply" in path.name) == []
        filler.unlink()
        made = cycle(locus, p, tmp_path / "p")
        assert made_in(tmp_path / "p", locus)[0] == made
        assert p.end() == ("storms 1\n", 7, [])
    finally:
        p.process.kill()
        p.process.wait()


@pytest.mark.xdist_group("container")  # both are process 1 of one /tmp
def test_a_program_in_a_container(locus, workload, tmp_path, jdk):
    """One with its own process IDs and mounts, which does not see the agent's library."""
    apart = ["unshare", "--mount", "--pid", "--fork"]
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no namespace may be made here")
    classes = shutil.copytree(workload(jdk, "Attach"), tmp_path / "classes")  # theirs may be below BUILD
    line = command(lambda *_: classes, jdk, "Attach", 1, java=["-XX:-UsePerfData"])
    p = Program([*apart, "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', BUILD, *line], tmp_path)
    try:
        p.pid = int(pathlib.Path("/proc/%d/task/%d/children" % (p.pid, p.pid)).read_text().split()[0])
        made = cycle(locus, p, tmp_path / "p")
        assert made_in(tmp_path / "p", locus)[0] == made
        assert "/.locus-" in pathlib.Path("/proc/%d/maps" % p.pid).read_text()
        assert locus("status", p.pid).stdout == "not recording\n"
        done = locus("attach", p.pid)  # a relative directory is below its own /tmp
        assert done.stdout == "recording into /tmp/locus-1\n"
        assert p.end()[:2] == ("storms 1\n", 7)
    finally:
        p.process.kill()
        p.process.wait()
        shutil.rmtree("/tmp/locus-1", ignore_errors=True)


def test_classes_that_run_are_changed_first(locus, workload, tmp_path, jdk):
    """The three classes that run would be anywhere among 203 in the order in which the JVM lists them."""
    log = tmp_path / "classes.log"
    line = command(workload, jdk, "HottestClasses", 200, 3, java=["-Xlog:redefine+class+load=info:file=%s" % log])
    with subprocess.Popen([str(word) for word in line], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout.readline() == b"ready\n"
            done = locus("attach", program.pid, "-o", tmp_path / "p")
            assert done.returncode == 0, done.stderr
            assert locus("detach", program.pid).returncode == 0
        finally:
            program.kill()
    changed = re.findall(r"redefined name=HottestClasses\$(Cold|Hot)\b", log.read_text())
    attached = changed[:203]  # the detach changes them back
    assert len(attached) == 203 and attached[:3] == ["Hot"] * 3 and attached.count("Hot") == 3, attached


@pytest.mark.parametrize("gc,heap", [("Serial", "-Xmn2g"), ("Serial", "-Xmn16m"), ("G1", "-Xmn16m")])
def test_objects_older_than_the_recording_get_no_line(locus, workload, tmp_path, jdk, gc, heap):
    """The objects that are read were allocated before; others of their class are allocated meanwhile, and not read."""
    line = command(workload, jdk, "OldObjects", java=["-Xms3g", "-Xmx3g", heap, *collector(gc)])
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout.readline() == "ready\n"
            assert locus("attach", p.pid, "-o", tmp_path / "p", "--interval=1ms", "--budget=none", "--duration=4s").returncode == 0
            wait_until("the end", lambda: locus("status", p.pid).stdout == "not recording\n")
            p.communicate(timeout=300)
        finally:
            p.kill()
    r = json.loads(locus("report", "--format=json", "--top=1000", tmp_path / "p").stdout)
    rows = {(row["allocated_at"] or {}).get("method"): row["samples"] for row in r["ranking"]["rows"]
            if row["class"] == "OldObjects$Item"}
    read = sum(a["samples"] for c in r["classes"] if c["class"] == "OldObjects$Item" for a in c["accesses"]
               if a["path"][0]["method"] == "read")
    assert read > 500, r["classes"][:1]
    assert rows[None] > 0.95 * read and rows.get("young", 0) < 0.05 * read, rows
