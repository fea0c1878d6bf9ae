# SPDX-License-Identifier: Apache-2.0
"""Locus is a guest: whatever it meets, the program ends as it would have, and is told the truth."""

import json
import pathlib
import random
import re
import shutil
import signal
import subprocess

import pytest
from conftest import BUILD, JDKS, Profile, run_command
from helpers import (
    page_text,
    allocations,
    by_hand,
    check_report,
    command,
    complaints,
    execute,
    has_frame,
    maven,
    native_library,
    report,
    sites_through,
    truth,
)

# Milliseconds of a killed run that may be missing: "about the last second".
LAST_MS = 1500
HEADER_BYTES = 72  # of a block
FLIPS = 300


def allocated(r, method, cls=None):
    return allocations(sites_through(r, method, cls))


def built_with(jdk, option):
    """Was the JVM built with the collector? Skips the test with the JVM's reason; an option that it does not know fails it."""
    tried = run_command([jdk.java, option, "-version"])
    if tried.returncode != 0:
        assert "not supported" in tried.stdout + tried.stderr, tried.stdout + tried.stderr
        pytest.skip("this JVM was built without %s" % option)


def bare_and_profiled(line, tmp_path, *options, **more):
    """The same command without and with Locus."""
    run = [BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", *options, "--", *line]
    return execute(line, **more), execute(run, **more)


def assert_same(bare, run):
    assert (run.returncode, run.stdout, run.stderr) == (bare.returncode, bare.stdout, bare.stderr)


# The program's end


@pytest.mark.parametrize(
    "mode, status, expected",
    [
        ("return", 0, 2000),
        ("bytes", 0, 2000),
        ("exit", 3, 2000),
        ("uncaught", 1, 2000),
        ("uncaught-in-thread", 0, 2000),
        ("hook", 4, 4000),
        ("halt-in-hook", 6, 2000),
        ("halt", 5, 2000),
        ("exit-from-thread", 7, 2000),
        ("daemon", 0, None),
        ("stack-overflow", 0, 2000),
        ("out-of-memory", 0, 2000),
        ("out-of-memory-uncaught", 1, 2000),
    ],
)
def test_program_ends_as_without_locus(workload, jdk, tmp_path, mode, status, expected):
    line = command(workload, jdk, "Endings", mode, java=["-Xmx48m"])
    bare, run = bare_and_profiled(line, tmp_path)
    assert bare.returncode == status
    assert_same(bare, run)
    r = report(Profile(run, tmp_path / "prof"))
    if expected:
        assert allocated(r, "allocate", "Endings") == expected
    else:
        assert allocated(r, "allocate", "Endings") > 2000


def test_stdin_is_passed_on_byte_for_byte(workload, jdk, tmp_path):
    data = random.Random(1).randbytes(300_000)
    bare, run = bare_and_profiled(command(workload, jdk, "Endings", "echo"), tmp_path, stdin=data)
    assert data in bare.stdout
    assert_same(bare, run)


class Running:
    """Steady.java under the agent, by hand: the process is the JVM itself."""

    def __init__(self, workload, jdk, directory, *options):
        line = by_hand(command(workload, jdk, "Steady"), directory, *options)
        self.process = subprocess.Popen(
            line, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.progress = []  # (milliseconds, allocations)

    def until(self, seconds):
        """Read what it says until it has run for so long."""
        for text in self.process.stdout:
            self.progress.append(tuple(map(int, text.split())))
            if self.progress[-1][0] - self.progress[0][0] >= seconds * 1000:
                return

    def end(self, sent):
        self.process.send_signal(sent)
        out, self.stderr = self.process.communicate(timeout=300)
        self.rest = out.splitlines()
        self.returncode = self.process.returncode
        self.stdout = out

    def made_before(self, ms):
        """Allocations by `ms` milliseconds before the last line that was read."""
        last = self.progress[-1][0]
        return max(n for t, n in self.progress if t <= last - ms)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def test_kill_leaves_all_but_the_last_second(workload, jdk, tmp_path):
    with Running(workload, jdk, tmp_path / "prof") as steady:
        steady.until(4)
        steady.end(signal.SIGKILL)
    assert steady.returncode == -signal.SIGKILL
    r = report(Profile(steady, tmp_path / "prof"))
    assert allocated(r, "steadyAllocate") >= steady.made_before(LAST_MS)
    assert r["samples"]["total"] > 0
    assert "Steady" in r["program"]["command"]
    assert r["engine"]["name"] == "timer" and r["engine"]["interval_ns"] == 5_000_000


def test_sigterm_runs_the_hooks_and_leaves_everything(workload, jdk, tmp_path):
    with Running(workload, jdk, tmp_path / "prof") as steady:
        steady.until(1)
        steady.end(signal.SIGTERM)
    assert steady.returncode == 143
    assert "hook" in steady.rest
    assert complaints(steady.stderr) == []
    # The main thread allocates on behind the hook and behind the agent's end, until the JVM stops it.
    told = [int(text.split()[1]) for text in steady.rest[:steady.rest.index("hook")]]
    made = allocated(report(Profile(steady, tmp_path / "prof")), "steadyAllocate")
    assert max(told, default=steady.progress[-1][1]) <= made


# Directories that cannot be written


def test_output_that_cannot_be_written_costs_one_line(workload, jdk, tmp_path):
    line = command(workload, jdk, "Endings", "exit")
    bare = execute(line)
    for directory in ("/dev/null/prof", "/proc/prof"):
        hand = by_hand(line, directory)
        run = execute(hand)
        assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout)
        assert len(complaints(run.stderr)) == 1, run.stderr
        assert directory in complaints(run.stderr)[0]


def test_disk_that_becomes_full_costs_one_line(workload, jdk, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small file system")
    try:
        with Running(workload, jdk, disk / "prof") as steady:
            steady.until(2.5)
            with open(disk / "filler", "wb", buffering=0) as filler:
                with pytest.raises(OSError):
                    while filler.write(bytes(4096)):
                        pass
            before = len(steady.progress)
            steady.until(10)  # long enough to fill the page that a file ends in
            steady.end(signal.SIGTERM)
        made = max(n for t, n in steady.progress[:before] if t <= steady.progress[before - 1][0] - LAST_MS)
        assert steady.returncode == 143
        assert "hook" in steady.rest
        assert len(complaints(steady.stderr)) == 1, steady.stderr
        assert "No space left" in complaints(steady.stderr)[0]
        shutil.copytree(disk / "prof", tmp_path / "prof")
        # It was not killed: an empty file has room on a full disk.
        text = " ".join(run_command([BUILD / "locus", "report", tmp_path / "prof"]).stdout.split())
        assert "note: the disk became full: only the program's first" in text, text
        assert "disk full" in run_command([BUILD / "locus", "list", tmp_path]).stdout
        assert allocated(report(Profile(steady, tmp_path / "prof")), "steadyAllocate") >= made
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("option", ["no-such=1", "min-size=1x", "interval=5", "depth=-1", "paths=all"])
def test_bad_agent_option_costs_one_line(workload, jdk17, tmp_path, option):
    line = command(workload, jdk17, "Endings", "exit")
    bare = execute(line)
    hand = by_hand(line, tmp_path / "prof", option)
    run = execute(hand)
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout)
    assert len(complaints(run.stderr)) == 1, run.stderr
    assert option.split("=")[0] in complaints(run.stderr)[0]


# Other agents, native code, threads


@pytest.fixture(scope="module")
def transformer(workload, shared):
    """A jar with an agent that rewrites every class."""

    def build(jdk):
        classes = pathlib.Path(workload(jdk, "Transformer"))
        own = [word for file in sorted(classes.glob("Transformer*.class")) for word in ("-C", classes, file.name)]

        def make(directory):
            (directory / "manifest").write_text("Premain-Class: Transformer\nCan-Retransform-Classes: true\n")
            jar = [jdk.home / "bin" / "jar", "cfm", directory / "transformer.jar", directory / "manifest", *own]
            assert run_command(jar).returncode == 0

        return shared("transformer-%d" % jdk.major, make) / "transformer.jar"

    return build


@pytest.mark.parametrize("first", ["locus", "other"])
def test_another_transforming_agent_and_locus_both_work(workload, transformer, jdk, tmp_path, first):
    other = "-javaagent:%s" % transformer(jdk)
    line = command(workload, jdk, "TransformedProgram", 10000)
    bare = execute([line[0], other, *line[1:]])
    assert b"after!" in bare.stdout
    if first == "locus":
        hand = by_hand([line[0], other, *line[1:]], tmp_path / "prof")
    else:
        hand = by_hand(line, tmp_path / "prof")
        hand.insert(1, other)
    run = execute(hand)
    assert_same(bare, run)
    assert allocated(report(Profile(run, tmp_path / "prof")), "transformedAllocate") == 10000


def test_coverage_agent_and_locus_both_work(workload, jdk, tmp_path):
    agent = maven("org.jacoco:org.jacoco.agent:0.8.13:jar:runtime")
    line = command(workload, jdk, "TransformedProgram", 10000)
    line.insert(1, "-javaagent:%s=destfile=%s" % (agent, tmp_path / "jacoco.exec"))
    bare, run = bare_and_profiled(line, tmp_path)
    assert_same(bare, run)
    assert (tmp_path / "jacoco.exec").stat().st_size > 0
    assert allocated(report(Profile(run, tmp_path / "prof")), "transformedAllocate") == 10000


@pytest.fixture
def guest(jdk, shared):
    def make(directory):
        if not native_library(jdk, "guest", directory):
            pytest.skip("no C compiler on this machine")

    return shared("guest-%d" % jdk.major, make) / "libguest.so"


def test_native_code_in_both_directions(workload, guest, tmp_path, jdk):
    line = command(workload, jdk, "NativeGuest", guest, "calls", java=["-Xcheck:jni"])
    bare, run = bare_and_profiled(line, tmp_path)
    assert (run.returncode, run.stdout) == (0, bare.stdout), run.stdout.decode()
    told = json.loads([text for text in run.stdout.splitlines() if text.startswith(b"{")][-1])
    assert told["callbacks"] == 23000
    assert allocated(report(Profile(run, tmp_path / "prof")), "nativeCallback") == 23000


CHECKED = [[], ["--spans=tasks,streams"], ["--min-size=0"], ["--audit"], ["--min-size=0", "--audit", "--spans=tasks,streams"]]


@pytest.mark.parametrize("options", CHECKED, ids=lambda options: " ".join(options) or "default")
def test_checked_jni_finds_no_fault_with_locus(workload, jdk, tmp_path, options):
    """-Xcheck:jni prints what native code does wrong on stdout: nothing, as without Locus."""
    bare, run = bare_and_profiled(command(workload, jdk, "ThreadStorm", 50, java=["-Xcheck:jni"]), tmp_path, *options)
    assert (run.returncode, run.stdout) == (0, bare.stdout), run.stdout.decode()
    assert bare.returncode == 0


@pytest.mark.parametrize("mode", ["handler", "early", "reset"])
def test_programs_own_signal_handlers_stay_in_force(workload, guest, jdk, tmp_path, mode):
    java = ["-agentpath:%s" % guest] if mode == "early" else []
    line = command(workload, jdk, "NativeGuest", guest, mode, java=java)
    bare = execute(line)
    hand = by_hand(line, tmp_path / "prof")
    if mode == "early":  # the library's handlers are there before those of Locus
        hand.insert(1, hand.pop(next(i for i, a in enumerate(hand) if str(guest) in a)))
    run = execute(hand)
    assert_same(bare, run)
    report(Profile(run, tmp_path / "prof"))


def test_thousands_of_short_threads_are_counted_exactly(workload, profile, jdk):
    run = profile(command(workload, jdk, "ThreadStorm", 3000))
    assert complaints(run.stderr) == []
    assert allocated(report(run), "stormAllocate") == truth(run)["allocations"]


THREAD_NAMES = ["\u00dcn\u00efc\u00f6d\u00e9 \u7dda\u7a0b \U0001f9f5", '<b>&"quoted"\\ \t tab\n line;x,y']


def test_thread_names_are_reported_as_they_are(workload, profile, jdk):
    run = profile(command(workload, jdk, "ThreadStorm", 50))
    samples = {t["name"]: t["samples"] for t in report(run)["threads"]}
    for name in THREAD_NAMES:
        assert samples.get(name, 0) > 20, samples


def test_excluded_thread_is_not_sampled_but_its_allocations_count(workload, profile, jdk):
    run = profile(command(workload, jdk, "ThreadStorm", 50), "--exclude=<b>*")
    r = report(run)
    samples = {t["name"]: t["samples"] for t in r["threads"]}
    assert samples.get(THREAD_NAMES[1], 0) == 0
    assert samples[THREAD_NAMES[0]] > 20
    assert allocated(r, "stormAllocate") == truth(run)["allocations"]


def test_only_included_threads_are_sampled(workload, profile, jdk):
    r = report(profile(command(workload, jdk, "ThreadStorm", 50), "--include=nobody;*tab*"))
    assert {t["name"] for t in r["threads"] if t["samples"]} == {THREAD_NAMES[1]}


def test_names_that_only_a_class_file_can_hold_are_escaped(workload, profile, jdk, locus, tmp_path):
    run = profile(command(workload, jdk, "OddNames", 50))
    r = report(run)
    for odd in truth(run):
        assert allocated(r, odd["method"], odd["class"]) == odd["allocations"], odd
    for form in ("html", "text", "collapsed"):
        out = tmp_path / form
        done = locus("report", run.directory, "--format=" + form, "-f", out)
        assert (done.returncode, done.stderr) == (0, "")
        text = out.read_text(encoding="utf-8")
        assert "Odd" in (page_text(text) if form == "html" else text)
        if form == "html":
            assert "<script>alert(1)" not in text
        else:
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", text)


@pytest.mark.parametrize("depth, frames", [(None, 256), (10, 10), (1, 1)])
def test_deep_path_is_cut_at_its_root(workload, profile, jdk, depth, frames):
    options = ["--recursion=keep"] + (["--depth=%d" % depth] if depth else [])
    r = report(profile(command(workload, jdk, "DeepStack", 1500, 200), *options))
    sites = [s for s in r["sites"] if has_frame(s["allocation_path"][:1], "deepAllocate")]
    assert allocations(sites) == 200
    for s in sites:
        assert len(s["allocation_path"]) == frames
        assert all(len(a["path"]) <= frames for a in s["accesses"])


def test_deep_path_is_whole_where_depth_allows(workload, profile, jdk):
    r = report(profile(command(workload, jdk, "DeepStack", 1500, 200), "--depth=2048", "--recursion=keep"))
    (site,) = [s for s in r["sites"] if has_frame(s["allocation_path"][:1], "deepAllocate")]
    path = site["allocation_path"]
    assert sum(f["method"] == "descend" for f in path) == 1501
    assert (path[-1]["class"], path[-1]["method"]) == ("java.lang.Thread", "run")
    work = [a for a in site["accesses"] if has_frame(a["path"][:1], "work")]
    assert any(sum(f["method"] == "work" for f in a["path"]) == 1501 for a in work)


# JVMs


@pytest.mark.parametrize("option", ["-Xcomp", "-XX:-UseCompressedOops", "-Xshare:off", "-Xss512k"])
def test_program_is_profiled_with_jvm_option(workload, jdk, tmp_path, option):
    bare, run = bare_and_profiled(command(workload, jdk, "Endings", "hook", java=[option]), tmp_path)
    assert_same(bare, run)
    assert allocated(report(Profile(run, tmp_path / "prof")), "allocate", "Endings") == 4000


# Profiles that are damaged


@pytest.fixture(scope="module")
def good(workload, profile_once):
    """A profile of several threads and blocks."""
    if not JDKS:
        pytest.skip("no JDK on this machine")
    return profile_once("good", command(workload, JDKS[min(JDKS)], "ThreadStorm", 50)).directory


def read_damaged(directory):
    """Report a profile that may be damaged: never a crash, never silence, never a wrong sum.

    Returns what the tool said on stderr, and the report of what could be read (or None).
    """
    done = run_command([BUILD / "locus", "report", directory, "--format=json"], timeout=300)
    assert done.returncode >= 0, "killed by signal %d" % -done.returncode
    said = done.stderr.splitlines()
    assert all(line.startswith("locus: ") for line in said), done.stderr
    assert len(said) == (1 if done.returncode else 0), done.stderr
    return done.stderr, check_report(json.loads(done.stdout)) if done.stdout else None


def with_file(good, tmp_path, name, data):
    """A copy of the profile in which one file has other content."""
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(good, copy)
    (copy / name).write_bytes(data)
    return copy


def test_one_flipped_byte_anywhere_is_noticed(good, tmp_path):
    """In every file of blocks: each byte of a header, and as many others."""
    said, intact = read_damaged(good)
    assert said == "" and intact
    choice = random.Random(3)
    sources = sorted(good.glob("*.lcb"))
    places = [(source, at) for source in sources for at in range(min(HEADER_BYTES, source.stat().st_size))]
    places += [(source, choice.randrange(source.stat().st_size)) for source in choice.choices(sources, k=100)]
    copy = with_file(good, tmp_path, "manifest.json", (good / "manifest.json").read_bytes())
    for source, at in choice.sample(places, min(FLIPS, len(places))):
        data = source.read_bytes()
        flipped = data[:at] + bytes([data[at] ^ 1 << choice.randrange(8)]) + data[at + 1 :]
        (copy / source.name).write_bytes(flipped)
        said, r = read_damaged(copy)
        (copy / source.name).write_bytes(data)
        assert "damaged" in said or "newer" in said, "byte %d of %s" % (at, source.name)
        if r:  # a version that is newer is refused by name
            assert r["samples"]["total"] <= intact["samples"]["total"]
            assert allocations(r["sites"]) <= allocations(intact["sites"])


def test_profile_cut_short_keeps_what_is_before_the_cut(good, tmp_path):
    _, intact = read_damaged(good)
    for source in sorted(good.glob("*.lcb"))[:4]:
        data = source.read_bytes()
        for length in (0, 1, 40, len(data) // 2, len(data) - 1):
            said, r = read_damaged(with_file(good, tmp_path, source.name, data[:length]))
            assert said and r, "%d bytes of %s" % (length, source.name)
            assert allocations(r["sites"]) <= allocations(intact["sites"])
            assert r["threads"], "the other threads are lost as well"


def test_damaged_manifest_costs_one_line_and_no_sample(good, tmp_path):
    data = (good / "manifest.json").read_bytes()
    _, intact = read_damaged(good)
    for damaged in (b"", b"{", data[: len(data) // 2], bytes(100), b"[]", b"not json"):
        said, r = read_damaged(with_file(good, tmp_path, "manifest.json", damaged))
        assert "manifest" in said, damaged
        assert r["samples"]["total"] == intact["samples"]["total"]


def test_profile_of_a_newer_format_is_refused_by_name(good, tmp_path):
    text = (good / "manifest.json").read_bytes()
    newer = text.replace(b'"format":1', b'"format":99', 1)
    assert newer != text
    said, r = read_damaged(with_file(good, tmp_path, "manifest.json", newer))
    assert "99" in said and r is None


def test_what_is_no_profile_is_refused_by_name(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    for name in ("empty", "file", "missing"):
        said, r = read_damaged(tmp_path / name)
        assert name in said and r is None
