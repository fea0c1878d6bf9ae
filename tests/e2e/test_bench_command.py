# SPDX-License-Identifier: Apache-2.0
"""locus bench: what it asks its Java part for, and the one line where it cannot.

A java of the test's own stands for the Java part: it keeps the request, and ends with a status.
"""

import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import termios
import time

import pytest
from conftest import BUILD, COMMAND_SECONDS, WORKLOADS, run_command
from helpers import command, marked_lines, read_terminal
from synthetic import Block, Profile, frame

USAGE, FAILED, PARTIAL = 2, 1, 3
MAIN = frame("org.acme.Main", "main", 3)
SEARCH = frame("org.acme.Index", "search", 12, file="Index.java")
NEXT = frame("org.acme.Index", "search", 13, file="Index.java")
GET = frame("java.util.HashMap", "getNode", 500)
FILL = frame("org.acme.Index", "fill", 5, file="Index.java")
KEEPS = '#!/bin/sh\nshift 3\ncp "$4" "%s"\necho "it ran: $1 $2 $3"\nexit %d\n'


class Tool:
    """A locus of its own directory, with or without its Java part, and where it is called."""

    def __init__(self, directory, jar=True):
        self.directory = directory
        (directory / "bin").mkdir()
        self.program = directory / "bin" / "locus"
        shutil.copy2(BUILD / "locus", self.program)
        self.jar = directory / "bin" / "locus-bench.jar"
        if jar:
            self.jar.write_text("")
        self.java = directory / "fake" / "java"
        self.java.parent.mkdir()
        self.kept = directory / "kept.json"
        self.ends(0)
        self.sources = directory / "src"
        source = self.sources / "org" / "acme" / "Index.java"
        source.parent.mkdir(parents=True)
        source.write_text("\n" * 100)

    def ends(self, status):
        self.java.write_text(KEEPS % (self.kept, status))
        self.java.chmod(0o755)

    def __call__(self, *arguments, agreed=True, **more):
        self.kept.unlink(missing_ok=True)
        first = ["--run-recorded"] if agreed else []
        return run_command([self.program, "bench", *first, *arguments], cwd=self.directory, **more)

    def request(self, *arguments, **more):
        """The request to the Java part."""
        done = self("--java", self.java, *arguments, **more)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "it ran: -cp %s locusbench.Main\n" % self.jar
        return json.loads(self.kept.read_text())

    def error(self, status, *arguments, **more):
        """The one line that it ends with."""
        done = self("--java", self.java, *arguments, **more)
        assert (done.returncode, done.stdout) == (status, "")
        assert done.stderr.startswith("locus: ") and done.stderr.count("\n") == 1, done.stderr
        assert not self.kept.exists()
        return done.stderr


@pytest.fixture
def tool(tmp_path):
    return Tool(tmp_path)


@pytest.fixture
def acme(tool):
    """A profile of a program whose objects are accessed in org.acme.Index.search and below it."""
    (tool.directory / "classes").mkdir()
    profile = Profile(tool.directory / "prof", command="java -Xmx64m -cp classes org.acme.Main a b")
    process = profile.manifest["processes"][0]
    process["arguments"] = ["java", "-Xmx64m", "-cp", "classes:lib/*", "org.acme.Main", "a b"]
    process["directory"] = str(tool.directory)
    site = ("org.acme.Node", (FILL, MAIN))
    block = Block().allocate(*site, 1000, 64_000)
    block.access("object", (SEARCH, MAIN), 300, site)
    block.access("object", (GET, NEXT, MAIN), 400, site)
    block.access("no_address", (SEARCH, MAIN), 50)
    profile.append(block).close()
    return tool


