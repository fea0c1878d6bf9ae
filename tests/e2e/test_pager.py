# SPDX-License-Identifier: Apache-2.0
"""Colours and the pager are for a terminal; what is piped is the same whatever the environment says."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from conftest import BUILD
from helpers import read_terminal
from test_golden_reports import PROFILES

COLUMNS = 100


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    return PROFILES["objects"](tmp_path_factory.mktemp("pager") / "objects")


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if k not in ("PAGER", "LOCUS_PAGER", "NO_COLOR", "COLUMNS", "LESS", "CLICOLOR_FORCE")}
    return {**kept, "TERM": "xterm", **more}


def on_terminal(command, rows, columns=COLUMNS, **more):
    """Run a command whose stdout is a terminal. Returns (exit status, what the terminal got, stderr)."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen([str(w) for w in command], stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.PIPE, env=environment(**more))
    os.close(theirs)
    got = read_terminal(ours)
    os.close(ours)
    errors = process.stderr.read().decode()
    return process.wait(timeout=300), got.decode().replace("\r\n", "\n"), errors


def piped(command, **more):
    done = subprocess.run([str(w) for w in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=environment(**more), timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def plain(text):
    return re.sub(r"\033\[[0-9;]*m", "", text)


@pytest.fixture
def report(objects):
    return [BUILD / "locus", "report", objects]


def test_long_text_goes_through_the_pager(report, tmp_path):
    page = tmp_path / "page"
    for more in ({"PAGER": "cat >%s" % page}, {"PAGER": "false", "LOCUS_PAGER": "cat >%s" % page}):
        status, got, errors = on_terminal(report, 10, **more)
        assert (status, got, errors) == (0, "", "")
        text = page.read_text()
        page.unlink()
        assert "\033[1m" in text
        assert plain(text) == piped(report, COLUMNS=str(COLUMNS))


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_help_has_the_terminals_width_or_100_columns(columns):
    for command in ("run", "report", "agree", "bench"):
        status, got, errors = on_terminal([BUILD / "locus", "help", command], 24, columns)
        longest = max(map(len, got.splitlines()))
        assert (status, errors) == (0, "") and min(columns, 100) - 12 < longest <= min(columns, 100), got


def test_text_that_fits_needs_no_pager(report, tmp_path):
    page = tmp_path / "page"
    status, got, _ = on_terminal(report, 500, PAGER="cat >%s" % page)
    assert status == 0 and not page.exists()
    assert plain(got) == piped(report, COLUMNS=str(COLUMNS)) != got


@pytest.mark.parametrize("more", [
    {"PAGER": "no-such-pager --of=any"}, {"PAGER": ""}, {"PAGER": "cat"}, {"PAGER": "/dev/null"},
    {"LOCUS_PAGER": "", "PAGER": "true"}, {"PAGER": "true", "TERM": "dumb"},
], ids=str)
def test_without_a_pager_the_report_is_not_lost(report, more):
    status, got, _ = on_terminal(report, 10, **more)
    assert status == 0
    assert plain(got) == piped(report, COLUMNS=str(COLUMNS))


def test_no_pager(report, tmp_path):
    page = tmp_path / "page"
    others = [[BUILD / "locus", name, PROFILES[name](tmp_path / name)] for name in ("numa", "spans")]
    for command in (report, *others):
        status, got, _ = on_terminal([*command, "--no-pager"], 3, PAGER="cat >%s" % page)
        assert status == 0 and not page.exists()
        assert plain(got).replace("\n", "") == piped(command, COLUMNS=str(COLUMNS)).replace("\n", "")
        on_terminal(command, 3, PAGER="cat >%s" % page)
        assert page.exists()
        page.unlink()


def test_no_color(report):
    status, got, _ = on_terminal(report, 500, NO_COLOR="1")
    assert (status, got) == (0, piped(report, COLUMNS=str(COLUMNS)))
    assert "\033[1m" in on_terminal(report, 500, NO_COLOR="")[1]
    forced = piped(report, CLICOLOR_FORCE="1")
    assert plain(forced) == piped(report) == piped(report, CLICOLOR_FORCE="1", NO_COLOR="1") != forced
    assert piped(report, CLICOLOR_FORCE="0") == piped(report)


def test_pager_that_stops_early_is_no_failure(objects):
    """The text is longer than a pipe holds."""
    long = [BUILD / "locus", "report", "--full", objects]
    assert on_terminal(long, 10, PAGER="exit 0") == (0, "", "")


def test_other_formats_and_pipes_know_no_pager(report, objects, tmp_path):
    page = tmp_path / "page"
    whole = piped([*report, "--format=json"])
    status, got, _ = on_terminal([*report, "--format=json"], 5, PAGER="cat >%s" % page)
    assert (status, got) == (0, whole)
    assert piped(report, PAGER="cat >%s" % page, LOCUS_PAGER="cat >%s" % page) == piped(report)
    on_terminal([*report, "-f", tmp_path / "x.txt"], 5, PAGER="cat >%s" % page)
    assert not page.exists()
    assert (tmp_path / "x.txt").read_text() == piped(report)
