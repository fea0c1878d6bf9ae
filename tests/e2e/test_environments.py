# SPDX-License-Identifier: Apache-2.0
"""Environments of programs: as another user, in a root that cannot be written, without /sys, on one CPU, on a file system that hangs or fails.

test_containers.py refuses single system calls; here the machine itself is changed, in namespaces or control groups of the test.
"""

import errno
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
from conftest import BUILD, Profile, run_command
from helpers import allocations, by_hand, command, complaints, counters, each_value, execute, report, sites_through, wait_until
from test_disk import Started, wait_for_block

MADE = 4000  # by Endings "hook", which ends with status 4
NOBODY = 65534
LIMITED_MB = 4096  # that must be free for a heap of 2 GB


def check(run, bare, directory, lines=0):
    """The same as without Locus, with each allocation counted. Returns the report."""
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout) and bare.returncode == 4, run.stderr
    assert len(complaints(run.stderr)) == lines, run.stderr
    profile = Profile(run, directory)
    r = report(profile)
    assert allocations(sites_through(r, "allocate", "Endings")) == MADE
    assert counters(profile)["gc_incomplete"] == 0
    return r


def unshared(script, line):
    """The command in a mount namespace of its own, in which the shell has run the script before."""
    apart = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script + ' && exec "$@"', "sh"]
    tried = execute([*apart, "true"])
    if tried.returncode:
        pytest.skip("no such mounts may be made here: %s" % tried.stderr.decode().strip())
    return [*apart, *line]


SAMPLED = 200  # of Endings: without, a busy machine may have no tick in its few milliseconds of a CPU at a time


HIDDEN = {
    "no /sys": "mount -t tmpfs none /sys",
    "no /proc/sys": "mount -t tmpfs none /proc/sys",
    "neither": "mount -t tmpfs none /sys && mount -t tmpfs none /proc/sys",
}


@each_value(jdk=[17, 25], hidden=HIDDEN)
def test_what_the_kernel_tells_is_hidden(workload, jdk, tmp_path, hidden):
    line = command(workload, jdk, "Endings", "hook", SAMPLED)
    bare = execute(unshared(HIDDEN[hidden], line))
    run = execute(unshared(HIDDEN[hidden], by_hand(line, tmp_path / "prof", "interval=1ms")))
    r = check(run, bare, tmp_path / "prof")
    assert r["samples"]["total"] > 0


def test_a_root_that_cannot_be_written(workload, jdk, tmp_path):
    """Only the directory of the profile can: no file is made beside it."""
    out = tmp_path / "out"
    out.mkdir()
    script = 'mount --bind %s %s && mount -o remount,ro,bind / && ! touch /locus-writes 2>/dev/null' % (out, out)
    line = command(workload, jdk, "Endings", "hook", java=["-XX:-UsePerfData"])
    bare = execute(unshared(script, line))
    check(execute(unshared(script, by_hand(line, out / "prof"))), bare, out / "prof")
    refused = execute(unshared(script, by_hand(line, tmp_path / "prof")))
    assert (refused.returncode, refused.stdout) == (4, bare.stdout)
    assert len(complaints(refused.stderr)) == 1 and b"Read-only file system" in refused.stderr