def test_the_first_finding_is_benchmarked(acme):
    """Time in a library's method is of the line that calls it."""
    request = acme.request("prof", "--source-path", "src")
    finding = request.pop("finding")
    assert finding.startswith("o.a.Node of o.a.Index.fill:5"), finding
    assert request == {
        "format": 1, "profile": "prof", "engine": 1, "class": "org.acme.Index", "method": "search", "line": 13,
        "lines": [{"line": 12, "samples": 350}, {"line": 13, "samples": 400}],
        "method_samples": 750, "sample_ns": 5_000_000,
        "source_path": [str(acme.sources)], "class_path": [str(acme.directory / "classes")], "against": [],
        "output": "bench-Index-13", "run": True, "record": True, "allow_io": False,
        "program": ["java", "-Xmx64m", "-cp", "classes:lib/*", "org.acme.Main", "a b"],
        "program_main": 4, "program_directory": str(acme.directory), "as_profiled": True, "java": str(acme.java),
        "jvm_options": ["-Xmx64m", "-XX:+UseG1GC"], "forks": 3, "seconds": request["seconds"], "inputs": 100,
        "locus": str(acme.program)}
    assert json.loads((acme.directory / "bench-Index-13" / "request.json").read_text())["line"] == 13


def test_a_later_finding_is_named(acme):
    """The first one is about objects that code without source accesses."""
    done = acme("--java", acme.java, "prof", "--source-path", "src", "--no-record")
    assert "locus: bench: the first finding leads to --at=org.acme.Index:13\n" in done.stderr
    site = ("org.acme.Far", (FILL, MAIN))
    Profile(acme.directory / "far").append(
        Block().allocate(*site, 1000, 64_000).access("object", (MAIN,), 2000, site)).close()
    merged = run_command([acme.program, "merge", "-o", acme.directory / "both", acme.directory / "prof", acme.directory / "far"])
    assert merged.returncode == 0, merged.stderr
    findings = json.loads(run_command([acme.program, "report", "--format=json", acme.directory / "both"]).stdout)["findings"]
    about = next(finding for finding in findings if "o.a.Node" in finding["text"])
    assert about != findings[0]
    done = acme("--java", acme.java, "both", "--source-path", "src", "--no-record")
    assert "locus: bench: the finding %s leads to --at=org.acme.Index:13\n" % about["id"] in done.stderr


def test_the_options_are_passed_on(acme):
    (acme.directory / "lib").mkdir()
    for name in ("b.jar", "a.jar", "a.txt"):
        (acme.directory / "lib" / name).write_text("")
    (acme.directory / "fixed").mkdir()
    request = acme.request(
        "--source-path=src:fixed", "--class-path", "lib/*:classes", "--against", "fixed", "-o", "out", "--no-run",
        "--forks=5", "--seconds=7", "--allow-io", "--at", "org.acme.Index:12", "prof", "--", "sh", "start", "--at", "x y")
    here = acme.directory
    assert request["source_path"] == [str(here / "src"), str(here / "fixed")]
    assert request["class_path"] == [str(here / of) for of in ("lib/a.jar", "lib/b.jar", "classes")]
    assert request["against"] == [str(here / "fixed")]
    assert (request["output"], request["run"], request["record"]) == ("out", False, True)
    assert (request["forks"], request["seconds"], request["allow_io"]) == (5, 7, True)
    assert (request["class"], request["method"], request["line"]) == ("org.acme.Index", "search", 12)
    assert request["finding"] == ""
    assert (request["program"], request["program_directory"]) == (["sh", "start", "--at", "x y"], str(here))
    assert request["program_main"] == 0 and not request["as_profiled"]  # no java
    assert request["jvm_options"] == ["-Xmx64m", "-XX:+UseG1GC"]
    assert acme.request("prof", "--source-path=src", "--no-record")["record"] is False


