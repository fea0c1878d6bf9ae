"""The class-file rewriter against HotSpot's verifier, and against programs that count.

verify_agent hooks every site of every class (threshold 1, and 0 with the audit's hooks) and LinkAll
makes the JVM link them, which verifies them; the same run with the agent off tells what is refused
anyway.
"""

import re
import shutil
import subprocess

import pytest
from conftest import BUILD, COMMAND_SECONDS, JDK_MAJORS, QUICK_JAVAC, ROOT, run_command
from helpers import each_pair, maven

TOOLS = ROOT / "tests" / "tools"
VERIFY = [
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+BytecodeVerificationLocal",
    "-XX:+BytecodeVerificationRemote",
]
# Nothing moves, so that the agent can tell objects apart by their addresses.
EPSILON = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xms3g", "-Xmx3g"]
TIERS = {
    "interpreted": ["-Xint"],
    "C1": ["-XX:TieredStopAtLevel=1"],
    "C2": ["-XX:-TieredCompilation", "-Xbatch", "-XX:CompileThreshold=1000"],
    "tiered": ["-Xbatch"],
}
# Large objects only, every object; and spans, of what the class file tells and of whatever could be one.
MODES = ["min-size=1", "min-size=0,constructed", "min-size=1,spans", "min-size=0,spans,types=63"]
# Old and new class files, of several compilers.
SOME_JARS = ["commons-collections:commons-collections:3.2.2", "com.h2database:h2:2.2.224"]
JARS = SOME_JARS + [
    "org.apache.lucene:lucene-core:9.10.0",
    "org.scala-lang:scala-library:2.13.14",
    "org.jetbrains.kotlin:kotlin-stdlib:1.9.24",
    "org.apache.groovy:groovy:4.0.21",
    "org.clojure:clojure:1.11.3",
    "org.springframework:spring-core:6.1.8",
    "org.hibernate.orm:hibernate-core:6.5.2.Final",
    "com.google.guava:guava:33.2.0-jre",
    "io.netty:netty-common:4.1.110.Final",
    "io.netty:netty-buffer:4.1.110.Final",
    "io.netty:netty-codec-http:4.1.110.Final",
    "org.jruby:jruby-base:9.4.7.0",
    "org.eclipse.jdt:ecj:3.37.0",
    "xerces:xercesImpl:2.12.2",
    "xalan:xalan:2.7.3",
    "org.python:jython-standalone:2.7.3",
]


@pytest.fixture(scope="module")
def agent(shared):
    """verify_agent as a shared library, for the headers of whichever JDK there is."""
    return shared("verify-agent", build_agent) / "libverify_agent.so"


def build_agent(directory):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler")
    home = run_command([ROOT / "scripts" / "find-jdk"]).stdout.strip()
    subprocess.run(
        [compiler, "-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-w"]
        + ["-I", ROOT, "-I", BUILD / "gen", "-I", home + "/include"]
        + ["-I", home + "/include/linux", "-o", directory / "libverify_agent.so", TOOLS / "verify_agent.c"]
        + sorted((ROOT / "src" / "classfile").glob("*.c")),
        check=True,
        timeout=COMMAND_SECONDS,
    )


@pytest.fixture(scope="module")
def tools(shared):
    """tools(jdk) compiles the Java programs and returns their class path."""

    def compile_tools(jdk):
        def make(directory):
            subprocess.run(
                [jdk.javac, *QUICK_JAVAC, "-d", directory]
                + [TOOLS / name for name in ("LinkAll.java", "CountAll.java", "CountSpans.java")],
                check=True,
                timeout=COMMAND_SECONDS,
            )

        return shared("tools-%d" % jdk.major, make)

    return compile_tools


def numbers(line_start, text):
    """The line "START: a=1 b=2" of a program's output as a dictionary."""
    lines = [line for line in text.splitlines() if line.startswith(line_start)]
    assert lines, text[-3000:]
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", lines[-1])}


