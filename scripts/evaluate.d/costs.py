# SPDX-License-Identifier: Apache-2.0
"""Run the programs of tests/evaluation/ in turn as they are and with each profiler, and keep what each run took and told.

A round has one run of each variant of each program, and ends before the next begins: whenever it is stopped, programs have
equally many pairs, give or take one. A program's runs of a round are made in one go, on one machine. The order of the variants
changes with the round, so that a drift of the machine favours no one.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import benchd
import programs
import usage
from results import slug

LOCUS = benchd.run.BUILD / "locus"
LIMIT_SECONDS = 300  # a run that takes longer hangs
DUMP_SECONDS = 5  # in which a JVM that hangs says what its threads do
TOP = 10

# Options of locus run, of async-profiler's agent, and of a recording of JFR.
LOCUS_OPTIONS = {"locus": [], "locus no-hooks": ["--no-hooks"], "locus spans": ["--spans=streams,tasks"], "locus min-size 0": ["--min-size=0"]}
ASYNC_ALLOC, JFR, JFR_CPU = "async-profiler cpu,alloc", "JFR profile", "JFR CPU time"
ASYNC_OPTIONS = {"async-profiler cpu": "event=cpu", ASYNC_ALLOC: "event=cpu,alloc",
                 "async-profiler cpu,alloc, 5 ms": "event=cpu,interval=5ms,alloc=128k"}  # the intervals that Locus begins with
JFR_OPTIONS = {"JFR default": "settings=default", JFR: "settings=profile",
               JFR_CPU: "settings=default,jdk.CPUTimeSample#enabled=true,jdk.ExecutionSample#enabled=false"}
JFR_CPU_JDK = 25  # the least
PEERS = (*ASYNC_OPTIONS, *JFR_OPTIONS)  # what they cost does not depend on the build of Locus
VARIANTS = ("bare", *LOCUS_OPTIONS, *PEERS)
LONG_VARIANTS = ("bare", "locus", ASYNC_ALLOC, JFR)

# How many rounds there are of each kind: the fewest that have an interval that is not all of them, and of dear ones the least
# of an interval. Some variants have fewer: Locus's default and its peers have the time for more.
ROUNDS = {"program": 12, "kernel": 12, "long": 7, "server": 7}
FEWER_ROUNDS = {"locus no-hooks": 6, "locus spans": 6, "locus min-size 0": 6}
TYPICAL_SECONDS = {"program": 7, "kernel": 5, "long": 65, "server": 70}  # of a run, before the first is known


class Failed(Exception):
    """A run did not end as it should. `told`: what it has printed; of one that hung what its threads did, of a crash what the JVM says."""

    def __init__(self, why, told=""):
        super().__init__(why)
        self.told = told


@dataclasses.dataclass
class Place:
    """The place of runs: the JDK, a directory for what they write, async-profiler's library, and where profiles are kept."""

    home: pathlib.Path
    work: pathlib.Path
    library: pathlib.Path
    profiles: pathlib.Path

    def command(self, words, variant):
        if variant in LOCUS_OPTIONS:
            return [str(LOCUS), "run", "-o", str(self.work / "profile"), *LOCUS_OPTIONS[variant], "--", *words]
        if variant in ASYNC_OPTIONS:
            options = "start,%s,loglevel=none,file=%s" % (ASYNC_OPTIONS[variant], self.work / "async.jfr")
            return [words[0], "-agentpath:%s=%s" % (self.library, options), *words[1:]]
        if variant in JFR_OPTIONS:
            options = "-XX:StartFlightRecording:%s,filename=%s" % (JFR_OPTIONS[variant], self.work / "flight.jfr")
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
        process = usage.begin(command, work / "usage.json", stdin=subprocess.DEVNULL, stdout=out, stderr=errors, cwd=work / "run",
                              start_new_session=True)
        timer = threading.Timer(LIMIT_SECONDS, expire, (process, expired, threads))
        timer.start()
        try:
            status, took = usage.end(process, work / "usage.json")
        except BaseException:  # whoever ends the measurement ends its run
            end(process)
            raise
        finally:
            timer.cancel()
            timer.join()
    told, said = ((work / name).read_text(errors="replace") for name in ("out", "errors"))
    if expired.is_set():
        raise Failed("still running after %d s" % LIMIT_SECONDS, "\n".join([told, said, *threads]))
    if status:
        lines = [text for text in said.strip().splitlines() if not text.startswith("locus: ")] or said.strip().splitlines()
        crashes = [path.read_text(errors="replace") for path in sorted((work / "run").glob("hs_err_pid*.log"))]
        raise Failed("ended with %d: %s" % (os.waitstatus_to_exitcode(status), lines[-1] if lines else "no message"), "\n".join([told, said, *crashes]))
    return told, took