def test_the_forms_of_a_place(acme):
    places = {"org.acme.Index:13": ("search", 13, 750), "org.acme.Index#search": ("search", -1, 750),
              "org.acme.Index": ("", -1, 0), "org.acme.Index:90": ("", 90, 0), "org.other.Class:1": ("", 1, 0)}
    for at, expected in places.items():
        request = acme.request("prof", "--source-path", "src", "--at", at)
        assert request["class"] == at.partition(":")[0].partition("#")[0]
        assert (request["method"], request["line"], request["method_samples"]) == expected
    made = sorted(p.name for p in acme.directory.glob("bench-*"))
    assert made == ["bench-Class-1", "bench-Index", "bench-Index-13", "bench-Index-90", "bench-Index-search"]
    acme.request("prof", "--source-path", "src", "--at", "org.acme.Index:13")
    assert (acme.directory / "bench-Index-13-2" / "request.json").exists()
    request = acme.request("prof", "--source-path", "src", "--at", "org.acme.Index#search(int,String)")
    assert (request["method"], request["parameters"], request["method_samples"]) == ("search", "int,String", 750)
    assert (acme.directory / "bench-Index-search-2" / "request.json").exists()


def test_the_newest_profile_is_taken(acme):
    assert acme.request("--source-path", "src")["profile"] == "prof"


def test_a_profile_of_an_older_locus_has_its_command_split(acme):
    manifest = acme.directory / "prof" / "manifest.json"
    old = json.loads(manifest.read_text())
    for member in ("arguments", "directory"):
        del old["processes"][0][member]
    manifest.write_text(json.dumps(old))
    done = acme("prof", "--java", acme.java, "--source-path", "src", "--at", "org.acme.Index:13")
    assert done.returncode == 0
    split, title, *rows = done.stderr.splitlines()
    assert "as one text" in split and "anybody can have written" in title
    assert rows == ["  command     java -Xmx64m -cp classes org.acme.Main a b", "  directory   %s" % acme.directory,
                    "  class path  %s/classes" % acme.directory]
    request = json.loads(acme.kept.read_text())
    assert request["program"] == ["java", "-Xmx64m", "-cp", "classes", "org.acme.Main", "a", "b"]
    assert request["class_path"] == [str(acme.directory / "classes")]
    quiet = acme("prof", "--java", acme.java, "--source-path=src", "--class-path=classes", "--at=org.acme.Index:13", "--",
                 "java", "x")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_a_command_without_its_secrets_is_not_run_again(acme):
    at = ("--source-path=src", "--at=org.acme.Index:13")
    words = ["java", "-cp", "classes", "org.acme.Main", "--token", "[redacted]"]
    record(acme, arguments=words)
    refusal = acme.error(USAGE, "prof", *at)
    assert "does not have a secret of the program's command ('[redacted]'); write the command after '--'" in refusal
    assert acme.request("prof", *at, "--no-record")["record"] is False
    assert acme("prof", "--java", acme.java, *at, "--", "java", *words[1:-1], "x").returncode == 0
    # An older Locus has recorded the secret: it is not taken from the profile either.
    record(acme, arguments=[*words[:-1], "hunter2"], command="java org.acme.Main --token hunter2")
    assert "hunter2" not in acme.error(USAGE, "prof", *at)
    listed = run_command([acme.program, "list", "--json", "prof"], cwd=acme.directory).stdout
    assert "java org.acme.Main --token [redacted]" in listed and "hunter2" not in listed
    record(acme, arguments=None, command="java", options={"no-arguments": "on"})
    assert "does not have the program's arguments (--no-arguments)" in acme.error(USAGE, "prof", *at)


@pytest.mark.parametrize("at", ["", "org.acme.Index:", "org.acme.Index:0", "org.acme.Index:x", "org.acme.Index#", ":3",
                                "org/acme/Index:3", "org.acme.Index:3:4"])
def test_a_wrong_place_costs_one_line(acme, at):
    assert "--at: '" in acme.error(USAGE, "prof", "--source-path", "src", "--at", at)