def link_all(jdk, agent, path, options, what):
    done = run_command(
        [jdk.java, *VERIFY, "-Xmx2g", "-XX:+UseSerialGC", "-agentpath:%s=%s" % (agent, options)]
        + ["--add-modules", "ALL-SYSTEM", "-cp", path, "LinkAll", *what],
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    refused = {
        line.split(":")[1] for line in done.stdout.splitlines() if line.startswith("refused: ")
    }
    linked = numbers("linked_all:", done.stdout)
    return linked, refused, numbers("verify_agent: classes", done.stderr), done


def assert_accepted(jdk, agent, path, what, capsys):
    """Every class links as it does without hooks."""
    plain, plain_refused, _, _ = link_all(jdk, agent, path, "off", what)
    sites, rewritten = [], []
    for mode in MODES:
        hooked, refused, counts, done = link_all(jdk, agent, path, mode, what)
        with capsys.disabled():
            print("\n  JDK %d, %s: linked %s, rewriter %s" % (jdk.major, mode, hooked, counts))
        assert refused == plain_refused, done.stdout[-3000:]
        assert hooked == plain
        assert hooked["linked"] > 0.9 * hooked["classes"]
        assert counts["refused"] == 0, done.stderr[-3000:]
        assert counts["malformed"] == counts["unsupported"] == counts["too_large"] == 0
        assert counts["sites"] > counts["classes"]
        sites.append(counts["sites"])
        if "spans" in mode:
            spans = numbers("verify_agent spans:", done.stderr)
            with capsys.disabled():
                print("  spans: %s" % spans)
            assert spans["malformed"] == spans["unsupported"] == spans["too_large"] == 0
            assert spans["mismatches"] == spans["unbalanced"] == 0
            assert spans["methods_left"] == 0
            rewritten.append(spans["rewritten"])
    assert sites[1] > sites[0] and counts["made"] > 0
    assert 0 < rewritten[0] < rewritten[1]
    return hooked


def test_the_verifier_accepts_every_class_of_java_base(jdk, agent, tools, capsys):
    linked = assert_accepted(jdk, agent, tools(jdk), ["jdk:java.base"], capsys)
    assert linked["classes"] > 5000 and linked["refused"] == linked["unresolved"] == 0


def test_the_verifier_accepts_every_class_of_some_jars(jdk, agent, tools, capsys):
    assert_accepted(jdk, agent, tools(jdk), [maven(j) for j in SOME_JARS], capsys)


@pytest.mark.slow
def test_the_verifier_accepts_every_class_of_the_jdk(jdk, agent, tools, capsys):
    linked = assert_accepted(jdk, agent, tools(jdk), ["jdk"], capsys)
    assert linked["classes"] > 20000 and linked["refused"] == linked["unresolved"] == 0


@pytest.mark.slow
@pytest.mark.seconds(1500)
def test_the_verifier_accepts_every_class_of_many_jars(jdk, agent, tools, capsys):
    linked = assert_accepted(jdk, agent, tools(jdk), [maven(j) for j in JARS], capsys)
    assert linked["classes"] > 30000


@pytest.mark.parametrize("tier", TIERS)
def test_each_way_to_allocate_is_counted_once(tier, jdk, agent, tools):
    """By bytecode, by calls that the JIT replaces, by reflection; whatever runs the code."""
    done = run_command(
        [jdk.java, *EPSILON, *TIERS[tier], "-agentpath:%s=min-size=512" % agent]
        + ["-cp", tools(jdk), "CountAll"],
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    counted = numbers("counted_all:", done.stdout)
    assert counted["ways"] > 40 and counted["wrong"] == 0, done.stdout


@each_pair(jdk=JDK_MAJORS, parallelism=[1, 2, 7, 17], tier=["interpreted", "C2", "tiered"])
def test_each_span_begins_and_ends_once(tier, parallelism, jdk, agent, tools):
    """Streams, tasks and virtual threads; hooks are counted, and the depth is the same behind each."""
    done = run_command(
        [jdk.java, *VERIFY, *TIERS[tier], "-agentpath:%s=spans" % agent]
        + ["-Djava.util.concurrent.ForkJoinPool.common.parallelism=%d" % parallelism]
        + ["-cp", tools(jdk), "CountSpans"],
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    counted = numbers("counted_all:", done.stdout)
    assert counted["ways"] >= 34 and counted["wrong"] == 0, done.stdout
    spans = numbers("verify_agent spans:", done.stderr)
    assert spans["unbalanced"] == spans["mismatches"] == 0
    assert spans["support"] > 0 and spans["stream_task"] >= spans["support"]
