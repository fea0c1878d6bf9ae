# SPDX-License-Identifier: Apache-2.0
"""--track-from tracks the classes whose line the first screen of an earlier report lacks, and that report names the command."""

import json
import os
import re
import subprocess

import pytest
from conftest import BUILD, JDK_MAJORS, run_command
from helpers import allocations, collector, command, each_value, report, sites_through, truth
from synthetic import Block, Profile, frame
from test_track import NODE, attached, java_of, of_nodes

MAIN = frame("com.acme.Main", "main", 10)
WALK = frame("com.acme.Walk", "walk", 20)
HEAD = "To see where objects without a line were made:"
NO_ESTIMATES = ["--sample-interval=0", "--interval=1ms", "--budget=none"]


def synthetic(path, *classes, lines=False, words=None, **more):
    """A profile with a row for each of the classes, with a line or without."""
    p = Profile(path, **more)
    if words:
        p.manifest["processes"][0] |= {"arguments": [str(word) for word in words], "directory": str(path.parent)}
    block = Block()
    for i, name in enumerate(classes):
        where = ("object", (name, (MAIN,))) if lines else ("heap_class", (name, ()))
        block.access(where[0], (WALK, MAIN), 1000 - i, where[1])
    return p.append(block).close()


def told_command(text):
    """The lines behind the last heading of a report."""
    found = re.search(r"\n(?:more:|\"~\" is)[^:]+%s\n(  locus run .*)\Z" % HEAD.replace(" ", r"\s"), text, re.S)
    assert found, text
    return found[1]


def options_of(directory):
    return json.loads((directory / "manifest.json").read_text())["processes"][0]["options"]


@each_value(jdk=JDK_MAJORS)
def test_the_command_that_a_report_ends_with_finds_the_lines(workload, profile, jdk, tmp_path):
    """The command as a shell runs it: the class and its lines are those of the program."""
    line = command(workload, jdk, "TrackedTruth", 1, java=java_of("G1"))
    first = profile(line, *NO_ESTIMATES, cwd=tmp_path)
    assert not any(s["class"] == NODE for s in report(first)["sites"])
    text = run_command([BUILD / "locus", "report", first.directory.name], cwd=tmp_path, env={"COLUMNS": "1000"}).stdout
    told = told_command(text)
    assert told.startswith("  locus run --track-from %s -- " % first.directory.name), told
    shell = told.replace("locus run", "locus run -o second", 1)
    done = run_command(["sh", "-c", shell], cwd=tmp_path, env={"PATH": "%s:%s" % (BUILD, os.environ["PATH"])})
    assert done.returncode == 0, done.stderr
    assert "locus: --track-from: tracks %s" % NODE in done.stderr, done.stderr
    second = json.loads(run_command([BUILD / "locus", "report", "--format=json", "--top=100000", tmp_path / "second"]).stdout)
    told = json.loads(done.stdout)
    assert of_nodes(second, told["made"]) == told["made"]
    # Each line is known now, so the report needs no such command.
    text = run_command([BUILD / "locus", "report", "second"], cwd=tmp_path).stdout
    assert NODE + " <- TrackedTruth.newFirst" in text and NODE not in [c for c in second["ranking"]["track_from"]]


@each_value(jdk=JDK_MAJORS)
def test_an_attach_tracks_the_classes_too(workload, locus, tmp_path, jdk):
    earlier = synthetic(tmp_path / "earlier", NODE, "java.lang.Long")
    told, r = attached(workload, locus, tmp_path, jdk, java_of("G1"), "--track-from", earlier)
    assert of_nodes(r, told["made"]) == told["made"]
    assert r["processes"][0]["options"]["track"] == NODE + ";java.lang.Long"


@each_value(jdk=JDK_MAJORS)
def test_hidden_classes_are_tracked_by_the_name_in_the_report(workload, profile, jdk):
    line = command(workload, jdk, "Lambdas", 30_000, 1, java=["-Xmx256m", *collector("G1")])
    first = profile(line, *NO_ESTIMATES)
    (name,) = [c for c in report(first)["ranking"]["track_from"] if c.startswith("Lambdas$$Lambda")]
    assert "0x" not in name
    second = profile(line, "--track-from", first.directory)
    sites = [s for s in sites_through(report(second), "of", "Lambdas") if s["class"] == name]
    assert allocations(sites) == 30_000
    assert not [row for row in second.stderr.splitlines() if "no class named" in row]


def test_a_profile_with_all_lines_tracks_nothing(workload, profile, tmp_path, jdk17):
    earlier = synthetic(tmp_path / "earlier", "byte[]", "long[]", lines=True)
    run = profile(command(workload, jdk17, "TrackedTruth", 0.1, java=java_of("G1")), "--track-from", earlier)
    assert truth(run)["made"]
    assert run.stderr == "locus: --track-from: each of the first eight rows has its line; no class is tracked\n"
    assert options_of(run.directory)["track"] == ""