def signal_of(failed):
    """The signal that ended a run, of why it failed; None where it ended by itself. A shell adds 128 to the signal's number."""
    status = re.match(r"ended with (-?\d+)(?::|$)", failed)
    number = int(status[1]) if status else 0
    fatal = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV)
    return -number if number < 0 else number - 128 if number - 128 in fatal else None


def label(row):
    """The name of a row of the ranking: the class, and the line that allocates."""
    at = row["allocated_at"]
    return row["class"] + (" of %s.%s:%d" % (at["class"], at["method"], at["line"]) if at else "")


def read_report(profile):
    """The parts of a profile's report that the evaluation uses."""
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


def measured_inside(out):
    """The figures that a long form or a server measured itself, which count in place of the whole run; {} for others."""
    lines = [line for line in out.splitlines() if line.startswith("measured: ")]
    if not lines:
        return {}
    told = {name: float(value) for name, value in (word.split("=") for word in lines[-1].split()[1:])}
    latency = {name: value for name, value in told.items() if re.fullmatch(r"p[\d.]+", name)}
    return {**{name: value for name, value in told.items() if name not in latency}, **({"latency": latency} if latency else {})}


def run_once(place, program, words, size, variant, number):
    """Runs a variant once; returns its figures, or why it does not count."""
    shutil.rmtree(place.work / "profile", ignore_errors=True)
    try:
        out, figures = timed(place.command(words, variant), place.work)
        last = (out.splitlines() or [""])[-1]
        if last != "result: " + program.result[size]:
            raise Failed("printed %r in place of its result" % last[:200])
        figures.update(measured_inside(out))
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


@dataclasses.dataclass(frozen=True)
class Plan:
    """The runs to make: programs, the JDK's version of those that name none, variants, and how many rounds of each kind.

    `most`: of some variants how many rounds there are at most.
    """

    programs: list
    version: int
    asked: tuple
    rounds: dict
    most: dict

    def of_round(self, program, number):
        """The variants that a round of a program has, in their order; without pairs there is nothing to run."""
        kind = LONG_VARIANTS if program.kind in ("long", "server") else VARIANTS
        here = tuple(v for v in self.asked if v in kind and number < min(self.rounds[program.kind], self.most.get(v, number + 1))
                     and (v != JFR_CPU or (program.on or self.version) >= JFR_CPU_JDK))
        return order(here, number) if len(here) > 1 else ()

    def numbers(self):
        return range(max(self.rounds.values()))

    def runs(self, program):
        """(round, variant) of all runs of a program."""
        return [(number, v) for number in self.numbers() for v in self.of_round(program, number)]


def machine():
    """The machine and versions of the runs. Ratios are of runs on one machine."""
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(), re.M)
    return "%s, %d CPUs, %.0f GB" % (model[1] if model else "unknown", os.cpu_count(), int(memory[1]) / 2**20)


def missing(results, plan, program, number, here):
    """The variants of a round of a program that are to be run: all where another machine began the round and did not end it."""
    wanted = plan.of_round(program, number)
    have = {v: results.runs[program.name, number, v] for v in wanted if (program.name, number, v) in results.runs}
    if len(have) == len(wanted):
        return ()
    return wanted if any(r.get("machine") != here for r in have.values()) else tuple(v for v in wanted if v not in have)


def expected_seconds(results, program, variants):
    """How long these runs take, if they take as long as earlier ones."""
    known = {v: [r["took"] for r in results.of(program.name, v)] for v in variants}
    return sum(statistics.median(of) if of else TYPICAL_SECONDS[program.kind] for of in known.values())


def calibrate(place, program):
    """Runs a program once with spans: what they cost is measured in the first run of a JVM, which is none that counts."""
    run_once(place, program, programs.command(program, "quick", place.home), "quick", "locus spans", 0)