def test_what_is_missing_costs_one_line(acme):
    at = ("--at", "org.acme.Index:13")
    sources = ("--source-path", "src")
    assert "name the program's source files with --source-path" in acme.error(USAGE, "prof", *at)
    assert "'nowhere'" in acme.error(FAILED, "prof", *at, "--source-path", "nowhere")
    assert "nowhere" in acme.error(FAILED, "nowhere", *at, *sources)
    assert "second profile" in acme.error(USAGE, "prof", "prof", *at, *sources)
    assert "--class-path" in acme.error(FAILED, "prof", *at, *sources, "--class-path", "none/*")
    assert "--against" in acme.error(FAILED, "prof", *at, *sources, "--against", "nowhere")
    assert "--no-record" in acme.error(USAGE, "prof", *at, *sources, "--no-record", "--", "java")
    assert "--forks" in acme.error(USAGE, "prof", *at, *sources, "--forks=0")
    assert "--seconds" in acme.error(USAGE, "prof", *at, *sources, "--seconds=x")
    assert "not an empty directory" in acme.error(FAILED, "prof", *at, *sources, "-o", "src", "--no-record", "--class-path", "classes")
    assert "--java" in acme.error(FAILED, "prof", *at, *sources, "--java", "no/java")
    (acme.directory / "empty").mkdir()
    assert "--source-path" in acme.error(FAILED, "prof", "--source-path", "empty")
    assert not list(acme.directory.glob("bench-*"))
    (acme.directory / "classes").rmdir()
    assert "no part of the program's class path" in acme.error(FAILED, "prof", *at, *sources)


def test_a_class_path_that_is_not_known_is_asked_for(acme):
    manifest = acme.directory / "prof" / "manifest.json"
    profile = json.loads(manifest.read_text())
    options = ("prof", "--source-path", "src", "--at", "org.acme.Index:13")
    profile["processes"][0]["arguments"] = ["java", "@options"]
    manifest.write_text(json.dumps(profile))
    assert "in an argument file (@FILE)" in acme.error(USAGE, *options)
    profile["processes"][0].update(arguments=[], command=None)
    manifest.write_text(json.dumps(profile))
    assert "name it with --class-path" in acme.error(USAGE, *options)
    request = acme.request(*options, "--class-path", "classes")
    assert request["program"] == []


def test_without_a_profile_or_the_jar_there_is_one_line(tmp_path):
    tool = Tool(tmp_path, jar=False)
    assert "make bench-jar" in tool.error(FAILED, "--source-path", "src")
    tool.jar.write_text("")
    assert "no profile in the current directory" in tool.error(USAGE, "--source-path", "src")


def test_a_profile_without_findings_asks_for_a_place(tool):
    (tool.directory / "app.jar").write_text("")
    Profile(tool.directory / "prof").append(Block().access("no_address", (SEARCH,), 3)).close()
    assert "--at" in tool.error(FAILED, "prof", "--source-path", "src", "--class-path", "app.jar")


@pytest.mark.parametrize("status", [FAILED, USAGE, PARTIAL])
def test_the_status_of_the_java_part_is_passed_on(acme, status):
    """If nothing was made, no directory stays."""
    acme.ends(status)
    done = acme("--java", acme.java, "prof", "--source-path", "src", "--at", "org.acme.Index:13", "--no-record",
                "--class-path", "classes")
    assert (done.returncode, done.stderr) == (status, "")
    assert (acme.directory / "bench-Index-13").exists() == (status == PARTIAL)


AT = ("prof", "--source-path", "src", "--at", "org.acme.Index:13")


def record(acme, **members):
    """Change what the profile says of its process."""
    manifest = acme.directory / "prof" / "manifest.json"
    profile = json.loads(manifest.read_text())
    profile["processes"][0].update(members)
    manifest.write_text(json.dumps(profile))


def evil_java(acme):
    """A profile whose command is a program named java; returns the file that it makes when it is run."""
    made = acme.directory / "ran"
    evil = acme.directory / "evil" / "java"
    evil.parent.mkdir()
    evil.write_text('#!/bin/sh\ntouch "%s"\n' % made)
    evil.chmod(0o755)
    record(acme, arguments=[str(evil), "-cp", "classes", "org.acme.Main"])
    return made


