# SPDX-License-Identifier: Apache-2.0
"""A call of the agent fails: the program ends as it would have, what was recorded can be read, and what is lost is said.

tests/tools/fail_call.c lets one call fail. A place is the chain of functions of the agent that leads to a call.
"""

import collections
import errno
import os
import shutil
import subprocess
import zlib

import pytest
from conftest import BUILD, ROOT, Profile, run_command
from helpers import allocations, by_hand, command, complaints, execute, sites_through
from test_attach import Program, counters, made_in

MADE = 2001  # arrays by Brief.briefAllocate()
STATUS = 3
INPUT = b"what the program reads"
CI_FAULTS = 12  # of each case
ATTACH_FAULTS = 4
PARTS = 2  # of the places at which a call fails: each a test, which runs beside the others
QUICK = ["-XX:TieredStopAtLevel=1", "-Xmx64m"]
KINDS = ("malloc", "mmap", "mprotect", "open", "read", "write", "ftruncate", "mkdir", "rename", "perf_event_open",
         "timer_create", "pthread_create", "dlopen")
# Each is zero where nothing fails.
LOSSES = ("alloc_records_lost", "alloc_unrecorded", "alloc_walk_errors", "classes_no_memory", "engine_timer_no_thread",
          "estimate_copies_lost", "estimate_lost", "gc_copied_lost", "gc_incomplete", "gc_moves_lost", "lines_dropped", "names_dropped",
          "paths_overflow", "samples_unresolved", "span_classes_bodies_lost", "span_classes_failed", "span_timeline_lost",
          "spans_rows_lost", "spans_running_lost", "spans_task_classes_unknown", "spans_tasks_lost")
CASES = {  # name: (JDK, JVM options, options of the agent)
    "default": (17, ["-XX:+UseSerialGC"], ()),
    "own heap": (25, ["-XX:+UseSerialGC"], ()),
    "spans": (25, ["-XX:+UseG1GC"], ("spans=streams;tasks",)),
    "small": (17, ["-XX:+UseParallelGC"], ("min-size=0", "spans=streams;tasks")),
    "ZGC": (25, ["-XX:+UseZGC"], ("min-size=0",)),
}
Call = collections.namedtuple("Call", "failed kind number place frames")  # frames: addresses in the library, innermost first


@pytest.fixture(scope="module")
def fail_call(shared):
    def make(directory):
        compiler = shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            pytest.skip("no C compiler on this machine")
        flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-shared", "-fPIC"]
        source = ROOT / "tests" / "tools" / "fail_call.c"
        subprocess.run([compiler, *flags, "-o", directory / "fail_call.so", source, "-ldl"], check=True, timeout=300)

    return shared("fail-call", make) / "fail_call.so"


def calls_of(log):
    """The library's list of the calls."""
    rows = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return [Call(row[0][0] == "!", row[0].lstrip("!"), int(row[1]), row[2], tuple(int(at, 16) for at in row[3:])) for row in rows]


class Faulty:
    """Runs of Brief with one call that fails."""

    def __init__(self, workload, jdk, java, options, env, directory):
        self.line = command(workload, jdk, "Brief", java=[*QUICK, *java])
        self.options, self.env, self.directory = options, env, directory
        self.bare = execute(self.line, stdin=INPUT)
        assert self.bare.returncode == STATUS
        self.count = 0

    def run(self, fault=None):
        """Returns (the run, the directory of its profile, its calls)."""
        self.count += 1
        directory = self.directory / str(self.count)
        directory.mkdir()
        env = {**self.env, "FAIL_LOG": str(directory / "calls")}
        if fault:
            env["FAIL_CALL"] = fault
        line = by_hand(self.line, directory / "prof", "interval=1ms", *self.options)
        line.insert(1, "-XX:ErrorFile=%s" % (directory / "hs_err"))
        return execute(line, stdin=INPUT, env=env, timeout=300), directory, calls_of(directory / "calls")

    def whole(self):
        """Calls of a run in which none fails, and the lines that it says."""
        run, directory, calls = self.run()
        assert (run.returncode, run.stdout) == (STATUS, self.bare.stdout), run.stderr
        assert not lost_in(run, directory / "prof"), lost_in(run, directory / "prof")
        return calls, complaints(run.stderr)

    def check(self, fault, usual, reason=""):
        """Returns whether the call was made, and failed. If something is lost, a line that has the reason says so."""
        run, directory, calls = self.run(fault)
        what = (fault, run.stderr.decode("utf-8", "replace"))
        assert (run.returncode, run.stdout) == (STATUS, self.bare.stdout), what
        assert not (directory / "hs_err").exists(), what
        said = [line for line in complaints(run.stderr) if line not in usual]
        rest = [line for line in run.stderr.decode().splitlines() if not line.startswith("locus")]
        assert rest == self.bare.stderr.decode().splitlines(), what
        lost = lost_in(run, directory / "prof")
        assert not lost or any(reason in line for line in said), (*what, lost)
        shutil.rmtree(directory)
        return any(call.failed for call in calls)

    def check_all(self, faults, usual):
        """Each of them, whatever the others show."""
        wrong = {}
        for fault in faults:
            try:
                self.check(fault, usual)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                wrong[fault] = str(error)
        assert not wrong, "%d of %d: %s" % (len(wrong), len(faults), wrong)


