# SPDX-License-Identifier: Apache-2.0
"""Run the programs of tests/evaluation/ in turn as they are and with each profiler, and keep what each run took and told.

A round has one run of each variant of each program, and ends before the next begins: whenever it is stopped, programs have
equally many pairs, give or take one. The order of the variants changes with the round, so that a drift of the machine
favours no one.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import benchd
import programs
from results import slug

LOCUS = benchd.run.BUILD / "locus"
LIMIT_SECONDS = 300  # a run that takes longer hangs
DUMP_SECONDS = 5  # in which a JVM that hangs says what its threads do
TOP = 10

# Options of locus run, or of async-profiler; of JFR what it is started with.
LOCUS_OPTIONS = {"locus": [], "locus spans": ["--spans=streams,tasks"], "locus min-size 0": ["--min-size=0"]}
ASYNC_EVENTS = {"async-profiler cpu": "cpu", "async-profiler cpu,alloc": "cpu,alloc"}
JFR = "JFR profile"
PEERS = (*ASYNC_EVENTS, JFR)  # what they cost does not depend on the build of Locus
VARIANTS = ("bare", *LOCUS_OPTIONS, *PEERS)

# In so many rounds at most: enough for an interval, and Locus's default and its peers have the time for more.
FEWER_ROUNDS = {"locus spans": 5, "locus min-size 0": 5}


class Failed(Exception):
    """A run did not end as it should. `told`: what it has printed; of one that hung what its threads did, of a crash what the JVM says."""

    def __init__(self, why, told=""):
        super().__init__(why)
        self.told = told


@dataclasses.dataclass
class Place:
    """Where runs are made: the JDK, a directory for what they write, async-profiler's library, and where profiles are kept."""

    home: pathlib.Path
    work: pathlib.Path
    library: pathlib.Path
    profiles: pathlib.Path

    def command(self, words, variant):
        if variant in LOCUS_OPTIONS:
            return [str(LOCUS), "run", "-o", str(self.work / "profile"), *LOCUS_OPTIONS[variant], "--", *words]
        if variant in ASYNC_EVENTS:
            options = "start,event=%s,loglevel=none,file=%s" % (ASYNC_EVENTS[variant], self.work / "async.jfr")
            return [words[0], "-agentpath:%s=%s" % (self.library, options), *words[1:]]
        if variant == JFR:
            options = "-XX:StartFlightRecording:settings=profile,filename=%s" % (self.work / "flight.jfr")
            return [words[0], options, "-Xlog:jfr+startup=off", *words[1:]]
        return words


def call(program, size):
    """How a program is called, without what hangs on the machine."""
    return [program.main, *program.java, *getattr(program, size), program.result[size]]


def end(process):
    """Ends a run before its end, with all that it started."""
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.killpg(process.pid, signal.SIGKILL)


def of_session(session):
    """Directories in /proc of the processes of a session."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[3]) == session:
                found.append(stat.parent)
        except OSError:  # it has ended
            continue
    return found


def expire(process, expired, threads):
    """Ends a run that hangs: its JVM prints what its Java threads do first, and all threads' states go to `threads`."""
    expired.set()
    for place in of_session(process.pid):
        try:
            for task in sorted((place / "task").iterdir(), key=lambda t: int(t.name)):
                threads.append("%s %s %s: %s" % (place.name, task.name, (task / "comm").read_text().strip(), (task / "stat").read_text().strip()))
            if (place / "comm").read_text().strip() == "java":
                os.kill(int(place.name), signal.SIGQUIT)
        except OSError:
            continue
    time.sleep(DUMP_SECONDS)
    end(process)


