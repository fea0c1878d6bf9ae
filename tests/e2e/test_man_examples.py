# SPDX-License-Identifier: Apache-2.0
"""The examples of the manual pages are executed, on profiles and programs that have the names of the examples."""

import os
import re
import shutil
import subprocess
import time

import pytest
from conftest import BUILD, ROOT
from helpers import command
from test_attach import Program

PAGES = sorted(path.name.partition(".1.in")[0] for path in (ROOT / "docs/man").glob("*.1.in"))
# Examples that need more than this machine and a minute. Its options are looked up in the tool's help.
ELSEWHERE = {
    r"\bdocker run\b": "a container's image",
    r"\bmpirun\b": "several machines; test_mpi.py runs it here",
    r"\blocus bench\b": "Maven and minutes; test_bench_command.py runs it",
    r"\blocus agree -n\b": "several profilers; test_agree.py runs it",
    r"\blocus agree runs\b": "the runs of the one above",
    r"\borg\.openjdk\.jmh\.Main\b": "JMH; test_jmh.py runs it",
    r"\blocus top (?!--batch)": "a terminal; test_top.py has one",
    r"\blocus repeat noise\b": "the runs of the one above, with -o",
}
# (words of an example, words in their place): shorter times, and nothing outside the directory.
INSTEAD = (
    (r"(?<![-\w])4711\b", "$PID"), (r"-d 30s", "-d 1s"), (r"sleep 31", "sleep 4"), (r"-n (10|30)\b", "-n 2"), (r"--count=60\b", "--count=2"),
    (r"/srv/profiles", "srv"), (r"/var/tmp/", "$PWD/"), (r">/etc/systemd/\S*/", ">"), (r"/opt/jdk-25\b", "$JDK"),
    (r"/usr/lib/jvm/java-17/lib/", ""), (r"java -cp (app\.jar|build) Main|java -jar app\.jar|java Main", "java -cp classes Acme"),
    (r"com\.acme\.Index", "Acme"),
)
# Statuses other than 0 that an example may have here.
ALSO = {r"diff .*--fail-on": (1, 3), r"list --where host='web\*'": (1,), r"report -f report\.html --source-path": (3,)}


def examples(page):
    """The commands below EXAMPLES, a list for each block."""
    text = (ROOT / "docs/man" / (page + ".1.in")).read_text(encoding="utf-8")
    part = re.search(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH )", text, re.M | re.S)
    blocks = re.findall(r"^\.(?:EX|RS)\n(.*?)^\.(?:EE|RE)", part[1] if part else "", re.M | re.S)
    told = []
    for block in blocks:
        block = block.replace("\\-", "-").replace("\\(dq", '"').replace("\\\\\n", " ").replace("\\(ti", "~")
        told.append([line.strip() for line in block.splitlines() if line.strip() and not line.startswith(".")])
    return [lines for lines in told if not re.match(r"Secondary result|[\d.]+ ", lines[0])]


def elsewhere(line):
    return any(re.search(pattern, line) for pattern in ELSEWHERE)


def check_options(locus, line):
    """Each long option of an example that is not executed is one of its command."""
    found = re.search(r"\blocus(?:-mpi)? (\w+)(.*)", line)
    if found:
        known = locus("help", found[1]).stdout
        for option in re.findall(r"(?<!\S)--[a-z][-a-z]*", found[2].partition(" -- ")[0]):
            assert option in known, (line, option)


@pytest.fixture
def place(workload, profile_once, jdk17, tmp_path):
    """A directory with what the examples name; returns it, and the environment."""
    recorded = profile_once("acme", command(workload, jdk17, "Acme"), "--interval=2ms").directory
    for name in ("prof", "before", "after", "b1", "b2", "b3", "a1", "a2", "a3", "run1", "run2", "run3", "locus-4711", "srv/web1",
                 *("prof%d" % i for i in range(1, 6))):
        shutil.copytree(recorded, tmp_path / name)
    (tmp_path / "classes").symlink_to(workload(jdk17, "Acme"))
    for name, text in (("script", "java -cp classes Acme\n"), ("start-server", "java -cp classes Acme; java -cp classes Acme\n")):
        (tmp_path / name).write_text("#!/bin/sh\n" + text)
        (tmp_path / name).chmod(0o755)
    for name in ("sources.jar", "src.zip"):
        shutil.make_archive(tmp_path / "packed", "zip", ROOT / "tests" / "workloads" / "bench")
        (tmp_path / "packed.zip").rename(tmp_path / name)
    return tmp_path, {**os.environ, "JDK": str(jdk17.home), "PATH": os.pathsep.join([str(BUILD), str(jdk17.home / "bin"), os.environ["PATH"]])}


@pytest.fixture
def pid(workload, jdk17, tmp_path_factory):
    """The process that is recorded as it runs."""
    program = Program(command(workload, jdk17, "Attach", 1, java=["-Xmx256m"]), tmp_path_factory.mktemp("attached"))
    yield program.pid
    program.process.kill()
    program.process.wait()


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)])
def test_each_example_of_a_page_runs(locus, place, page, request):
    directory, env = place
    for lines in examples(page):
        for line in lines:
            if elsewhere(line):
                check_options(locus, line)
                continue
            short = line
            for pattern, text in INSTEAD:
                short = re.sub(pattern, text, short)
            if "$PID" in short:
                env["PID"] = str(request.getfixturevalue("pid"))
            for target in re.findall(r" -o (\S+)", short):  # the examples begin without one
                shutil.rmtree(directory / target, ignore_errors=True)
            done = subprocess.run(["bash", "-c", short], cwd=directory, env=env, capture_output=True, text=True, timeout=300)
            allowed = {0}.union(*(of for pattern, of in ALSO.items() if re.search(pattern, line)))
            assert done.returncode in allowed, (page, short, done.returncode, done.stdout[-500:], done.stderr)
            if "attach" in short:
                time.sleep(0.2)
        if "PID" in env:
            locus("detach", env["PID"])
            shutil.rmtree(directory / "prof")
            shutil.copytree(directory / "before", directory / "prof")


def test_every_page_of_a_command_has_examples():
    assert [page for page in PAGES if not examples(page)] == ["locus-api"]