def variants_here(work, asked):
    """(async-profiler's library, the variants that can be run here); one that cannot is told."""
    try:
        return benchd.fetch.async_profiler(work), asked
    except SystemExit as error:
        print("evaluate: async-profiler is left out: %s" % error, file=sys.stderr)
        return None, tuple(v for v in asked if v not in ASYNC_OPTIONS)


def show(program, variant, number, figures):
    told = figures.get("failed") or "%.2f s CPU, %.2f s, %.0f MB" % (figures["cpu"], figures["wall"], figures["rss_mb"])
    print("%s  round %d  %-20s %-26s %s%s" % (time.strftime("%H:%M:%S"), number + 1, program.name, variant,
                                              "LEFT OUT: " if "failed" in figures else "", told), file=sys.stderr, flush=True)


def jdk_of(home):
    release = dict(re.findall(r'^(\w+)="(.*)"$', (home / "release").read_text(), re.M))
    return "%s %s" % (release.get("IMPLEMENTOR", "JDK"), release.get("JAVA_VERSION", "?"))


def note_machine(results, homes, version):
    """Facts of the whole measurement."""
    model, cpus, memory = machine().rsplit(", ", 2)
    system = dict(re.findall(r'^(\w+)="?(.*?)"?$', pathlib.Path("/etc/os-release").read_text(), re.M))
    results.note("date", time.strftime("%Y-%m-%d"))
    results.note("processor", model)
    results.note("CPUs", int(cpus.split()[0]))
    results.note("memory_gb", int(memory.split()[0]))
    results.note("system", "%s, Linux %s" % (system.get("PRETTY_NAME", "unknown"), os.uname().release))
    results.note("jdk", jdk_of(homes[version]))
    results.note("other jdks", ", ".join(jdk_of(home) for other, home in sorted(homes.items()) if other != version))
    results.note("build", benchd.run.build_id())
    results.note("async-profiler", benchd.programs.ASYNC.rsplit(":", 1)[1])


def note_engine(results, place):
    """By what means async-profiler sampled: it differs with what the machine allows."""
    if "async-profiler by" not in results.facts and (place.work / "async.jfr").exists():
        results.note("async-profiler by", benchd.run.Machine(0, place.home, place.work, place.library).engine())


def run_row(place, program, size, number, variants, results):
    """Runs these variants of a program in a round, and keeps what they took."""
    words = programs.command(program, size, place.home)
    for variant in variants:
        begin = time.monotonic()
        figures = run_once(place, program, words, size, variant, number)
        results.append({"program": program.name, "call": call(program, size), "round": number, "variant": variant, "machine": machine(),
                        "load": os.getloadavg()[0], "took": time.monotonic() - begin, **figures})
        show(program, variant, number, figures)
        if variant in ASYNC_OPTIONS and "failed" not in figures:
            note_engine(results, place)


def measure(results, plan, homes, size, seconds, profiles):
    """Runs what is missing of the plan; returns whether there was time for all.

    `homes`: the JDKs by version. It begins no program's runs of a round that would not end in so many seconds, if they take as
    long as earlier ones.
    """
    start, here = time.monotonic(), machine()
    if not any(missing(results, plan, p, number, here) for number in plan.numbers() for p in plan.programs):
        return True
    programs.build(homes[plan.version], plan.programs)
    with tempfile.TemporaryDirectory(prefix="locus-evaluate-") as directory:
        work = pathlib.Path(directory)
        library, asked = variants_here(work, plan.asked)
        plan = dataclasses.replace(plan, asked=asked)
        places = {version: Place(home, work, library, profiles) for version, home in homes.items()}
        note_machine(results, homes, plan.version)
        calibrate(places[plan.version], plan.programs[0])
        for number in plan.numbers():
            for program in plan.programs:
                wanted = missing(results, plan, program, number, here)
                if wanted and time.monotonic() - start + expected_seconds(results, program, wanted) > seconds:
                    return False
                run_row(places[program.on or plan.version], program, size, number, wanted, results)
    return True


def repeatability(chosen, profiles):
    """The answer of `locus repeat` for each program's kept profiles: {name: the table of objects}."""
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