def timed(command, work):
    """Runs a command in an empty directory: (its standard output, what it took). Raises Failed."""
    shutil.rmtree(work / "run", ignore_errors=True)
    (work / "run").mkdir()
    expired, threads = threading.Event(), []
    with open(work / "out", "wb") as out, open(work / "errors", "wb") as errors:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, cwd=work / "run",
                                   start_new_session=True)
        timer = threading.Timer(LIMIT_SECONDS, expire, (process, expired, threads))
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # whoever ends the measurement ends its run
            end(process)
            raise
        finally:
            timer.cancel()
            timer.join()
        seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    told, said = ((work / name).read_text(errors="replace") for name in ("out", "errors"))
    if expired.is_set():
        raise Failed("still running after %d s" % LIMIT_SECONDS, "\n".join([told, said, *threads]))
    if status:
        lines = [text for text in said.strip().splitlines() if not text.startswith("locus: ")] or said.strip().splitlines()
        crashes = [path.read_text(errors="replace") for path in sorted((work / "run").glob("hs_err_pid*.log"))]
        raise Failed("ended with %d: %s" % (process.returncode, lines[-1] if lines else "no message"), "\n".join([told, said, *crashes]))
    return told, {
        "wall": seconds, "cpu": usage.ru_utime + usage.ru_stime, "rss_mb": usage.ru_maxrss / 1024}


def signal_of(failed):
    """The signal that ended a run, of why it failed; None where it ended by itself. A shell adds 128 to the signal's number."""
    status = re.match(r"ended with (-?\d+)(?::|$)", failed)
    number = int(status[1]) if status else 0
    fatal = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV)
    return -number if number < 0 else number - 128 if number - 128 in fatal else None


def label(row):
    """What a row of the ranking is called here: the class, and the line that allocates."""
    at = row["allocated_at"]
    return row["class"] + (" of %s.%s:%d" % (at["class"], at["method"], at["line"]) if at else "")


def read_report(profile):
    """What the evaluation takes of a profile's report."""
    text = subprocess.run([LOCUS, "report", profile, "--format=json", "--top=%d" % TOP], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    report = json.loads(text)
    where = report["details"]["where"]
    return {"samples": report["samples"], "java_code": where["compiled"] + where["stub"],
            "top": [label(row) for row in report["ranking"]["rows"][:TOP]]}


def keep(profile, target):
    """Moves a profile to where those of one program are."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target, ignore_errors=True)
    shutil.move(profile, target)


def keep_told(told, target):
    """Writes down what a run that failed has told."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(told, encoding="utf-8")
    print("evaluate: what it told is in %s" % target, file=sys.stderr)


def run_once(place, program, words, size, variant, number):
    """Runs a variant once; returns its figures, or why it does not count."""
    shutil.rmtree(place.work / "profile", ignore_errors=True)
    try:
        out, figures = timed(place.command(words, variant), place.work)
        last = (out.splitlines() or [""])[-1]
        if last != "result: " + program.result[size]:
            raise Failed("printed %r in place of its result" % last[:200])
        if variant in LOCUS_OPTIONS:
            figures["report"] = read_report(place.work / "profile")
    except (Failed, subprocess.CalledProcessError, json.JSONDecodeError) as error:
        if getattr(error, "told", ""):
            keep_told(error.told, place.profiles.parent / "failed" / ("%s-%s-%03d.txt" % (slug(program.name), slug(variant), number)))
        return {"failed": str(error)}
    if variant == "locus":
        keep(place.work / "profile", place.profiles / slug(program.name) / ("%03d" % number))
    return figures


def order(variants, number):
    """The variants as a round runs them: the first one changes, and every other round goes backwards."""
    turn = number // 2 % len(variants)
    turned = variants[turn:] + variants[:turn]
    return turned if number % 2 == 0 else turned[::-1]


def of_round(variants, number, most):
    """The variants that a round has; `most`: of some how many rounds there are."""
    return tuple(v for v in variants if number < most.get(v, number + 1))


def missing(results, chosen, variants, number):
    """[(program, variant)] of a round that has not been run."""
    return [(p, v) for p in chosen for v in order(variants, number) if (p.name, number, v) not in results.runs]


def expected_seconds(results, chosen, variants, number):
    """How long the rest of a round takes if it takes as long as the last one; 0 where that is not known."""
    names = {p.name for p in chosen}
    known = [r for (name, n, variant), r in results.runs.items() if name in names and variant in variants and n == number - 1]
    return sum(r["took"] for r in known)


def calibrate(place, program):
    """Runs a program once with spans: what they cost is measured in the first run of a JVM, which is none that counts."""
    run_once(place, program, programs.command(program, "quick", place.home), "quick", "locus spans", 0)


def variants_here(work, asked):
    """(async-profiler's library, the variants that can be run here); one that cannot is told."""
    try:
        return benchd.fetch.async_profiler(work), asked
    except SystemExit as error:
        print("evaluate: async-profiler is left out: %s" % error, file=sys.stderr)
        return None, tuple(v for v in asked if v not in ASYNC_EVENTS)


def show(program, variant, number, figures):
    told = figures.get("failed") or "%.2f s CPU, %.2f s, %.0f MB" % (figures["cpu"], figures["wall"], figures["rss_mb"])
    print("%s  round %d  %-20s %-26s %s%s" % (time.strftime("%H:%M:%S"), number + 1, program.name, variant,
                                              "LEFT OUT: " if "failed" in figures else "", told), file=sys.stderr, flush=True)


def note_machine(results, version, home):
    """Facts of the whole measurement."""
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(), re.M)
    release = dict(re.findall(r'^(\w+)="(.*)"$', (home / "release").read_text(), re.M))
    system = dict(re.findall(r'^(\w+)="?(.*?)"?$', pathlib.Path("/etc/os-release").read_text(), re.M))
    results.note("date", time.strftime("%Y-%m-%d"))
    results.note("processor", model[1] if model else "unknown")
    results.note("CPUs", os.cpu_count())
    results.note("memory_gb", round(int(memory[1]) / 2**20, 1))
    results.note("system", "%s, Linux %s" % (system.get("PRETTY_NAME", "unknown"), os.uname().release))
    results.note("jdk", "%s %s" % (release.get("IMPLEMENTOR", "JDK"), release.get("JAVA_VERSION", version)))
    results.note("build", benchd.run.build_id())
    results.note("async-profiler", benchd.programs.ASYNC.rsplit(":", 1)[1])


