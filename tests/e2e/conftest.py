"""What the end-to-end tests share: the build, the JDKs of this machine, profiles and reports.

LOCUS_BUILD names another build directory than build/; LOCUS_JDKS, separated by colons, JDKs that
are in no usual place.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")).resolve()
WORKLOADS = ROOT / "tests" / "workloads"
JDK_MAJORS = (17, 25)
COMMAND_SECONDS = 120
TEST_SECONDS = 600


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes minutes; run by `make soak`")
    config.addinivalue_line("markers", "seconds(n): time limit of this test, else %d" % TEST_SECONDS)


def pytest_sessionstart(session):
    missing = [n for n in ("locus", "liblocus.so", "liblocus-preload.so") if not (BUILD / n).exists()]
    if missing and not session.config.option.collectonly:
        pytest.exit("%s: no %s; run make first" % (BUILD, ", ".join(missing)), returncode=1)


@pytest.fixture(autouse=True)
def time_limit(request):
    """Fails a test that hangs, instead of the whole run."""
    marker = request.node.get_closest_marker("seconds")
    seconds = marker.args[0] if marker else TEST_SECONDS

    def expired(_signal, _frame):
        pytest.fail("still running after %d s" % seconds)

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    pytest.skip("no Chromium on this machine")


class Jdk:
    def __init__(self, home, version):
        self.home = pathlib.Path(home)
        self.version = version
        self.major = int(version.split(".")[0])
        self.java = str(self.home / "bin" / "java")
        self.javac = str(self.home / "bin" / "javac")


def find_jdks():
    """One JDK for each major version, by version; the first place that has it wins."""
    places = os.environ.get("LOCUS_JDKS", "").split(":") + [os.environ.get("JAVA_HOME", "")]
    javac = shutil.which("javac")
    if javac:
        places.append(str(pathlib.Path(javac).resolve().parents[1]))
    places += sorted(str(p) for p in pathlib.Path("/usr/lib/jvm").glob("*"))
    found = {}
    for home in filter(None, places):
        release = pathlib.Path(home) / "release"
        if not release.exists() or not (pathlib.Path(home) / "bin" / "javac").exists():
            continue
        match = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text(), re.M)
        if match and re.match(r"\d+", match.group(1)):
            jdk = Jdk(os.path.realpath(home), match.group(1))
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


@pytest.fixture(scope="session")
def jdk17():
    return jdk_of(17)


@pytest.fixture(scope="session")
def jdk25():
    return jdk_of(25)


@pytest.fixture(scope="session")
def workload(tmp_path_factory):
    """workload(jdk, "Accuracy") compiles tests/workloads/Accuracy.java and returns its class path.

    `name` may have directories ("bench/AllocLoop"); `flags` are for javac.
    """
    done = {}

    def compile_workload(jdk, name, flags=("-g",)):
        key = (jdk.major, name, tuple(flags))
        if key not in done:
            out = tmp_path_factory.mktemp("classes")
            subprocess.run(
                [jdk.javac, *flags, "-nowarn", "-d", str(out), str(WORKLOADS / (name + ".java"))],
                check=True,
                timeout=COMMAND_SECONDS,
            )
            done[key] = str(out)
        return done[key]

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


class Profile:
    """A finished `locus run`: what the program printed, how it ended, and what was recorded."""

    def __init__(self, process, directory):
        self.returncode = process.returncode
        self.stdout = process.stdout
        self.stderr = process.stderr
        self.directory = pathlib.Path(directory)

    def report(self, *options):
        """The report in JSON, as a dictionary. Its buckets must sum to the total."""
        target = self.directory.with_suffix(".json")
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
            [BUILD / "locus", "run", "-o", directory, *options, "--", *command], **more
        )
        if check:
            assert done.returncode == 0, "status %d\n%s" % (done.returncode, done.stderr)
            assert (directory / "manifest.json").exists(), done.stderr
        return Profile(done, directory)

    return run
