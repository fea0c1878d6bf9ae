# SPDX-License-Identifier: Apache-2.0
"""Shared by the end-to-end tests: the build, the JDKs of this machine, profiles and reports.

LOCUS_BUILD names another build directory than build/; LOCUS_JDKS, separated by colons, JDKs that
are in no usual place.
"""

import collections
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import zlib

import pytest
from browser import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")).resolve()
WORKLOADS = ROOT / "tests" / "workloads"
JDK_MAJORS = (17, 25)
RUNTIME_MAJORS = (11, 21)  # tested with less; where no JDK of theirs is installed, scripts/fetch-runtimes fetches them
COMMAND_SECONDS = 300  # what hangs; long, since the machine may have ten times as much to do
TEST_SECONDS = 900
MARKERS = (
    "slow: takes minutes; run by `make soak`",
    "quiet: compares times that work beside it would change; run after all others, alone",
    "smoke: a part of `make check`",
    "few(n): long; n of its cases are a part of `make test`, all of `make soak`",
    "covers(PARAMETER=[VALUE, ...]): one case for each of these values is a part of `make test`",
    "recording(name): all tests of this recording run with the same JDK in `make test`, and so share it; {x} stands for a parameter",
    "everywhere: runs with each JDK, collector and tier that it has cases for in `make test`, too",
    "seconds(n): time limit of this test, else %d" % TEST_SECONDS,
    "xdist_group(name): tests of one group run in one process, and share its fixtures",
)


def shard_of(text):
    k, n = map(int, text.split("/"))
    if not 1 <= k <= n:
        raise ValueError(text)
    return k, n


def pytest_addoption(parser):
    parser.addoption("--failed-to", metavar="FILE", help="add a line to FILE for each test that fails: its name, a tab, what was seen")
    parser.addoption("--only-of", metavar="FILE", help="run the tests that FILE names, and no others")
    parser.addoption("--most-cpu", metavar="N", type=int, default=0, help="list the N tests that took the most CPU time")
    parser.addoption("--shard", metavar="K/N", type=shard_of, default=(1, 1), help="run the Kth of N parts of the slow tests")
    parser.addoption("--while", dest="while_there", metavar="FILE", help="begin no test once FILE is gone")


def pytest_configure(config):
    # A shell ignores it for what it starts in the background, and what tests start would inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(CpuTimes())
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


PLACES = ("jdk", "gc", "collector", "tier")  # parameters that say where a test runs, and not what it tests
# Fixtures that take many seconds and are made anew in each process: the tests that use one run in one process.
GROUPS = {"numa_guest": "guest", "arrays_run": "JMH", "killed": "killed"}


def name_of(item):
    """The name of a test without its case, whatever directory pytest is started in."""
    return "%s::%s" % (item.path.name, getattr(item, "originalname", item.name))


def parameters(item):
    return item.callspec.params if hasattr(item, "callspec") else {}


def fast_cases(items):
    """The cases of each test that are not marked slow, in their order."""
    tests = collections.defaultdict(list)
    for item in items:
        if not item.get_closest_marker("slow"):
            tests[name_of(item)].append(item)
    return tests.items()


def drawn(cases, *words):
    """One of the cases, by a hash of the words, without the addresses that Python gives functions."""
    words = [re.sub(r" at 0x[0-9a-f]+", "", word) for word in words]
    return cases[zlib.crc32("\n".join(words).encode()) % len(cases)]


def covering_of(name, cases, values):
    """For each of the values of each parameter, one case that has it."""
    for parameter, wanted in values.items():
        for value in wanted:
            having = [case for case in cases if parameters(case)[parameter] == value]
            yield drawn(having, name, parameter, str(value))