def lost_in(run, prof):
    """The parts that the profile lacks. One that cannot be read lacks all."""
    done = run_command([BUILD / "locus", "report", "--format=json", prof])
    if done.returncode or not (prof / "manifest.json").exists():
        assert done.returncode > 0 and len(done.stderr.splitlines()) == 1, done.stderr
        return ["all: " + done.stderr]
    profile = Profile(run, prof)
    r = profile.report()
    process = profile.manifest()["processes"][0]
    for limit in process.get("limits", []):
        assert limit["text"] in run.stderr.decode() or limit["kind"] == "blocks_lost" and b"cannot write" in run.stderr, limit
    made = allocations(sites_through(r, "briefAllocate"))
    assert made <= MADE
    c = process["counters"]
    lost = [name for name in LOSSES if c.get(name)]
    lost += ["allocations"] * (made < MADE) + ["samples"] * (not r["samples"]["total"]) + ["end"] * (not process["complete"])
    lost += ["paths"] * any(not site["allocation_path"] for site in r["sites"])
    return lost + ["classes"] * (not c["class_hooks"])


@pytest.fixture
def faulty(workload, fail_call, tmp_path, request):
    def make(case):
        major, java, options = CASES[case]
        name = "jdk17" if major == 17 else "jdk25"
        env = {"LD_PRELOAD": str(fail_call), **({"FAIL_OWN_HEAP": "1"} if case == "own heap" else {})}
        return Faulty(workload, request.getfixturevalue(name), java, options, env, tmp_path)

    return make


