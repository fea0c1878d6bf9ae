# SPDX-License-Identifier: Apache-2.0
"""The cost of Locus for two fixed programs, in counts and CPU time: tests/data/cost.json has the former figures.

After a change that is meant: python3 tests/e2e/test_cost.py measures again; read the difference.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import pytest
from conftest import BUILD, EXPORTS, JDK_MAJORS, JDKS, QUICK_JAVAC, ROOT, WORKLOADS

RECORDED = ROOT / "tests" / "data" / "cost.json"
JAVA = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:ActiveProcessorCount=2"]
PROGRAMS = {  # (class, arguments, options of Locus)
    "hooks": ("OwnCost", ["1", "1100"], []),
    "tasks": ("SpanTasks", ["fixedPool"], ["--spans=streams,tasks", "--min-size=0"]),
}
# Above so many times what is recorded a number is red. Numbers of walks and bytes depend on where samples fall: a method that one
# falls into is kept, up to 1 MB of them. So the least of some runs counts.
RUNS = 3
MOST = {"classes_changed": 1.1, "hook_calls": 1.05, "walks": 1.3, "bytes": 1.3, "own_memory": 1.15, "system_calls_of_a_sample": 1.0}
PAIRS = 5
SURPLUS = 2.0  # times the recorded one
TIMED = ("OwnCost", ["8", "1100"], [])


def locus_run(directory, program, *options):
    return [str(BUILD / "locus"), "run", "-q", "-o", str(directory), *options, "--", *program]


def java(jdk, classes, name, arguments):
    return [jdk.java, *EXPORTS, *JAVA, "-cp", str(classes), name, *arguments]


def counted(jdk, classes, name, work):
    """The work of Locus for a program: {what: how often}."""
    main, arguments, options = PROGRAMS[name]
    profile = work / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    subprocess.run(locus_run(profile, java(jdk, classes, main, arguments), *options), check=True, stdout=subprocess.DEVNULL)
    c = json.loads((profile / "manifest.json").read_text())["processes"][0]["counters"]
    report = json.loads(subprocess.run([BUILD / "locus", "report", "--format=json", "--top=100000", profile], check=True,
                                       stdout=subprocess.PIPE).stdout)
    return {
        "classes_changed": c["classes_rewritten"] + c["classes_retransformed"],
        "hook_calls": sum(site["allocations"] for site in report["sites"]),
        "walks": c["alloc_walks"] + sum(n for key, n in c.items() if key.startswith("engine_walk_asked")),
        "bytes": sum(file.stat().st_size for file in profile.iterdir()),
        "own_memory": c["own_memory_bytes"],
    }


def system_calls_of_a_sample(jdk, classes, work):
    """The median of the handlers' system calls, as strace shows them between the timer's signal and the return from it."""
    main, arguments, _ = PROGRAMS["hooks"]
    log, inside, each = work / "calls", {}, []
    line = locus_run(work / "traced", java(jdk, classes, main, arguments), "--interval=2ms")
    subprocess.run(["strace", "-f", "-qq", "-o", log, *line], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for text in log.read_text(errors="replace").splitlines():
        thread, _, what = text.partition(" ")
        what = what.strip()
        if re.match(r"--- SIG\w+ \{.*si_code=SI_TIMER", what):
            inside[thread] = 0
        elif what.startswith("rt_sigreturn") and thread in inside:
            each.append(inside.pop(thread))
        elif thread in inside and re.match(r"\w+\(", what):
            inside[thread] += 1
    assert len(each) > 50, log
    return statistics.median_high(each)


def cpu_seconds(line):
    before = os.times()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def surplus(jdk, classes, work, enough=float("-inf")):
    """The least that a run with Locus took more than the one beside it without, as a part of that; or the first at most `enough`."""
    main, arguments, options = TIMED
    program, pairs = java(jdk, classes, main, arguments), []
    for _ in range(PAIRS):
        shutil.rmtree(work / "timed", ignore_errors=True)
        pairs.append((cpu_seconds(program), cpu_seconds(locus_run(work / "timed", program, *options))))
        if pairs[-1][1] / pairs[-1][0] - 1 <= enough:
            break
    return min(with_locus / bare - 1 for bare, with_locus in pairs), pairs


def recorded(jdk):
    return json.loads(RECORDED.read_text())[str(jdk.major)]


@pytest.fixture
def classes(workload, jdk):
    return workload(jdk, "OwnCost")


@pytest.mark.everywhere
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_program_costs_more_than_it_did(jdk, classes, tmp_path, name):
    known, found = recorded(jdk)[name], {}
    for _ in range(RUNS):
        found = {what: min(n, found.get(what, n)) for what, n in counted(jdk, classes, name, tmp_path).items()}
        beyond = {what: (n, known[what]) for what, n in found.items() if n > MOST[what] * known[what]}
        if not beyond:
            break
    assert not beyond, "more than is recorded: %s" % beyond
    # A count that has halved is recorded again, or the gate has no teeth.
    below = {what: (n, known[what]) for what, n in found.items() if n < 0.5 * known[what]}
    assert not below, "less than half of what is recorded: %s; run tests/e2e/test_cost.py" % below


@pytest.mark.everywhere
def test_a_sample_makes_no_more_system_calls_than_it_did(jdk, classes, tmp_path):
    if not shutil.which("strace"):
        pytest.skip("no strace; scripts/install-deps test installs it")
    found = system_calls_of_a_sample(jdk, classes, tmp_path)
    assert found <= recorded(jdk)["system_calls_of_a_sample"]


@pytest.mark.quiet
def test_the_surplus_of_cpu_time_is_not_twice_what_it_was(jdk, classes, tmp_path):
    """The only time that `make test` measures: pairs in turn, until one of five is good enough."""
    most = SURPLUS * recorded(jdk)["surplus"]
    found, pairs = surplus(jdk, classes, tmp_path, enough=most)
    assert found <= most, pairs


def measure():
    """The recorded figures, measured anew."""
    told = {}
    for major in JDK_MAJORS:
        jdk = JDKS[major]
        with tempfile.TemporaryDirectory() as directory:
            work = type(ROOT)(directory)
            sources = [WORKLOADS / (main + ".java") for main, _, _ in PROGRAMS.values()]
            subprocess.run([jdk.javac, *QUICK_JAVAC, *EXPORTS, "-g", "-d", work / "classes", *sources], check=True)
            told[str(major)] = {name: counted(jdk, work / "classes", name, work) for name in PROGRAMS}
            told[str(major)]["system_calls_of_a_sample"] = system_calls_of_a_sample(jdk, work / "classes", work)
            told[str(major)]["surplus"] = round(surplus(jdk, work / "classes", work)[0], 3)
    return told


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(measure(), indent=1) + "\n")
    sys.exit(print(RECORDED.read_text()))
