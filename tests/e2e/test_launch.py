# SPDX-License-Identifier: Apache-2.0
"""How the agent gets into a JVM: which it leaves alone, what it does when asked twice, and what others notice of it."""

import os
import shutil
import subprocess

import pytest
from conftest import BUILD, Profile, run_command
from helpers import allocations, by_hand, command, complaints, counters, execute, native_library, report, sites_through

AGENT = BUILD / "liblocus.so"


def run_locus(line, directory, *options, **more):
    return execute([BUILD / "locus", "run", "-q", "-o", directory, *options, "--", *line], **more)


def made(run, directory):
    return allocations(sites_through(report(Profile(run, directory)), "allocate", "Endings"))


@pytest.mark.parametrize("gc", ["Serial", "Parallel", "G1"])
def test_the_agent_alone_follows_objects(workload, jdk, tmp_path, gc):
    line = command(workload, jdk, "GcAudit", 20, 8, java=["-Xmx64m", "-XX:+Use%sGC" % gc])
    run = execute(by_hand(line, tmp_path / "prof", "audit=on"))
    assert (run.returncode, run.stderr) == (0, b"")
    c = counters(Profile(run, tmp_path / "prof"))
    assert c["gc_incomplete"] == c["audit_wrong_missing"] == c["audit_wrong_moved"] == c["audit_wrong_overlap"] == 0, c
    assert c["audit_survivors"] > 1000, c


def test_a_collection_while_events_are_enabled_does_not_stop_the_program(workload, jdk, tmp_path):
    between = native_library(jdk, "gcbetween", tmp_path)
    if not between:
        pytest.skip("no C compiler on this machine")
    line = command(workload, jdk, "Endings", "return")
    bare = execute(line)
    hand = by_hand(line, tmp_path / "prof")
    hand.insert(1, "-agentpath:%s" % between)
    run = execute(hand, timeout=300)
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout)
    assert run.stderr == bare.stderr + b"collected in between: 1\n"
    assert made(run, tmp_path / "prof") == 2000


# Archives of classes


ARCHIVES = [
    (17, ["-XX:ArchiveClassesAtExit={}"], ["-XX:SharedArchiveFile={}", "-Xshare:on"]),
    (25, ["-XX:ArchiveClassesAtExit={}"], ["-XX:SharedArchiveFile={}", "-Xshare:on"]),
    (25, ["-XX:AOTCacheOutput={}"], ["-XX:AOTCache={}", "-XX:AOTMode=on"]),
]


def with_archive(options, archive):
    return [option.format(archive) for option in options]


@pytest.mark.parametrize("jdk, makes, uses", ARCHIVES, indirect=["jdk"], ids=["17-cds", "25-cds", "25-aot"])
def test_a_jvm_that_writes_an_archive_is_left_alone_and_one_that_uses_it_is_not(workload, jdk, tmp_path, makes, uses):
    def program(*options):  # archives hold classes of jars, not of directories
        return [jdk.java, *options, "-cp", tmp_path / "app.jar", "Endings", "return"]

    classes = workload(jdk, "Endings")
    assert run_command([jdk.home / "bin" / "jar", "cf", tmp_path / "app.jar", "-C", classes, "Endings.class"]).returncode == 0
    bare = execute(program())
    run = run_locus(program(*with_archive(makes, tmp_path / "app.jsa")), tmp_path / "none")
    assert run.stdout.startswith(bare.stdout) and (tmp_path / "app.jsa").stat().st_size > 100_000
    (said,) = [text for text in complaints(run.stderr) if "writes a class archive" in text]
    assert makes[0].split("=")[0] in said and "unprofiled" in said
    assert not (tmp_path / "none").exists()
    run = run_locus(program(*with_archive(uses, tmp_path / "app.jsa")), tmp_path / "prof")
    assert (run.returncode, run.stdout, run.stderr) == (bare.returncode, bare.stdout, bare.stderr)
    assert made(run, tmp_path / "prof") == 2000


@pytest.mark.parametrize("by", ["environment", "file"])
def test_an_archive_is_seen_wherever_its_option_stands(workload, jdk17, tmp_path, by):
    option = "-XX:ArchiveClassesAtExit=%s" % (tmp_path / "app.jsa")
    line, env = command(workload, jdk17, "Endings", "exit"), {}
    if by == "environment":
        env = {"JAVA_TOOL_OPTIONS": option}
    else:
        (tmp_path / "options").write_text('-Xmx100m\n"%s"\n' % option)
        line.insert(1, "@%s" % (tmp_path / "options"))
    run = run_locus(line, tmp_path / "none", env=env)
    assert b"writes a class archive (-XX:ArchiveClassesAtExit)" in run.stderr
    assert not (tmp_path / "none").exists()


# Twice, and beside others