def spread_of(calls, most):
    """Faults at so many places: of all kinds but memory, and of memory as many as there is room for, those of libJudy first."""
    first = {}
    for call in calls:
        first.setdefault((call.kind, call.place), call)
    faults = ["%s@%s:1" % key for key in first]
    memory = [fault for fault in faults if fault.startswith("malloc")]
    other = [fault for fault in faults if not fault.startswith("malloc")]
    if not memory:
        return other[:: max(1, len(other) // most)]
    chosen = other[:: max(1, len(other) * 2 // most)]
    judy = ["malloc@%s:1" % call.place for call in first.values() if call.kind == "malloc" and len(call.frames) == 1]
    return chosen + judy + memory[:: max(1, len(memory) // (most - len(chosen)))]


@pytest.mark.parametrize("case", [pytest.param(name, marks=pytest.mark.slow if name in ("small", "ZGC") else ()) for name in CASES])
def test_a_call_that_fails_costs_what_is_said(faulty, case):
    f = faulty(case)
    calls, usual = f.whole()
    assert {"mmap", "open", "write", "timer_create", "pthread_create"} <= {call.kind for call in calls}
    assert ("malloc" in {call.kind for call in calls}) == (case != "own heap")
    faults = spread_of(calls, CI_FAULTS)
    if case == "default":  # the test below has all others
        faults = [fault for fault in faults if fault.startswith("malloc")]
    failed = sum(f.check(fault, usual) for fault in faults)
    assert failed > len(faults) / 2 > 1, (failed, faults)  # threads and collections differ from run to run


@pytest.mark.parametrize("part", range(PARTS))
def test_a_call_fails_at_each_place(faulty, part):
    """Once at each place but the several hundred that take memory."""
    f = faulty("default")
    calls, usual = f.whole()
    places = dict.fromkeys("%s@%s:1" % (call.kind, call.place) for call in calls if call.kind != "malloc")
    faults = [fault for fault in places if zlib.crc32(fault.encode()) % PARTS == part]
    assert len(places) > 60 and len(faults) > 5, places
    failed = sum(f.check(fault, usual) for fault in faults)
    assert failed > len(faults) / 2, (failed, faults)


DISK_ERRORS = (errno.EDQUOT, errno.EIO)


@pytest.mark.parametrize("error", DISK_ERRORS, ids=errno.errorcode.get)
def test_a_disk_that_refuses(faulty, error):
    """A quota that is used up, or a broken disk, from each place on that writes. The places take turns with the errors."""
    f = faulty("default")
    f.env["FAIL_ERROR"] = str(error)
    calls, usual = f.whole()
    places = sorted({(call.kind, call.place) for call in calls if call.kind in ("write", "ftruncate", "mkdir", "rename")})
    places = places[DISK_ERRORS.index(error)::len(DISK_ERRORS)]
    failed = sum(f.check("%s@%s:1+" % place, usual, os.strerror(error)) for place in places)
    assert failed > len(places) / 2, (failed, places)


def turns(calls, kind):
    """A fault of each call of the kind. For memory, which has a hundred thousand calls: the first, middle and last of each place."""
    if kind != "malloc":
        return ["%s:%d" % (kind, i + 1) for i in range(sum(call.kind == kind for call in calls))]
    places = collections.Counter(call.place for call in calls if call.kind == kind)
    return ["%s@%s:%d" % (kind, place, n) for place, most in places.items() for n in sorted({1, (most + 1) // 2, most})]


@pytest.mark.slow
@pytest.mark.seconds(3 * 3600)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_each_call_fails_in_turn(faulty, case, kind):
    f = faulty(case)
    calls, usual = f.whole()
    f.check_all(turns(calls, kind), usual)


@pytest.mark.slow
@pytest.mark.seconds(3600)
@pytest.mark.parametrize("case", CASES)
def test_all_calls_of_a_place_fail(faulty, case):
    f = faulty(case)
    calls, usual = f.whole()
    f.check_all(["%s@%s:1+" % row for row in dict.fromkeys((call.kind, call.place) for call in calls)], usual)


class Attached:
    """Two recordings of one program, in the first of which a call fails."""

    def __init__(self, locus, line, env, directory):
        self.locus, self.line, self.env, self.directory = locus, line, env, directory
        self.count = 0

    def record(self, p, directory):
        """Returns (what is lost, what is said)."""
        begun = self.locus("attach", p.pid, "--interval=1ms", "-o", directory)
        made = p.make(200)
        ended = self.locus("detach", p.pid)
        said = begun.stdout.splitlines()[:-1] + begun.stderr.splitlines() + ended.stderr.splitlines()
        assert not any("has not answered" in line for line in said), said
        assert begun.returncode or not ended.returncode, said
        if begun.returncode:
            return ["all"], said
        counted, report = made_in(directory, self.locus)
        limits = [limit["text"] for limit in report["processes"][0].get("limits", [])]
        lost = ["allocations"] * (counted < made) + ["end"] * (not report["processes"][0]["complete"])
        # The class of the loop that never ends is left as it is, which is to be known.
        lost += ["loop"] * (self.line[-1] == "loop" and not counters(directory)["classes_running"])
        assert counted <= made
        return lost, said + limits

    def run(self, fault=None):
        """Returns the calls of both recordings."""
        self.count += 1
        directory = self.directory / str(self.count)
        directory.mkdir()
        env = {**self.env, "FAIL_LOG": directory / "calls", **({"FAIL_CALL": fault} if fault else {})}
        p = Program(["env", *("%s=%s" % row for row in env.items()), *self.line], directory)
        try:
            lost, said = self.record(p, directory / "first")
            again = self.record(p, directory / "second")
            out, status, lines = p.end()
        finally:
            p.process.kill()
            p.process.wait()
        assert (out, status) == ("storms 1\n", 7), (fault, lines)
        assert [line.strip() for line in lines] == complaints("".join(lines)), lines
        assert not lost or said or lines, (fault, lost)
        assert fault or not lost, lost
        assert again[0] == [], (fault, again)
        return calls_of(directory / "calls")

    def run_all(self, faults):
        """Each of them, whatever the others show."""
        wrong = {}
        for fault in faults:
            try:
                self.run(fault)
            except AssertionError as error:
                wrong[fault] = str(error)
        assert not wrong, wrong


@pytest.fixture
def attached(locus, workload, jdk, fail_call, tmp_path):
    line = command(workload, jdk, "Attach", 1, java=[*QUICK, "-Xmx128m", "-XX:+UseSerialGC"])
    return Attached(locus, line, {"LD_PRELOAD": fail_call}, tmp_path)


def calls_through(calls, function):
    """The calls to which this function of the agent leads."""
    table = subprocess.run(["nm", "-S", "--defined-only", BUILD / "liblocus.so"], check=True, capture_output=True, text=True).stdout
    [row] = [row for row in map(str.split, table.splitlines()) if row[-1] == function]
    begin, length = (int(number, 16) for number in row[:2])
    return [call for call in calls if any(begin < at <= begin + length for at in call.frames)]


@pytest.mark.slow
def test_no_memory_to_find_the_classes_of_a_running_program(attached):
    """Or to keep those that have to wait. `make soak` has a fault at each place of an attach."""
    attached.line.append("loop")
    calls = calls_through(attached.run(), "lc_classes_retransform")
    faults = spread_of([call for call in calls if call.kind == "malloc"], ATTACH_FAULTS)
    assert faults
    attached.run_all(dict.fromkeys(faults))


@pytest.mark.slow
@pytest.mark.parametrize("jdk", [17, 25], indirect=True)
def test_a_call_that_fails_during_attach_or_detach(attached):
    """A second recording is whole, whatever failed in the first."""
    calls = attached.run()
    restores = list(dict.fromkeys(call.place for call in calls if call.kind == "mprotect"))
    attached.run("mprotect@%s:1" % restores[-2])  # one of an import slot
    writes = ["write@%s:1" % call.place for call in calls if call.kind == "write"]  # one is of the answer
    for fault in dict.fromkeys(spread_of(calls[: len(calls) // 2], 4) + writes):
        attached.run(fault)


@pytest.mark.slow
@pytest.mark.seconds(3 * 3600)
def test_each_place_fails_during_attach_and_detach(attached):
    attached.run_all(dict.fromkeys("%s@%s:1" % (call.kind, call.place) for call in attached.run()))