@pytest.mark.parametrize("more", [(), ("--no-record",), ("--class-path", "classes"), ("--no-record", "--no-run"),
                                  ("--class-path", "classes", "--no-record"), ("--java", "fake/java")])
def test_nothing_of_a_profile_is_run_unasked(acme, more):
    """Each of the command, the java and the class path is enough to ask."""
    made = evil_java(acme)
    done = acme(*AT, *more, agreed=False)
    assert done.returncode == USAGE and "nothing was run" in done.stderr and "--run-recorded" in done.stderr
    assert not made.exists() and not acme.kept.exists() and not list(acme.directory.glob("bench-*"))
    shown = {line.split("  ")[1] for line in done.stderr.splitlines() if line.startswith("  ")}
    assert shown == ({"command", "directory"} if "--no-record" not in more else set()) \
        | ({"java"} if "--java" not in more else set()) | ({"class path"} if "--class-path" not in more else set())


def test_a_command_of_the_users_own_needs_no_question(acme):
    """Its java and its class path are used, and none of the profile's."""
    made = evil_java(acme)
    (acme.directory / "own").mkdir()
    done = acme(*AT, "--", acme.java, "-cp", "own", "org.acme.Main", agreed=False)
    assert (done.returncode, done.stderr) == (0, "")
    request = json.loads(acme.kept.read_text())
    assert request["java"] == str(acme.java) and request["class_path"] == [str(acme.directory / "own")]
    assert request["program"] == [str(acme.java), "-cp", "own", "org.acme.Main"]
    assert not made.exists()
    done = acme(*AT, "--", "sh", "start", agreed=False)  # tells neither java nor class path
    assert done.returncode == USAGE and "  java " in done.stderr and "  class path " in done.stderr
    assert not made.exists()


def ask(acme, answer):
    """(status, what was said) where locus is asked on a terminal."""
    main, side = pty.openpty()
    modes = termios.tcgetattr(side)
    modes[3] &= ~termios.ECHO  # an echo may come in the middle of a line
    termios.tcsetattr(side, termios.TCSANOW, modes)
    acme.kept.unlink(missing_ok=True)
    with subprocess.Popen([acme.program, "bench", "--java", acme.java, *AT], cwd=acme.directory, stdin=side,
                          stdout=subprocess.DEVNULL, stderr=side) as process:
        os.close(side)
        os.write(main, answer)
        said = read_terminal(main).decode()
        status = process.wait(COMMAND_SECONDS)
    os.close(main)
    return status, said


@pytest.mark.parametrize("answer", [b"y\n", b"YES\n", b"n\n", b"\n", b"yess\n", b"\x04", b"y" * 30 + b"\n"])
def test_the_question_on_a_terminal(acme, answer):
    status, said = ask(acme, answer)
    agreed = answer in (b"y\n", b"YES\n")
    assert "Run it? [y/N]" in said and "java -Xmx64m -cp 'classes:lib/*' org.acme.Main 'a b'" in said
    assert (status, acme.kept.exists()) == ((0, True) if agreed else (FAILED, False)), said
    assert agreed or "nothing was run" in said


def test_no_word_of_the_command_is_hidden(acme):
    """A long command is shown whole, as a shell would read it."""
    record(acme, arguments=["java", "-cp", "classes", "org.acme.Main", "x" * 5000, "it's", "\x1b[2J", "touch evil"])
    done = acme("--java", acme.java, *AT, agreed=False)
    assert "x" * 5000 + " 'it'\\''s' '\\u001b[2J' 'touch evil'\n" in done.stderr