def test_an_agent_that_is_loaded_twice_records_once_and_as_the_first_says(workload, jdk, tmp_path):
    line = command(workload, jdk, "Endings", "exit")
    bare = execute(line)
    run = execute(by_hand(by_hand(line, tmp_path / "second"), tmp_path / "first"))
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout) and bare.returncode == 3
    (said,) = complaints(run.stderr)
    assert "loaded already" in said
    assert made(run, tmp_path / "first") == 2000 and not (tmp_path / "second").exists()


def test_locus_run_around_a_command_that_has_the_agent_records_once(workload, jdk17, tmp_path):
    line = command(workload, jdk17, "Endings", "return")
    run = run_locus(by_hand(line, tmp_path / "own"), tmp_path / "prof")
    (said,) = complaints(run.stderr)
    assert "loaded already" in said and run.returncode == 0
    assert made(run, tmp_path / "prof") == 2000 and not (tmp_path / "own").exists()


CHILD = "Child"
CHILD_SOURCE = """
import java.util.Map;
public class Child {
    public static void main(String[] words) throws Exception {
        Process p = new ProcessBuilder(words).inheritIO().start();
        System.exit(p.waitFor());
    }
}
"""


def starts(jdk, directory, *words):
    """A Java program that runs a command and ends with its status."""
    (directory / "Child.java").write_text(CHILD_SOURCE)
    assert run_command([jdk.javac, "-d", directory, directory / "Child.java"]).returncode == 0
    return [jdk.java, "-cp", directory, "Child", *words]


@pytest.mark.parametrize("kept", ["", "libm.so.6"])
def test_children_of_the_jvm_find_the_environment_as_it_was(jdk17, tmp_path, kept):
    line = starts(jdk17, tmp_path, "/usr/bin/env")
    env = {"LD_PRELOAD": kept} if kept else {}
    bare, run = execute(line, env=env), run_locus(line, tmp_path / "prof", env=env)
    assert run.returncode == 0 and run.stderr == b""
    assert sorted(run.stdout.splitlines()) == sorted(bare.stdout.splitlines())
    assert (tmp_path / "prof" / "manifest.json").exists()


def test_a_child_with_the_address_sanitizer_runs(jdk17, tmp_path):
    """It ends where anything is loaded before its own library."""
    compiler = shutil.which("clang") or shutil.which("gcc")
    (tmp_path / "child.c").write_text("int main(void) { return 23; }\n")
    shared = ["-shared-libasan"] if compiler and "clang" in compiler else []
    if not compiler or subprocess.run([compiler, "-fsanitize=address", *shared, "-o", tmp_path / "child", tmp_path / "child.c"],
                                      capture_output=True, check=False).returncode:
        pytest.skip("no compiler with an AddressSanitizer that is a shared library")
    line = starts(jdk17, tmp_path, tmp_path / "child")
    env = {"LD_LIBRARY_PATH": os.path.dirname(run_command([compiler, "-print-file-name=libclang_rt.asan-x86_64.so"]).stdout.strip())}
    bare = execute(line, env=env)
    if bare.returncode != 23:
        pytest.skip("this AddressSanitizer does not run here")
    run = run_locus(line, tmp_path / "prof", env=env)
    assert (run.returncode, run.stderr) == (23, b"")


def test_with_a_directory_each_jvms_that_a_jvm_starts_are_profiled_too(workload, jdk17, tmp_path):
    line = starts(jdk17, tmp_path, *command(workload, jdk17, "Endings", "return"))
    run = run_locus(line, tmp_path / "prof-%p")
    assert run.returncode == 0 and complaints(run.stderr) == []
    assert sorted(made(run, p) for p in tmp_path.glob("prof-*")) == [0, 2000]


@pytest.mark.parametrize("question", [["--list-modules"], ["--describe-module", "java.base"], ["--dry-run", "-cp", "x", "Hello"], ["-version"]])
def test_a_jvm_that_is_only_asked_makes_no_profile(jdk17, tmp_path, question):
    if "--dry-run" in question:
        (tmp_path / "Hello.java").write_text("public class Hello { public static void main(String[] a) { } }")
        assert run_command([jdk17.javac, "-d", tmp_path, tmp_path / "Hello.java"]).returncode == 0
        question = ["--dry-run", "-cp", tmp_path, "Hello"]
    bare, run = execute([jdk17.java, *question]), run_locus([jdk17.java, *question], tmp_path / "none")
    assert sorted(run.stdout.split()) == sorted(bare.stdout.split()) and not (tmp_path / "none").exists()


def test_an_option_of_the_compiler_that_the_launcher_has_too_is_no_question(jdk17, tmp_path):
    """javac -h DIR writes headers; java -h asks for help."""
    (tmp_path / "Native.java").write_text("public class Native { static native void f(); }")
    line = [jdk17.javac, "-h", tmp_path / "headers", "-d", tmp_path, tmp_path / "Native.java"]
    run = run_locus(line, tmp_path / "prof")
    assert run.returncode == 0 and run.stderr == b"" and (tmp_path / "headers" / "Native.h").exists()
    assert report(Profile(run, tmp_path / "prof"))["program"]["command"]
