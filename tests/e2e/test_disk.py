# SPDX-License-Identifier: Apache-2.0
"""Faults of disks: one that hangs, fills up or goes away never keeps it."""

import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import tempfile
import time

import pytest
from conftest import BUILD, JDK_MAJORS, ROOT, Profile, run_command
from helpers import allocations, by_hand, command, complaints, each_value, report, sites_through, wait_until

SECONDS = 40  # in which a program that a hung disk does not keep must end; it waits for 3


@pytest.fixture(scope="module")
def stuck_disk(shared):
    """A library that makes a disk stop answering."""

    def make(directory):
        compiler = shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            pytest.skip("no C compiler on this machine")
        source = ROOT / "tests" / "tools" / "stuck_disk.c"
        flags = ["-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, "-o", directory / "stuck_disk.so", source, "-ldl"], check=True, timeout=300)

    return shared("stuck-disk", make) / "stuck_disk.so"


class Started:
    """A program under the agent; what it prints is read as it comes."""

    def __init__(self, line, **env):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [str(word) for word in line],
            env={**os.environ, **env},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )

    def until(self, wanted):
        """Reads lines until `wanted(line)`."""
        for text in self.process.stdout:
            if wanted(text):
                return text
        pytest.fail("it ended: " + self.said())

    def said(self):
        """Its output on stderr so far."""
        return os.pread(self.errors.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def end(self, sent=None):
        if sent:
            self.process.send_signal(sent)
        try:
            self.process.wait(SECONDS)  # its input stays open until then
            self.stdout, _ = self.process.communicate(timeout=SECONDS)
            self.stderr = self.said()
        except subprocess.TimeoutExpired:
            pytest.fail("the program does not end")
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.errors.close()


def wait_for_block(directory):
    wait_until("a block", lambda: any(file.stat().st_size for file in pathlib.Path(directory).glob("*.lcb")))


@each_value(jdk=JDK_MAJORS, how=["return", "exit", "SIGTERM", "duration"])
def test_a_disk_that_hangs_keeps_no_program_from_ending(workload, jdk, stuck_disk, tmp_path, how):
    """The library stands for a hung network file system; each way to end waits for the same thread."""
    stuck = tmp_path / "stuck"
    prof = tmp_path / "prof"
    options = ["duration=3s"] if how == "duration" else []
    line = by_hand(command(workload, jdk, "Waits"), prof, *options)
    with Started(line, LD_PRELOAD=str(stuck_disk), STUCK_DISK=str(stuck)) as run:
        run.until(lambda text: "ready" in text)
        wait_for_block(prof)
        stuck.touch()
        run.process.stdin.write("collect\n")  # the queue of epochs is not taken from
        run.process.stdin.flush()
        run.until(lambda text: "collected" in text)
        wait_until("a block that waits", (tmp_path / "stuck.waits").exists)
        if how == "duration":
            time.sleep(8)  # its 3 seconds are over then, and so is the wait for its last block
        if how == "SIGTERM":
            status = run.end(signal.SIGTERM)
        else:
            run.process.stdin.write({"duration": "return"}.get(how, how) + "\n")
            run.process.stdin.flush()
            status = run.end()
    assert status == {"SIGTERM": 143, "exit": 3}.get(how, 0)
    said = complaints(run.stderr)
    assert len(said) == 1 and "has not answered" in said[0], run.stderr
    manifest = json.loads((prof / "manifest.json").read_text())
    assert not manifest["processes"][0]["complete"]
    assert report(Profile(run.process, prof))["threads"]


def test_a_disk_that_answers_again_loses_nothing(workload, jdk17, stuck_disk, tmp_path):
    stuck = tmp_path / "stuck"
    prof = tmp_path / "prof"
    line = by_hand(command(workload, jdk17, "Waits"), prof)
    with Started(line, LD_PRELOAD=str(stuck_disk), STUCK_DISK=str(stuck)) as run:
        run.until(lambda text: "ready" in text)
        wait_for_block(prof)
        stuck.touch()
        wait_until("a block that waits", (tmp_path / "stuck.waits").exists)
        run.process.stdin.write("allocate\n")
        run.process.stdin.flush()
        run.until(lambda text: "allocated" in text)
        stuck.unlink()
        run.process.stdin.write("return\n")
        run.process.stdin.flush()
        assert run.end() == 0
    assert complaints(run.stderr) == []
    r = report(Profile(run.process, prof))
    assert allocations(sites_through(r, "waitsAllocate")) == 5000
    assert r["processes"][0]["complete"]


def test_a_pipe_in_place_of_a_file_is_not_written_to(workload, jdk17, tmp_path):
    prof = tmp_path / "prof"
    with Started(by_hand(command(workload, jdk17, "Waits"), prof)) as run:
        run.until(lambda text: "ready" in text)
        wait_for_block(prof)
        for file in prof.glob("*.lcb"):
            file.unlink()
            os.mkfifo(file)
        wait_until("a complaint", lambda: complaints(run.said()))
        assert run.end(signal.SIGTERM) == 143
    assert len(complaints(run.stderr)) == 1 and "cannot write the profile" in run.stderr, run.stderr


def test_a_directory_that_goes_away_costs_one_line(workload, jdk17, tmp_path):
    prof = tmp_path / "prof"
    with Started(by_hand(command(workload, jdk17, "Waits"), prof)) as run:
        run.until(lambda text: "ready" in text)
        wait_for_block(prof)
        shutil.rmtree(prof)
        wait_until("a complaint", lambda: complaints(run.said()))
        run.process.stdin.write("exit\n")
        run.process.stdin.flush()
        assert run.end() == 3
    assert len(complaints(run.stderr)) == 1 and "cannot write the profile" in run.stderr, run.stderr
    assert not prof.exists()


@pytest.mark.parametrize("reader", ["gone", "asleep"])
def test_nobody_who_reads_stderr_keeps_the_program(workload, jdk17, tmp_path, reader):
    """A line that cannot be printed is lost: the pipe is full, or its other end is closed."""
    prof = tmp_path / "prof"
    read, write = os.pipe()
    os.set_blocking(write, False)
    with pytest.raises(BlockingIOError):
        while os.write(write, bytes(4096)):
            pass
    os.set_blocking(write, True)
    if reader == "gone":
        os.close(read)
    line = by_hand(command(workload, jdk17, "Waits"), prof)
    process = subprocess.Popen(line, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=write)
    try:
        assert "ready" in process.stdout.readline()
        wait_for_block(prof)
        shutil.rmtree(prof)
        time.sleep(2.5)  # nobody sees the line that is printed by then
        process.stdin.write("exit\n")
        process.stdin.flush()
        assert process.wait(SECONDS) == 3
    finally:
        process.kill()
        process.communicate()
        os.close(write)
        if reader != "gone":
            os.close(read)


# The owner of the files


def test_a_profile_is_its_owners_alone(workload, jdk17, profile, tmp_path):
    run = profile(command(workload, jdk17, "Endings", "return"), name="a/b/prof")
    assert stat.S_IMODE(run.directory.stat().st_mode) == 0o700
    files = list(run.directory.iterdir())
    assert len(files) > 1
    assert {stat.S_IMODE(file.lstat().st_mode) for file in files} == {0o600}
    (tmp_path / "all").mkdir(mode=0o755)  # one that is there keeps its mode
    for merged in (tmp_path / "merged", tmp_path / "all"):
        assert run_command([BUILD / "locus", "merge", "-o", merged, run.directory]).returncode == 0
        assert {stat.S_IMODE(file.lstat().st_mode) for file in merged.iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "merged").stat().st_mode) == 0o700


@pytest.mark.parametrize("place", ["link", "other"])
def test_a_directory_that_somebody_else_prepared_is_refused(workload, jdk17, tmp_path, place):
    prof = tmp_path / "prof"
    (tmp_path / "real").mkdir()
    if place == "link":
        prof.symlink_to(tmp_path / "real")
    elif os.geteuid() != 0:
        pytest.skip("needs root to make another user's directory")
    else:
        prof.mkdir()
        os.chown(prof, 12345, 12345)
    done = run_command(by_hand(command(workload, jdk17, "Endings", "return"), prof))
    assert done.returncode == 0
    said = complaints(done.stderr)
    assert len(said) == 1 and {"link": "is a symbolic link", "other": "another user"}[place] in said[0], done.stderr
    assert not list((tmp_path / "real").iterdir()) and (place == "link" or not list(prof.iterdir()))