HARMFUL = ["-XX:OnOutOfMemoryError=touch evil", "-XX:OnError=touch evil", "-agentpath:/evil.so", "-agentlib:jdwp=server=y",
           "-javaagent:evil.jar", "@evil", "-XX:Flags=evil", "-XX:VMOptionsFile=evil", "--patch-module=java.base=evil",
           "-Xbootclasspath/a:evil", "-XXaltjvm=evil", "-Xlog:gc:file=evil", "-Dsun.boot.library.path=evil",
           "-XX:+ShowMessageBoxOnError", "-XX:Unknown=1"]


def test_options_that_execute_or_load_are_dropped_and_named(acme):
    kept = ["-Xmx64m", "-XX:+UseSerialGC", "-Dapp.size=3"]
    own = ["-cp", "classes", "org.acme.Main", "-XX:OnError=not an option of the JVM"]
    record(acme, arguments=["java", kept[0], *HARMFUL, *kept[1:], "--upgrade-module-path", "evil mods", *own])
    done = acme("--java", acme.java, *AT)
    assert done.returncode == 0, done.stderr
    request = json.loads(acme.kept.read_text())
    assert request["program"] == ["java", *kept, *own] and not request["as_profiled"]
    assert request["jvm_options"] == ["-Xmx64m", "-XX:+UseSerialGC"]
    line = next(line for line in done.stderr.splitlines() if line.startswith("  left out "))
    assert shlex.split(line)[2:] == [*HARMFUL, "--upgrade-module-path=evil mods"]
    done = acme("--java", acme.java, *AT, "--class-path", "classes", "--", "java", "org.acme.Main", agreed=False)
    assert done.returncode == 0 and "  left out " in done.stderr
    assert json.loads(acme.kept.read_text())["jvm_options"] == ["-Xmx64m", "-XX:+UseSerialGC"]


def test_options_are_taken_over_where_the_user_trusts_them(acme):
    words = ["java", *HARMFUL, "-cp", "classes", "org.acme.Main"]
    record(acme, arguments=words)
    request = acme.request(*AT, "--trust-options", "--class-path", "classes")
    assert request["program"] == words
    assert "-XX:OnError=touch evil" in request["jvm_options"] and "--patch-module=java.base=evil" in request["jvm_options"]
    assert "-javaagent:evil.jar" not in request["jvm_options"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user's")
def test_whose_file_a_profile_is_decides_nothing(acme):
    """An archive that root unpacks has the owner that its author wrote into it."""
    said = []
    for owner in (0, 12345):
        os.chown(acme.directory / "prof", owner, owner)
        done = acme("--java", acme.java, *AT, agreed=False)
        assert done.returncode == USAGE
        said.append(done.stderr)
    assert said[0] == said[1]


def test_controls_of_a_command_are_shown_and_not_sent(acme):
    manifest = acme.directory / "prof" / "manifest.json"
    profile = json.loads(manifest.read_text())
    profile["processes"][0]["arguments"].append("\x1b[2J\n")
    manifest.write_text(json.dumps(profile))
    done = acme("--java", acme.java, "prof", "--source-path", "src", "--at", "org.acme.Index:13")
    assert done.returncode == 0
    assert "\\u001b[2J\\u000a" in done.stderr and "\x1b" not in done.stderr


def test_a_merged_profile_keeps_the_words(acme, locus):
    done = locus("merge", "-o", acme.directory / "all", acme.directory / "prof")
    assert done.returncode == 0, done.stderr
    request = acme.request("all", "--source-path", "src")
    assert request["program"][-1] == "a b"
    assert request["program_directory"] == str(acme.directory)


def test_a_damaged_profile_is_said(acme):
    (file,) = (acme.directory / "prof").glob("*.lcb")
    with file.open("ab") as out:
        out.write(b"\x00" * 50)
    done = acme("--java", acme.java, "prof", "--source-path", "src", "--at", "org.acme.Index:13")
    assert done.returncode == PARTIAL
    assert acme.kept.exists()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_java_part_too(acme, sent):
    """Sent to locus alone, as another program does; a terminal sends it to both."""
    pid = acme.directory / "pid"
    acme.java.write_text('#!/bin/sh\necho $$ >"%s.new"\nmv "%s.new" "%s"\nexec sleep 60\n' % (pid, pid, pid))
    command = [acme.program, "bench", "--run-recorded", "--java", acme.java, "prof", "--source-path", "src", "--at",
               "org.acme.Index:13"]
    process = subprocess.Popen(command, cwd=acme.directory, start_new_session=True)
    try:
        deadline = time.monotonic() + COMMAND_SECONDS
        while not pid.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(sent)
        assert process.wait(timeout=COMMAND_SECONDS) == -sent
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid.read_text()), 0)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_real_program_is_asked_for(jdk17, workload, profile, tool):
    """Its words, with their spaces, its directory, and the line that touches most."""
    line = marked_lines("BenchLoop", "hot")["sum"]
    path = tool.directory / "with space"
    shutil.copytree(workload(jdk17, "BenchLoop", ("-g",)), path)
    run = profile([jdk17.java, "-Xmx128m", "-XX:+UseSerialGC", "-cp", path.name, "BenchLoop", "4"], cwd=tool.directory)
    request = tool.request(run.directory, "--source-path", WORKLOADS)
    assert (request["class"], request["method"]) == ("BenchLoop", "sum")
    assert abs(request["line"] - line) <= 1
    assert sum(of["samples"] for of in request["lines"]) <= request["method_samples"]
    assert request["class_path"] == [str(path)]
    assert request["program"][1:] == ["-Xmx128m", "-XX:+UseSerialGC", "-cp", "with space", "BenchLoop", "4"]
    assert request["program_directory"] == str(tool.directory)
    assert request["jvm_options"] == ["-Xmx128m", "-XX:+UseSerialGC"]
    assert "BenchLoop" in request["finding"]


