# SPDX-License-Identifier: Apache-2.0
"""`locus top`: the report of a JVM that runs, on a terminal and in lines."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import BUILD
from helpers import command, read_terminal, wait_until
from test_loop import thread_name

TOP = BUILD / "locus", "top"


@pytest.fixture
def loop(workload, tmp_path, jdk):
    """A program that reads arrays of long until it is killed."""
    p = subprocess.Popen(command(workload, jdk, "Loop", "600000", "1", "calm", java=["-Xmx128m"]), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, cwd=tmp_path)
    # Its arrays are older than any recording then.
    wait_until("its threads", lambda: any("maker" in thread_name(task) for task in pathlib.Path("/proc", str(p.pid), "task").iterdir()))
    yield p
    p.kill()
    p.wait()


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, words, directory, columns=100, rows=30):
        self.main, side = pty.openpty()
        self.resize(columns, rows)
        self.process = subprocess.Popen([str(w) for w in words], stdin=side, stdout=side, stderr=side, start_new_session=True,
                                        env={**os.environ, "TERM": "xterm", "TMPDIR": str(directory)})
        os.close(side)

    def resize(self, columns, rows=30):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, *words, seconds=180):
        """Read until each word was written to the terminal."""
        got, end = "", time.monotonic() + seconds
        while not all(w in got for w in words):
            assert time.monotonic() < end, got
            if select.select([self.main], [], [], 1)[0]:
                got += re.sub(r"\033\[[0-9;?]*[a-zA-Z]|\033\(B", "", os.read(self.main, 65536).decode())
        return got

    def press(self, keys):
        os.write(self.main, keys.encode())

    def end(self):
        """Returns the exit status."""
        read_terminal(self.main)
        os.close(self.main)
        return self.process.wait(300)


def batch(pid, directory, *options):
    return subprocess.run([*TOP, "--batch", *options, str(pid)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "TMPDIR": str(directory)})


def test_a_program_is_watched_and_left_as_it_was(locus, loop, tmp_path):
    """First in lines, then on a terminal that becomes narrow, where a recording goes on that is not its own."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = batch(loop.pid, scratch, "--count=2", "--refresh=2s")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and re.match(r"\d\d:\d\d:\d\d \d+ samples, \d+\.\d% at objects: \d+\.\d% long\[\]", lines[1]), lines
    assert locus("status", loop.pid).stdout == "not recording\n"
    assert not list(scratch.iterdir())

    terminal = Terminal([*TOP, loop.pid, "--refresh=1s"], scratch)
    terminal.wait_for("top %d" % loop.pid, "time by own code", "long[]", "q quit")
    terminal.resize(40)
    terminal.process.send_signal(signal.SIGWINCH)  # it has no controlling terminal
    terminal.press("\t")
    assert "every 1s" not in terminal.wait_for("objects", "accessed at", "Loop.touch:")  # the title is cut
    terminal.press("/No.such.frame\n")
    terminal.wait_for("no sample or allocation passes")
    terminal.press("h")
    terminal.wait_for("next view")
    assert locus("status", loop.pid).stdout.startswith("recording for ")
    assert batch(loop.pid, scratch, "--count=1").returncode == 0
    refused = batch(loop.pid, scratch, "--min-size=2k")
    assert refused.returncode == 2 and "already being recorded" in refused.stderr
    terminal.press("q")
    assert terminal.end() == 0
    assert locus("status", loop.pid).stdout == "not recording\n"
    assert not list(scratch.iterdir())


@pytest.mark.slow
def test_however_it_ends_it_detaches(locus, loop, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([*TOP, "--batch", str(loop.pid)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "TMPDIR": str(scratch)}) as top:
            assert "samples" in top.stdout.readline()
            top.send_signal(number)
            assert top.wait(300) == 0
        assert locus("status", loop.pid).stdout == "not recording\n"
    with subprocess.Popen([*TOP, "--batch", str(loop.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "TMPDIR": str(scratch)}) as top:
        top.stdout.readline()
        top.stdout.close()
        assert top.wait(300) == 1 and top.stderr.read() == "locus: cannot write to stdout: Broken pipe\n"
    assert locus("status", loop.pid).stdout == "not recording\n"
    kept = batch(loop.pid, scratch, "--count=1", "--output", tmp_path / "kept")
    assert kept.returncode == 0 and kept.stderr == "locus: the profile is in %s\n" % (tmp_path / "kept")
    assert "long[]" in locus("report", tmp_path / "kept").stdout
    with subprocess.Popen([*TOP, "--batch", str(loop.pid)], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "TMPDIR": str(scratch)}) as top:
        top.stdout.readline()
        loop.kill()
        assert top.wait(300) == 0
    assert not list(scratch.iterdir())


def test_a_terminal_is_needed_that_is_known(locus, tmp_path):
    nobody = os.getpid()
    assert "this is no terminal; use --batch" in locus("top", nobody).stderr
    for wrong in ("--refresh=5ms", "--count=0", "--view=x", "--loop=1min", "--window=x"):
        done = locus("top", "--batch", wrong, nobody)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