@pytest.fixture
def everybodys(workload, jdk):
    """A directory that any user may read and write, with the build and the classes in it."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root, and setpriv, to become another user")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="locus-", dir="/tmp"))
    try:
        for name in ("locus", "liblocus.so", "liblocus-preload.so"):
            shutil.copy(BUILD / name, directory)
        shutil.copytree(workload(jdk, "Endings"), directory / "classes")
        (directory / "out").mkdir()
        for path in [directory, *directory.rglob("*")]:
            path.chmod(0o777)
        yield directory
    finally:
        shutil.rmtree(directory)


def test_a_user_who_may_not_use_events(jdk, everybodys, refuse):
    """Like perf_event_paranoid 3: perf_event_open is refused to all but root."""
    user = ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", "--no-new-privs"]
    shutil.copy(refuse("x", 1)[0], everybodys / "refuse_call")
    (everybodys / "refuse_call").chmod(0o755)
    before = [*user, everybodys / "refuse_call", "perf_event_open", errno.EACCES]
    line = [jdk.java, "-cp", everybodys / "classes", "Endings", "hook", str(SAMPLED)]
    bare = execute([*before, *line])
    assert bare.returncode == 4, bare.stderr
    run = execute([*before, everybodys / "locus", "run", "-q", "-i", "1ms", "-o", everybodys / "out/prof", "--", *line])
    r = check(run, bare, everybodys / "out/prof")
    assert r["engine"]["name"] == "timer" and r["samples"]["total"] > 0
    assert (everybodys / "out/prof/manifest.json").stat().st_uid == NOBODY


@pytest.fixture
def one_cpu():
    """A control group that has one CPU, by quota (v1 or v2) or by its number, and what it is."""
    root = pathlib.Path("/sys/fs/cgroup")
    for files, group in (
        ({"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "100000"}, root / "cpu/locus-test"),
        ({"cpu.max": "100000 100000"}, root / "locus-test"),
        ({"cpuset.cpus": "0", "cpuset.mems": "0"}, root / "cpuset/locus-test"),
    ):
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for name, value in files.items():
                with open(group / name, "r+") as file:  # a directory of tmpfs would take a new file of any name
                    file.write(value)
            yield group
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    pytest.skip("no control group with a limit of CPUs can be made here")


def test_a_control_group_of_one_cpu(workload, jdk, tmp_path, one_cpu):
    enter = ["sh", "-c", 'echo $$ >"$0"/cgroup.procs && exec "$@"', one_cpu]
    line = command(workload, jdk, "Endings", "hook")
    bare = execute([*enter, *line])
    flags = execute([*enter, jdk.java, "-XX:+PrintFlagsFinal", "-version"]).stdout.decode()
    assert re.search(r"UseSerialGC +:?= true", flags)  # as the JVM chooses where it has one CPU
    check(execute([*enter, *by_hand(line, tmp_path / "prof")]), bare, tmp_path / "prof")


class Freezer:
    """A file system of its own, which can be frozen."""

    def __init__(self, directory):
        image, self.disk = directory / "image", directory / "disk"
        self.disk.mkdir()
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        for line in (["mkfs.ext4", "-q", "-F", image], ["mount", "-o", "loop", image, self.disk], self.line("-f"), self.line("-u")):
            try:
                done = run_command(line)
            except FileNotFoundError:
                pytest.skip("no %s on this machine" % line[0])
            if done.returncode:
                subprocess.run(["umount", "-l", str(self.disk)], capture_output=True, check=False)
                pytest.skip("no file system can be mounted and frozen here: %s" % done.stderr.strip())

    def line(self, option):
        return ["fsfreeze", option, self.disk]

    def hang(self):
        assert run_command(self.line("-f")).returncode == 0

    def holds_a_write(self, pid):
        for thread in pathlib.Path("/proc/%d/task" % pid).iterdir():
            try:
                if (thread / "comm").read_text().startswith("locus") and state_of(int(thread.name)) == "D":
                    return True
            except OSError:  # it has ended
                pass
        return False

    def let_go(self):
        run_command(self.line("-u"))

    def end(self):
        self.let_go()
        subprocess.run(["umount", "-l", str(self.disk)], check=True)


class Fuse:
    """A file system of a process, fuse_disk.py, which answers writes as it is told."""

    def __init__(self, directory):
        self.disk, self.control = directory / "disk", directory / "control"
        self.disk.mkdir()
        if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
            pytest.skip("needs root and /dev/fuse")
        line = [sys.executable, pathlib.Path(__file__).with_name("fuse_disk.py"), self.disk, self.control]
        self.server = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.server.stdout.readline() != "mounted\n":
            pytest.skip("no FUSE file system can be mounted here: %s" % self.server.communicate()[1][-200:])

    def fail(self, what):
        self.control.write_text(str(what))

    def hang(self):
        self.fail("hang")

    def holds_a_write(self, _pid):
        return self.control.with_name(self.control.name + ".held").exists()

    def let_go(self):
        self.control.unlink(missing_ok=True)

    def end(self):
        self.let_go()
        subprocess.run(["umount", "-l", str(self.disk)], check=True)
        try:
            assert self.server.wait(300) == 0
        finally:
            self.server.kill()
            self.server.communicate()


@pytest.fixture
def mounted(tmp_path):
    made = []

    def make(kind):
        made.append(kind(tmp_path))
        return made[-1]

    yield make
    for disk in made:
        disk.end()


def state_of(pid):
    return pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()[0]


@pytest.mark.few(2)
@pytest.mark.parametrize("let_go", ["before the end", "after the end"])
@pytest.mark.parametrize("kind", [Freezer, Fuse])
def test_a_file_system_that_hangs(workload, jdk17, mounted, kind, let_go):
    """The program ends meanwhile. No signal ends a write that hangs in the kernel, so its number is given back when that is let go."""
    disk = mounted(kind)
    prof = disk.disk / "prof"
    with Started(by_hand(command(workload, jdk17, "Waits"), prof)) as run:
        run.until(lambda text: "ready" in text)
        wait_for_block(prof)
        disk.hang()
        try:
            run.process.stdin.write("allocate\n")
            run.process.stdin.flush()
            run.until(lambda text: "allocated" in text)
            wait_until("a write that waits", lambda: disk.holds_a_write(run.process.pid))
            if let_go == "after the end":
                run.process.stdin.write("exit\n")
                run.process.stdin.flush()
                wait_until("the program's end", lambda: run.process.poll() is not None or state_of(run.process.pid) == "Z")
        finally:
            disk.let_go()
        if let_go == "before the end":
            run.process.stdin.write("exit\n")
            run.process.stdin.flush()
        assert run.end() == 3
    said = complaints(run.stderr)
    assert ["has not answered" in line for line in said] == [True] * (let_go == "after the end"), run.stderr
    r = report(Profile(run.process, prof))
    if let_go == "before the end":
        assert allocations(sites_through(r, "waitsAllocate")) == 5000
    else:
        assert not r["processes"][0]["complete"]


@pytest.mark.few(2)
@pytest.mark.parametrize("error", [errno.EDQUOT, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize("again", [False, True], ids=["to the end", "and works again"])
def test_a_file_system_that_fails(workload, jdk17, mounted, error, again):
    """Earlier data can be read, and the fault is told once. If writing works again in time, nothing is lost."""
    disk = mounted(Fuse)
    prof = disk.disk / "prof"
    with Started(by_hand(command(workload, jdk17, "Waits"), prof)) as run:
        run.until(lambda text: "ready" in text)
        wait_for_block(prof)
        disk.fail(error)
        run.process.stdin.write("allocate\n")
        run.process.stdin.flush()
        run.until(lambda text: "allocated" in text)
        wait_until("a complaint", lambda: complaints(run.said()))
        if again:
            disk.let_go()
        run.process.stdin.write("exit\n")
        run.process.stdin.flush()
        assert run.end() == 3
    disk.let_go()
    said = complaints(run.stderr)
    assert len(said) == 1 and os.strerror(error) in said[0], run.stderr
    r = report(Profile(run.process, prof))
    assert r["threads"] and r["processes"][0]["complete"] == again
    assert allocations(sites_through(r, "waitsAllocate")) == (5000 if again else 0)


def memory_free_mb():
    rows = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return int(rows["MemAvailable"].split()[0]) >> 10


@each_value(jdk=[17, 25], gc=["G1", "Parallel"])
def test_objects_of_a_tenth_of_a_large_heap(workload, jdk, tmp_path, gc):
    if memory_free_mb() < LIMITED_MB:
        pytest.skip("less than 4 GB of memory are free")
    line = command(workload, jdk, "Storm", "huge", 8, java=["-XX:+Use%sGC" % gc, "-Xmx2g"])
    bare = execute(line)
    assert bare.returncode == 3, bare.stderr
    run = execute(by_hand(line, tmp_path / "prof", "interval=1ms"))
    assert (run.returncode, run.stdout, complaints(run.stderr)) == (3, bare.stdout, []), run.stderr
    profile = Profile(run, tmp_path / "prof")
    r, c = report(profile), counters(profile)
    assert allocations(sites_through(r, "huge", "Storm")) == 8 + 80
    assert c["class_disagreements"] == c["gc_incomplete"] == 0
    # The loop over each new object is what the program does.
    assert r["samples"]["object"] > 0.5 * r["samples"]["total"], r["samples"]
