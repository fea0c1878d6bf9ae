# SPDX-License-Identifier: Apache-2.0
"""The Java of `locus bench`: the recorder, the project that is written, its build and results. Each JUnit test is a line of the output.

tests/java/bench/ is compiled against build/locus-bench.jar. ProjectTest runs Maven, which fetches what projects need once.
"""

import os
import shutil
import subprocess

import pytest
from conftest import BUILD, COMMAND_SECONDS, JDKS, ROOT, jdk_of
from helpers import execute, maven

JUNIT = "org.junit.platform:junit-platform-console-standalone:1.11.4"
JAR = BUILD / "locus-bench.jar"
SOURCES = ROOT / "tests" / "java" / "bench"
SECONDS = 900
RECORD = ("record.ValuesTest", "record.DigestTest", "record.RecorderTest")
PROJECT = "ProjectTest"


@pytest.fixture(scope="session")
def class_path(shared):
    """That of the compiled tests, with JUnit."""
    if not JAR.exists():
        pytest.skip("no %s: make had no Maven, or Maven no Spoon and Kryo" % JAR.name)
    jars = [str(jar) for jar in [JAR, *sorted((BUILD / "bench").glob("*.jar")), maven(JUNIT)]]

    def compile_them(directory):
        jdk = JDKS[min(JDKS)]
        sources = sorted(str(source) for source in SOURCES.rglob("*.java"))
        lint = ["-Xlint:all,-processing,-path,-serial", "-Werror", "-proc:none", "--release", "11"]
        subprocess.run([jdk.javac, *lint, "-cp", os.pathsep.join(jars), "-d", directory, *sources], check=True, timeout=COMMAND_SECONDS)

    return os.pathsep.join([str(shared("bench-java-tests", compile_them)), *jars])


def run_tests(jdk, class_path, *classes):
    """Run all tests of the classes, named within the package `locusbench`."""
    select = [word for name in classes for word in ("--select-class", "locusbench." + name)]
    launcher = ["org.junit.platform.console.ConsoleLauncher", "execute", "--disable-banner", "--disable-ansi-colors"]
    done = execute([jdk.java, "-Xshare:auto", "-cp", class_path, *launcher, "--details=tree", "--fail-if-no-tests", *select], timeout=SECONDS)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


@pytest.mark.slow
@pytest.mark.seconds(SECONDS)
def test_inputs_are_recorded_and_read_again(jdk, class_path):
    run_tests(jdk, class_path, *RECORD)


@pytest.mark.slow
@pytest.mark.seconds(SECONDS)
def test_a_recording_becomes_a_project_that_is_tested_and_measured(class_path):
    if not shutil.which("mvn"):
        pytest.skip("no mvn to build a project with")
    run_tests(jdk_of(max(JDKS)), class_path, PROJECT)


@pytest.mark.slow
def test_segments_are_extracted_and_results_have_the_intervals_of_the_textbook(class_path):
    names = [".".join(source.relative_to(SOURCES / "locusbench").with_suffix("").parts) for source in SOURCES.rglob("*Test.java")]
    assert {*RECORD, PROJECT} <= set(names)
    run_tests(jdk_of(min(JDKS)), class_path, *sorted({*names} - {*RECORD, PROJECT}))
