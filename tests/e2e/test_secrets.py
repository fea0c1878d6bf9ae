# SPDX-License-Identifier: Apache-2.0
"""Secrets of a program's command are in no file of its profile and in no report."""

import json
import subprocess

import pytest
from conftest import BUILD
from helpers import command, page_text

SECRET = "hunter2"
JAVA = ["-Ddb.password=" + SECRET, "-Durl=jdbc:x://user:%s@host/db" % SECRET, "-Dlicense=" + SECRET, "-Dkeyboard=qwerty"]
ARGUMENTS = ["--token", SECRET, "--key-count", "41", "https://user:%s@host/x?apiKey=%s" % (SECRET, SECRET)]
SHOWN = ["-Dkeyboard=qwerty", "--key-count", "41", "-Ddb.password=[redacted]", "-Dlicense=[redacted]", "--token"]


def process_of(directory):
    return json.loads((directory / "manifest.json").read_text(encoding="utf-8"))["processes"][0]


def holding_it(directory):
    return [str(path) for path in directory.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


def attached(locus, jvm, directory, *options):
    for words in (["attach", "-o", directory, *options, jvm.pid], ["detach", jvm.pid]):
        done = locus(*words)
        assert done.returncode == 0 and SECRET not in done.stdout + done.stderr, done.stderr


@pytest.mark.parametrize("how", ["launch", "attach"])
def test_no_file_and_no_report_has_a_secret(workload, jdk, locus, tmp_path, how):
    directory, bare, page = tmp_path / "profile", tmp_path / "bare", tmp_path / "report.html"
    line = command(workload, jdk, "Attach", 1, "none", *ARGUMENTS, java=["-Xmx256m", *JAVA])
    if how == "launch":
        line = [BUILD / "locus", "run", "-v", "-o", directory, "--redact=license", "--", *line]
    with open(tmp_path / "stderr", "w", encoding="utf-8") as error:
        jvm = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error, text=True)
        assert jvm.stdout.readline() == "ready\n"
        if how == "attach":
            attached(locus, jvm, directory, "--redact=license")
            attached(locus, jvm, bare, "--no-arguments")
            assert process_of(bare)["command"] == jdk.java and "arguments" not in process_of(bare)
        jvm.communicate("end\n", timeout=300)
    assert jvm.returncode == 7  # the program's own
    words = process_of(directory)["arguments"]
    assert [word for word in SHOWN if word not in words] == [] and process_of(directory)["command"] == " ".join(words)
    for form in (".html", ".json", ".sqlite", ".txt"):
        assert locus("report", "-f", tmp_path / ("report" + form), directory).returncode == 0
    assert locus("merge", "-o", tmp_path / "merged", directory).returncode == 0
    assert "[redacted]" in page_text(page.read_text(encoding="utf-8")) and SECRET not in page_text(page.read_text(encoding="utf-8"))
    assert SECRET not in locus("list", "--json", directory).stdout
    assert not holding_it(tmp_path)