def kept_of(name, cases):
    """The cases of a test that `make test` runs."""
    first = cases[0]
    if first.get_closest_marker("everywhere"):
        return cases
    covers, few = first.get_closest_marker("covers"), first.get_closest_marker("few")
    if covers:
        return list(covering_of(name, cases, covers.kwargs))
    if few:  # spread evenly over all
        number = few.args[0]
        return [cases[(2 * i + 1) * len(cases) // (2 * number)] for i in range(number)]
    alike = collections.defaultdict(list)
    for case in cases:
        alike[repr(sorted((k, str(v)) for k, v in parameters(case).items() if k not in PLACES))].append(case)
    return [drawn(of, *(recording_of(of[0]) or (name, key))) for key, of in alike.items()]


def recording_of(case):
    """The recording that the test reads, in a tuple; none if it says nothing."""
    marker = case.get_closest_marker("recording")
    return (marker.args[0].format(**parameters(case)),) if marker else ()


def deal_places(items):
    """Cases that differ only in where they run are one case of `make test`; the others are slow.

    A hash of the test's name draws the case. No other test changes it, so a commit that adds a test moves no other test to another
    JDK, collector or tier.
    """
    for name, cases in fast_cases(items):
        kept = kept_of(name, cases)
        for case in cases:
            if case not in kept:
                case.add_marker(pytest.mark.slow)


def seconds_of(item):
    """The time limit of a test."""
    marker = item.get_closest_marker("seconds")
    return marker.args[0] if marker else TEST_SECONDS


def of_shard(items, k, n):
    """The slow tests of the Kth of N shards, and all others: those with the longest limits are dealt out first."""
    slow = sorted((item for item in items if item.get_closest_marker("slow")), key=seconds_of, reverse=True)
    elsewhere = {id(item) for i, item in enumerate(slow) if i % n != k - 1}
    return [item for item in items if id(item) not in elsewhere]


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the marks, and pytest-xdist at the groups
def pytest_collection_modifyitems(config, items):
    """Guests run one after the other, in one process, from the beginning: they take longest."""
    deal_places(items)
    items[:] = of_shard(items, *config.option.shard)
    if config.option.only_of:
        named = {line.partition("\t")[0] for line in pathlib.Path(config.option.only_of).read_text().splitlines()}
        items[:] = [item for item in items if item.nodeid in named]
    for item in items:
        for fixture in GROUPS.keys() & set(item.fixturenames):
            item.add_marker(pytest.mark.xdist_group(GROUPS[fixture]))
    items.sort(key=lambda item: "numa_guest" not in item.fixturenames)  # which keeps the order else


def pytest_runtest_setup(item):
    """Tests that are only load for others end soon after these."""
    there = item.config.option.while_there
    if there and not pathlib.Path(there).exists():
        pytest.skip("nothing needs the load any more")


def seen_in(report):
    """The first line of what a failed test says."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return " ".join(text.strip().splitlines()[0].split()) if text.strip() else ""


class Failures:
    """Adds a line for each test that fails to a file: its name, a tab, and what was seen. If several processes run tests, only the first has one."""

    def __init__(self, path):
        self.path, self.named = pathlib.Path(path), set()

    def pytest_runtest_logreport(self, report):
        name = re.sub(r"@\w+$", "", report.nodeid)  # pytest-xdist adds the group
        if report.failed and name not in self.named:
            self.named.add(name)
            with self.path.open("a") as file:
                file.write("%s\t%s\n" % (name, seen_in(report)))


def cpu_clock():
    """CPU time of this process and of all children that it has waited for."""
    return sum(os.times()[:4])


class CpuTimes:
    """Tells how much CPU time each part of a test took, which other tests beside it change less than its time."""

    def __init__(self):
        self.before = 0

    def pytest_runtest_logstart(self):
        self.before = cpu_clock()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self):
        report, now = (yield).get_result(), cpu_clock()
        report.cpu_seconds, self.before = now - self.before, now


def pytest_terminal_summary(terminalreporter, config):
    number, tests = config.option.most_cpu, collections.defaultdict(lambda: [0, 0])
    for report in (r for reports in terminalreporter.stats.values() for r in reports if hasattr(r, "cpu_seconds")):
        tests[report.nodeid][0] += report.cpu_seconds
        tests[report.nodeid][1] += report.duration
    if number and tests:
        terminalreporter.section("tests that took the most CPU time, of %.0f s" % sum(cpu for cpu, _ in tests.values()))
        for name, (cpu, duration) in sorted(tests.items(), key=lambda test: -test[1][0])[:number]:
            terminalreporter.write_line("%6.2f s in %6.2f s  %s" % (cpu, duration, name))


def pytest_sessionstart(session):
    option = session.config.option
    if option.failed_to and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Failures(option.failed_to))
    missing = [n for n in ("locus", "liblocus.so", "liblocus-preload.so", "liblocus-delay.so") if not (BUILD / n).exists()]
    if missing and not option.collectonly:
        pytest.exit("%s: no %s; run make first" % (BUILD, ", ".join(missing)), returncode=1)


@pytest.fixture(autouse=True)
def time_limit(request):
    """Fails a test that hangs, instead of the whole run."""
    seconds = seconds_of(request.node)

    def expired(_signal, _frame):
        pytest.fail("still running after %d s" % seconds)

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def chromium():
    found = subprocess.run([ROOT / "scripts/find-browser"], stdout=subprocess.PIPE, text=True).stdout.strip()
    return found or pytest.skip("no Chromium on this machine")


@pytest.fixture(scope="session")
def browser(chromium):
    """One Browser for all tests of a process, since starting it takes a second of CPU time. Each page has a context of its own."""
    b = Browser(chromium)
    yield b
    b.close()


class Jdk:
    def __init__(self, home, version, compiler=None):
        """`compiler`: the JDK whose javac compiles for this one, which may have none, `--release 11`."""
        self.home = pathlib.Path(home)
        self.release = 11 if compiler else None
        self.version = version
        self.major = int(version.split(".")[0])
        self.java = str(self.home / "bin" / "java")
        self.javac = compiler.javac if compiler else str(self.home / "bin" / "javac")


def version_of(home):
    """A JDK's or runtime's version, "17.0.15"; None where `home` is none."""
    release = pathlib.Path(home) / "release"
    match = release.exists() and re.search(r'^JAVA_VERSION="(\d[^"]*)"', release.read_text(), re.M)
    return match.group(1) if match else None


def find_jdks():
    """One JDK for each major version, by version; the first place that has it wins."""
    places = os.environ.get("LOCUS_JDKS", "").split(":") + [os.environ.get("JAVA_HOME", "")]
    javac = shutil.which("javac")
    if javac:
        places.append(str(pathlib.Path(javac).resolve().parents[1]))
    places += sorted(str(p) for p in pathlib.Path("/usr/lib/jvm").glob("*"))
    found = {}
    for home in filter(None, places):
        version = version_of(home)
        if version and (pathlib.Path(home) / "bin" / "javac").exists():
            jdk = Jdk(os.path.realpath(home), version)
            found.setdefault(jdk.major, jdk)
    return found


JDKS = find_jdks()


def jdk_of(major):
    if major not in JDKS:
        pytest.skip("no JDK %d on this machine" % major)
    return JDKS[major]


@pytest.fixture(params=JDK_MAJORS, ids=lambda major: "jdk%d" % major)
def jdk(request):
    """Each JDK that Locus is tested with, in turn; skipped where it is absent."""
    return jdk_of(request.param)


@pytest.fixture
def runtime(request):
    """The JDK or runtime whose major version the test's parameter is; skipped where there is none."""
    major = request.param
    home = JDKS[major].home if major in JDKS else BUILD / "runtimes" / str(major)
    version = version_of(home)
    if not version:
        pytest.skip("no JDK %d on this machine, and scripts/fetch-runtimes has fetched none" % major)
    return Jdk(home, version, compiler=jdk_of(17))


@pytest.fixture(scope="session")
def jdk17():
    return jdk_of(17)


@pytest.fixture(scope="session")
def jdk25():
    return jdk_of(25)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """shared("name", make) returns a directory that make(directory) fills, once for the whole run.

    The processes of pytest-xdist wait for the first that asks. If make() fails or skips the test,
    the next that asks tries again.
    """
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def directory_of(name, make):
        directory, done = base / "shared" / name, base / "shared" / (name + ".done")
        directory.parent.mkdir(exist_ok=True)
        with open(base / "shared" / (name + ".lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(directory, ignore_errors=True)
                directory.mkdir()
                make(directory)
                done.touch()
        return directory

    return directory_of


# The JDK's own packages that some workloads use; for javac and for java.
EXPORTS = ("--add-exports", "java.base/jdk.internal.misc=ALL-UNNAMED")
# Options for a javac of a second or two: no time goes into compiling the compiler.
QUICK_JAVAC = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-nowarn")
# Workloads that are compiled alone: they need jars, or a newer JDK than 17.
ALONE = ("Advised", "Contexts", "Database", "OffHeapSegments", "ReachedLibraries", "RecordsItself", "SearchEngine", "SpanVirtual", "VirtualThreads")
# Workloads that are compiled for JDK 11, and use nothing newer.
FOR_RUNTIMES = ("Accuracy", "Endings", "GcAudit", "HeldVirtual", "NarrowLoader", "SpanTasks", "ThreadStorm")


# Compiled workloads, for later runs, too: the tests that need quiet run in a pytest of their own, and use the same.
KEPT_CLASSES = ROOT / "build" / "workloads"


def digest_of(words, files):
    """A name for what a command with these words makes of the files."""
    digest = hashlib.sha256("\0".join(words).encode())
    for file in files:
        digest.update(("\0%s\0" % file).encode() + file.read_bytes())
    return digest.hexdigest()[:32]


@pytest.fixture(scope="session")
def workload(shared):
    """workload(jdk, "Accuracy") compiles tests/workloads/Accuracy.java and returns its class path, which nobody may write to.

    `name` may have directories ("bench/ArrayLoop"); `flags` are for javac. All workloads that can be are compiled
    together, without flags, since starting javac takes longer than compiling one of them.
    """

    def compile_workload(jdk, name, flags=()):
        together = "/" not in name and name not in ALONE and not flags
        names = sorted(p.stem for p in WORKLOADS.glob("*.java")) if together else [name]
        target = EXPORTS
        if jdk.release:
            names, target = FOR_RUNTIMES, ("--release", str(jdk.release))
        sources = [WORKLOADS / (n + ".java") for n in names if not together or n not in ALONE]
        title = "-".join(["classes", str(jdk.release or jdk.major), "all" if together else name, *map(str, flags)])
        command = [jdk.javac, *QUICK_JAVAC, *target, *flags]

        def make(directory):
            subprocess.run([*command, "-d", directory, *sources], check=True, timeout=COMMAND_SECONDS)

        def keep(_directory):
            if kept.exists():
                return
            KEPT_CLASSES.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=KEPT_CLASSES) as scratch:
                make(pathlib.Path(scratch, "made"))
                with contextlib.suppress(OSError):  # another run has just made them
                    pathlib.Path(scratch, "made").rename(kept)

        title = re.sub(r"[^\w.]+", "-", title)[:200]
        if not together:  # javac may read sources that are not named here
            return str(shared(title, make))
        kept = KEPT_CLASSES / digest_of([jdk.version, *map(str, command)], sources)
        shared(kept.name, keep)
        return str(kept)

    return compile_workload


def run_command(command, timeout=COMMAND_SECONDS, env=None, cwd=None, **more):
    """subprocess.run() with text output, that on a time-out also ends what the command started."""
    process = subprocess.Popen(
        [str(c) for c in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        start_new_session=True,
        **more,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except BaseException as interruption:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if isinstance(interruption, subprocess.TimeoutExpired):
            pytest.fail("%s: not done after %d s\n%s\n%s" % (command, timeout, out, err))
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.fixture(scope="session")
def locus():
    """locus("report", "prof") runs the tool and returns the completed process."""

    def run(*args, **more):
        return run_command([BUILD / "locus", *args], **more)

    return run


@pytest.fixture(scope="session")
def refuse(shared):
    """refuse("perf_event_open", errno.EPERM) is what to put in front of a command to have it run without that system call.

    Several calls are separated by commas; tests/tools/refuse_call.c knows their names.
    """

    def make(directory):
        compiler = shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            pytest.skip("no C compiler on this machine")
        source = ROOT / "tests" / "tools" / "refuse_call.c"
        run = run_command([compiler, "-O1", "-Wall", "-Werror", "-o", directory / "refuse_call", source])
        assert run.returncode == 0, run.stderr

    program = shared("refuse-call", make) / "refuse_call"
    return lambda calls, error: [program, calls, error]


class Profile:
    """A finished `locus run`: what the program printed, how it ended, and what was recorded."""

    def __init__(self, process, directory):
        self.returncode = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr
        self.directory = pathlib.Path(directory)

    def report(self, *options):
        """The report in JSON, as a dictionary. Its buckets must sum to the total."""
        target = self.directory.with_name("%s-%d.json" % (self.directory.name, os.getpid()))
        done = run_command(
            [BUILD / "locus", "report", self.directory, "--format=json", "-f", target, *options]
        )
        assert done.returncode == 0, done.stderr
        report = json.loads(target.read_text(encoding="utf-8"))
        samples = report["samples"]
        assert samples["total"] == sum(n for name, n in samples.items() if name != "total"), samples
        return report

    def manifest(self):
        return json.loads((self.directory / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture
def profile(tmp_path):
    """profile([jdk.java, "-cp", path, "Main"], "--min-size=1k") profiles a command.

    Unless `check` is false, the command must have ended with status 0 and left a profile.
    """
    count = 0

    def run(command, *options, check=True, name=None, **more):
        nonlocal count
        count += 1
        directory = tmp_path / (name or "profile%d" % count)
        done = run_command(
            [BUILD / "locus", "run", "-q", "-o", directory, *options, "--", *command], **more
        )
        if check:
            assert done.returncode == 0, "status %d\n%s" % (done.returncode, done.stderr)
            assert any((directory / of / "manifest.json").exists() for of in (".", "000001")), done.stderr  # with --loop
        return Profile(done, directory)

    return run


@pytest.fixture(scope="session")
def profile_once(shared):
    """profile_once("name", command, "--option") is profile() of a run that several tests ask about.

    The name stands for the command and its options: no two of them may have the same.
    """

    def run(name, command, *options, **more):
        def make(directory):
            done = run_command(
                [BUILD / "locus", "run", "-q", "-o", directory / "profile", *options, "--", *command], **more
            )
            assert done.returncode == 0, "status %d\n%s" % (done.returncode, done.stderr)
            assert (directory / "profile" / "manifest.json").exists(), done.stderr
            (directory / "output.json").write_text(json.dumps([done.stdout, done.stderr]))

        directory = shared("profile-" + name, make)
        streams = json.loads((directory / "output.json").read_text())
        done = subprocess.CompletedProcess([], 0, *streams)
        return Profile(done, directory / "profile")

    return run