def test_a_stream_is_benchmarked_where_it_is(profile_once, workload, jdk17, tool):
    """Most of its samples are in the JDK's own methods, and in lambda expressions."""
    run = profile_once("repeated-17-slow", command(workload, jdk17, "SpanInvariant", "slow", 1500), "--spans=streams")
    request = tool.request(run.directory, "--source-path", WORKLOADS)
    assert (request["class"], request["method"]) == ("SpanInvariant$Coder", "wordsForNum")
    assert request["line"] == marked_lines("SpanInvariant", "invariant")["wordsForNum"]
    assert "computes the same result" in request["finding"]


@pytest.mark.parametrize("version, number", [("11.0.2", 11), ("1.8.0_402", 8)])
def test_a_java_that_is_too_old_is_the_programs_alone(acme, monkeypatch, version, number):
    """The Java part runs on 17 and newer."""
    options = ("prof", "--source-path", "src", "--at", "org.acme.Index:13", "--java", "bin/java-old/bin/java")
    for name, of in (("bin/java-old", version), ("new", "21.0.1")):
        java = acme.directory / name / "bin" / "java"
        java.parent.mkdir(parents=True)
        shutil.copy2(acme.java, java)
        (acme.directory / name / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="%s"\n' % of)
    acme.directory.joinpath("bin/java-old/bin/java").write_text("#!/bin/sh\nexit 9\n")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("JAVA_HOME", str(acme.directory / "bin/java-old"))
    done = acme(*options)
    assert done.returncode == FAILED and "has version %d, but reading the source needs 17" % number in done.stderr
    monkeypatch.setenv("JAVA_HOME", str(acme.directory / "new"))
    monkeypatch.setenv("PATH", str(acme.directory))  # a java may be beside cp
    (acme.directory / "cp").symlink_to(shutil.which("cp", path="/bin:/usr/bin"))
    done = acme(*options)
    assert done.returncode == 0, done.stderr
    assert json.loads(acme.kept.read_text())["java"] == str(acme.directory / "bin/java-old/bin/java")