def note_engine(results, version, place):
    """By what means async-profiler sampled: it differs with what the machine allows."""
    if "async-profiler by" not in results.facts and (place.work / "async.jfr").exists():
        machine = benchd.run.Machine(version, place.home, place.work, place.library)
        results.note("async-profiler by", machine.engine())


def measure(results, version, home, chosen, size, pairs, seconds, profiles, asked=VARIANTS, most=None):
    """Runs what is missing of so many rounds of the variants, of some at most `most`; returns whether there was time for all.

    It begins no round that would not end in so many seconds if it takes as long as the last one.
    """
    start, most = time.monotonic(), most or {}
    if not any(missing(results, chosen, of_round(asked, number, most), number) for number in range(pairs)):
        return True
    programs.build(home, chosen)
    commands = {p.name: programs.command(p, size, home) for p in chosen}
    with tempfile.TemporaryDirectory(prefix="locus-evaluate-") as directory:
        work = pathlib.Path(directory)
        library, variants = variants_here(work, asked)
        place = Place(home, work, library, profiles)
        note_machine(results, version, home)
        calibrate(place, chosen[0])
        for number in range(pairs):
            spent = time.monotonic() - start
            here = of_round(variants, number, most)
            wanted = missing(results, chosen, here, number)
            if wanted and spent + expected_seconds(results, chosen, here, number) > seconds:
                return False
            for program, variant in wanted:
                begin = time.monotonic()
                figures = run_once(place, program, commands[program.name], size, variant, number)
                results.append({"program": program.name, "call": call(program, size), "round": number, "variant": variant,
                                "load": os.getloadavg()[0], "took": time.monotonic() - begin, **figures})
                show(program, variant, number, figures)
                if variant in ASYNC_EVENTS and "failed" not in figures:
                    note_engine(results, version, place)
    return True


def repeatability(chosen, profiles):
    """What `locus repeat` says of each program's kept profiles: {name: the table of objects}."""
    told = {}
    for program in chosen:
        kept = sorted((profiles / slug(program.name)).glob("*"))
        if not kept:
            continue
        done = subprocess.run([LOCUS, "repeat", "--format=json", "--top=%d" % TOP, *kept], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 3):
            print("evaluate: %s: %s" % (program.name, done.stderr.strip()), file=sys.stderr)
            continue
        report = json.loads(done.stdout)
        objects = next((t for t in report["tables"] if t["kind"] == "objects"), None)
        if objects:
            told[program.name] = {"counted": report["counted"], "samples": report["samples"], "objects": objects}
    return told
