# SPDX-License-Identifier: Apache-2.0
"""The Java API: a program begins, marks and ends recordings of itself, with the agent or without."""

import json
import shutil

from conftest import BUILD, JDK_MAJORS, Profile
from helpers import COLLECTORS, allocations, by_hand, collector, command, complaints, each_pair, execute, report, sites_through

JAR = BUILD / "locus-api.jar"


def between(locus, profile, *options):
    done = locus("report", "--format=json", "--top=100000", *options, profile)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    return allocations(sites_through(read, "allocate", "RecordsItself")), read["processes"][0]["shown"]


def run(workload, jdk, mode, directory, java=(), jar=JAR, agent=None):
    line = command(workload, jdk, "RecordsItself", mode, directory, java=java, jars=[jar])
    return execute(by_hand(line, *agent) if agent else line)


def answers(run):
    assert run.returncode == 3, run.stderr
    return run.stdout.decode().splitlines()


def made(run, directory):
    r = report(Profile(run, directory))
    return allocations(sites_through(r, "allocate", "RecordsItself")), [
        m["name"] for m in r["processes"][0].get("marks", [])
    ]


TWICE = [
    "false false false false",
    "true false",
    "true true",
    "true",
    "true true",
    "true",
    "true false false false",
    "true true",
    "true",
    "true",
    "true",
]
LONG = "\U0001f600" * 100


def assert_twice(ran, directory):
    assert answers(ran) == TWICE
    assert "unknown option 'no-such-option'" in ran.stderr.decode()
    assert "already being recorded" in ran.stderr.decode()
    assert made(ran, directory / "1") == (100, ["one"])
    count, marks = made(ran, directory / "2")
    assert (count, marks[0]) == (200, "tw\u00f6")
    assert LONG.startswith(marks[1]) and len(marks[1]) == 20
    assert not (directory / "3").exists()


def test_a_program_without_the_agent_records_itself(workload, jdk, tmp_path):
    ran = run(workload, jdk, "twice", tmp_path)
    assert_twice(ran, tmp_path)
    warned = "WARNING: A JVM TI agent has been loaded dynamically" in ran.stderr.decode()
    assert warned == (jdk.major >= 21)


def test_a_recording_by_the_agent_is_ended_and_others_follow(workload, jdk, tmp_path):
    ran = run(workload, jdk, "end", tmp_path, agent=(tmp_path / "prof",))
    assert answers(ran) == ["true true true false"]
    assert complaints(ran.stderr) == []
    assert made(ran, tmp_path / "prof") == (100, ["one"])


def test_after_a_start_that_failed_another_can_succeed(workload, jdk, tmp_path):
    ran = run(workload, jdk, "loop", tmp_path, agent=("/proc/none/x",))
    assert answers(ran) == ["false false false false"]
    said = complaints(ran.stderr)
    assert len(said) == 1 and "/proc/none/x" in said[0], ran.stderr
    assert len(list((tmp_path / "loop").iterdir())) > 1


def test_requests_do_not_keep_a_recording_from_its_end(workload, jdk, tmp_path):
    """Four threads ask all the time: who ends the recording is next nevertheless."""
    ran = run(workload, jdk, "asked", tmp_path)
    assert answers(ran) == ["false false false false", "true"]
    assert json.loads((tmp_path / "asked" / "manifest.json").read_text())["processes"][0]["complete"]


def test_times_of_marks_are_within_the_recording(workload, jdk17, tmp_path):
    ran = run(workload, jdk17, "twice", tmp_path)
    process = report(Profile(ran, tmp_path / "2"))["processes"][0]
    assert answers(ran) == TWICE
    times = [m["time_ns"] for m in process["marks"]]
    assert process["start_monotonic_ns"] <= times[0] <= times[1] <= process["end_monotonic_ns"]


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_what_is_allocated_between_two_marks_is_counted_exactly(workload, locus, tmp_path, jdk, gc):
    assert run(workload, jdk, "phases", tmp_path, java=["-Xmx256m", *collector(gc)]).returncode == 3
    profile = tmp_path / "phases"
    (process,) = json.loads((profile / "manifest.json").read_text())["processes"]
    times = {m["name"]: m["time_ns"] for m in process["marks"]}
    assert len(times) == 8
    assert between(locus, profile, "--to-mark=begin 1")[0] == 50
    for phase in range(1, 5):
        begin, end = "begin %d" % phase, "end %d" % phase
        count, shown = between(locus, profile, "--from-mark", begin, "--to-mark", end)
        assert count == 1101 * phase
        assert times[begin] <= shown["begin_ns"] <= shown["end_ns"] == times[end]
    assert between(locus, profile, "--from-mark=end 1", "--to-mark=begin 2")[0] == 7
    assert between(locus, profile, "--from-mark=begin 2")[0] == 9 * 1101 + 3 * 7
    text = locus("report", "--from-mark=begin 2", "--to-mark=end 3", profile).stdout
    assert "only what was recorded from the mark 'begin 2', to the mark 'end 3'" in " ".join(text.split())
    for options, word in ((["--from-mark=begin"], "did you mean"), (["--from-mark=end 2", "--to-mark=begin 2"], "after --from-mark"),
                          (["--to-mark=x"], "no mark 'x'")):
        done = locus("report", *options, profile)
        assert done.returncode == 1 and word in done.stderr and len(done.stderr.splitlines()) == 1
    same = json.loads(locus("diff", "--format=json", "--from-mark=begin 1", "--to-mark=end 1", profile, profile).stdout)
    assert same["profiles"]


def test_a_mark_is_in_the_profile_of_its_time_and_in_no_other(workload, jdk, tmp_path):
    assert run(workload, jdk, "loop", tmp_path).returncode == 3
    marks = []
    for part in sorted((tmp_path / "loop").iterdir()):
        (process,) = json.loads((part / "manifest.json").read_text())["processes"]
        for mark in process.get("marks", []):
            marks.append(mark["name"])
            assert process["start_monotonic_ns"] <= mark["time_ns"] <= process["end_monotonic_ns"]
    assert marks == ["one", "two", "three"]


def test_without_a_library_nothing_happens_and_start_says_so(workload, jdk, tmp_path):
    alone = shutil.copy(JAR, tmp_path / "alone.jar")
    ran = run(workload, jdk, "none", tmp_path, jar=alone)
    assert answers(ran) == ["false false false false", "true false"]
    assert "there is no %s/liblocus.so" % tmp_path in ran.stderr.decode()
    named = run(workload, jdk, "twice", tmp_path, ["-Dlocus.library=%s" % (BUILD / "liblocus.so")], jar=alone)
    assert_twice(named, tmp_path)


def test_a_library_that_is_none(workload, jdk, tmp_path):
    (tmp_path / "liblocus.so").write_text("no library")
    ran = run(workload, jdk, "none", tmp_path, ["-Dlocus.library=%s" % (tmp_path / "liblocus.so")])
    assert answers(ran) == ["false false false false", "true false"]
    assert "this JVM does not load %s" % (tmp_path / "liblocus.so") in ran.stderr.decode()


def test_a_jvm_that_loads_no_agents_later(workload, jdk25, tmp_path):
    ran = run(workload, jdk25, "none", tmp_path, ["-XX:-EnableDynamicAgentLoading"])
    assert answers(ran) == ["false false false false", "true false"]
    assert "this JVM does not load" in ran.stderr.decode() and "ynamic agent loading" in ran.stderr.decode()


def test_checked_jni_has_nothing_to_say(workload, jdk, tmp_path):
    ran = run(workload, jdk, "twice", tmp_path, ["-Xcheck:jni"])
    assert answers(ran) == TWICE
