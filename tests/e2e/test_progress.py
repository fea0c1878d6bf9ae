# SPDX-License-Identifier: Apache-2.0
"""The progress of long commands: on a terminal alone, and nothing of it stays."""

import random
import re
import subprocess

import pytest
import synthetic
from conftest import BUILD
from helpers import native_library, on_a_terminal
from synthetic import Block, Profile, frame


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A profile in several blocks."""
    rng = random.Random(1)
    frames = [frame("com.acme.pkg%d.Class%d" % (i % 40, i), "method%d" % (i % 7), i) for i in range(300)]
    profile = Profile(tmp_path_factory.mktemp("large") / "p")
    for _ in range(3):
        block = Block()
        for i in range(400):
            site = ("com.acme.Type%d" % (i % 50), tuple(rng.choice(frames) for _ in range(20)))
            block.access("object", tuple(rng.choice(frames) for _ in range(20)), 3, site)
        profile.append(block)
    return profile.close()


@pytest.fixture
def takes_long(jdk17, tmp_path, monkeypatch):
    """Each reading of the clock takes half a second, as the command sees it: it is slow on any machine."""
    library = native_library(jdk17, "fastclock", tmp_path)
    if not library:
        pytest.skip("no C compiler")
    monkeypatch.setenv("LD_PRELOAD", str(library))


def copies(path, target):
    return [synthetic.another(path, target / str(i)) for i in range(24)]


@pytest.mark.usefixtures("takes_long")
def test_a_long_merge_says_how_far_it_is(large, tmp_path):
    said = on_a_terminal(BUILD / "locus", "merge", "-o", tmp_path / "merged", *copies(large, tmp_path))
    assert "\rlocus: reading " in said and "%\033[K" in said
    assert said.endswith("\r\033[K") and "\n" not in said


@pytest.mark.usefixtures("takes_long")
def test_a_long_report_says_what_it_does(large, tmp_path):
    said = on_a_terminal(BUILD / "locus", "report", "-f", tmp_path / "page.html", *[large] * 20)
    parts = [int(part) for part in re.findall(r"reading [^\r]*, (\d+)%\033\[K", said)]
    assert parts == sorted(parts) and parts[-1] > parts[0], "of all files, not of each"
    assert "\rlocus: writing the report ...\033[K" in said and said.endswith("\r\033[K") and "\n" not in said


def test_nothing_is_said_to_a_file(large, tmp_path):
    done = subprocess.run([BUILD / "locus", "merge", "-o", tmp_path / "merged", *copies(large, tmp_path)], capture_output=True)
    assert done.returncode == 0 and done.stderr == b"" and done.stdout == b""