def test_classes_that_the_program_does_not_have_are_named_at_the_end(workload, profile, tmp_path, jdk17):
    earlier = synthetic(tmp_path / "earlier", "com.acme.other.Node", NODE, "com.acme.Nothing[]")
    run = profile(command(workload, jdk17, "TrackedTruth", 0.1, java=java_of("G1")), "--track-from", earlier)
    assert [row for row in run.stderr.splitlines() if "track" in row] == [
        "locus: --track-from: tracks com.acme.other.Node, %s, com.acme.Nothing[]" % NODE,
        "locus: --track: no class named 'com.acme.other.Node' was loaded; did you mean %s?" % NODE,
        "locus: --track: no class named 'com.acme.Nothing[]' was loaded",
    ]


def test_no_more_than_64_are_tracked(workload, profile, tmp_path, jdk17):
    earlier = synthetic(tmp_path / "earlier", *["com.acme.C%d" % i for i in range(8)])
    patterns = ["--track=%s" % NODE] + ["--track=java.*"] * 60
    run = profile(command(workload, jdk17, "TrackedTruth", 0.1, java=java_of("G1")), *patterns, "--track-from", earlier)
    assert "--track: only the first 64 patterns are used; 5 are left out" in run.stderr
    assert [i for i in range(8) if "'com.acme.C%d'" % i in run.stderr] == [0, 1, 2]
    assert of_nodes(report(run), ["newFirst"]) == {"newFirst": truth(run)["made"]["newFirst"]}


@pytest.mark.parametrize("what", ["file", "nothing", "directory"])
def test_what_is_no_profile_is_refused_before_the_program_starts(locus, tmp_path, what):
    path = tmp_path / "earlier"
    path.write_text("{}") if what == "file" else path.mkdir() if what == "directory" else None
    done = locus("run", "--track-from", path, "--", "touch", tmp_path / "started")
    assert done.returncode == 125 and done.stderr.count("\n") == 1 and str(path) in done.stderr, done.stderr
    assert not (tmp_path / "started").exists()
    attach = locus("attach", "--track-from", path, os.getpid())
    assert attach.returncode == 1 and attach.stderr == done.stderr


def test_what_needs_hooks_is_refused_without(locus, tmp_path):
    earlier = synthetic(tmp_path / "earlier", "com.acme.Node")
    done = locus("run", "--no-hooks", "--track-from", earlier, "--", "true")
    assert done.returncode == 2 and "track needs hooks in classes; omit no-hooks" in done.stderr


def test_only_the_first_eight_rows_count(locus, tmp_path):
    names = ["com.acme.C%d" % i for i in range(12)]
    earlier = synthetic(tmp_path / "earlier", *names)
    r = json.loads(locus("report", "--format=json", earlier).stdout)
    assert r["ranking"]["track_from"] == names[:8]
    done = locus("run", "--track-from", earlier, "--", "true")
    assert "locus: --track-from: tracks %s\n" % ", ".join(names[:8]) in done.stderr


WORDS = ["java", "-Dname=it's $HOME `id`", "-cp", "a b:c", "com.acme.Main", "*", "", "x;y"]


@pytest.mark.parametrize("columns", [40, 80, 120, 300])
@pytest.mark.parametrize("words, least", [(WORDS, 80), (["java", "Main"], 0), (["java", "x" * 400], 1000)], ids=["odd", "short", "long"])
def test_the_command_is_quoted_and_fits(tmp_path, columns, words, least):
    """A shell divides it into the words of the command, or it says COMMAND where the screen has less than `least` columns."""
    names = ["com.acme.C%d" % i for i in range(12)]
    synthetic(tmp_path / "my profile", *names, words=words)
    text = run_command([BUILD / "locus", "report", "my profile"], cwd=tmp_path, env={"COLUMNS": str(columns)}).stdout
    lines = text.splitlines()
    assert max(map(len, lines)) <= max(columns, 44) and (columns < 80 or len(lines) <= 40), text
    script = 'locus() { printf "%s\\n" "$@"; }\n' + told_command(text)
    got = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    assert got[:2] == ["run", "--track-from"] and got[3] == "--"
    assert got[2] == ("my profile" if columns > 40 else "PROFILE")
    assert got[4:] == (words if columns >= least else ["COMMAND"])


def test_no_command_where_it_would_not_help(tmp_path, locus):
    one = synthetic(tmp_path / "one", "com.acme.Node", words=["java", "Main"])
    two = synthetic(tmp_path / "two", "com.acme.Node", pid=5)
    lines = synthetic(tmp_path / "lines", "byte[]", lines=True)
    hidden = synthetic(tmp_path / "hidden", "com.acme.Node", gc="Z", options={"track": "com.acme.Node"})
    assert HEAD in locus("report", one).stdout and HEAD in locus("report", "--full", one).stdout
    for wrong in ([one, two], [lines], [hidden], ["--group=class", one], ["--include=Walk", one], ["--thread=main", one],
                  ["--since=10h", one], ["--view=objects", one], ["--simple", one], ["--by=host", one], ["--engine=timer", one]):
        done = locus("report", *wrong)
        assert done.returncode == 0 and HEAD not in done.stdout, wrong
    # The command was given in another directory.
    assert re.search(r"-- COMMAND$", run_command([BUILD / "locus", "report", one], cwd="/", env={"COLUMNS": "200"}).stdout, re.M)


def test_help_and_completion_have_the_option(locus):
    for name in ("run", "attach"):
        assert "--track-from=PROFILE" in locus("help", name).stdout
        assert "\t%s:--track-from:*) kind='directory' ;;\n" % name in locus("help", "--bash").stdout
