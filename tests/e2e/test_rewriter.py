# SPDX-License-Identifier: Apache-2.0
"""The class-file rewriter against HotSpot's verifier, and against programs that count.

verify_agent hooks every class, in each way that an option of Locus asks for, and delays every method
as liblocus-delay.so does; LinkAll makes the JVM link them, which verifies them; the same with the agent
off tells what is refused anyway.
"""

import re
import shutil
import subprocess

import pytest
from conftest import (
    BUILD,
    COMMAND_SECONDS,
    JDK_MAJORS,
    QUICK_JAVAC,
    ROOT,
    WORKLOADS,
    jdk_of,
    run_command,
)
from helpers import each_value, maven

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
# All that changes what is inserted: which allocations (by the threshold; by what large or watched
# objects there may be; the audit's hooks), and which spans (of what the class file tells, or of
# whatever could be one).
ALLOCATIONS = [
    "min-size=1",
    "min-size=0,constructed",
    "min-size=1024",
    "min-size=1,large",
    "min-size=1,watched",
    "min-size=1,large,watched",
    "min-size=0",
    "min-size=0,watched",
    "min-size=0,constructed,watched",
]
SPANS = ["", ",spans,types=63", ",spans", ",spans=streams,types=63", ",spans=tasks,types=63"]
ALL_MODES = [a + s for a in ALLOCATIONS for s in SPANS]
# Each value of both, and what inserts most.
SOME_MODES = [a + SPANS[i % len(SPANS)] for i, a in enumerate(ALLOCATIONS)] + [
    "min-size=0,constructed,watched,spans,types=63"
]
# Delays (liblocus-delay.so) of all methods: alone, and with all hooks behind or before them.
DELAYS = ["no-hooks,delay=0", SOME_MODES[-1] + ",delay=3", SOME_MODES[-1] + ",delay=3,delay-last"]
PROGUARD = [
    "com.guardsquare:proguard-base:7.5.0",
    "com.guardsquare:proguard-core:9.1.4",
    "org.jetbrains.kotlin:kotlin-stdlib:1.9.24",
    "org.jetbrains.kotlin:kotlin-metadata-jvm:2.0.0",
    "org.apache.logging.log4j:log4j-api:2.23.1",
    "org.apache.logging.log4j:log4j-core:2.23.1",
    "com.google.code.gson:gson:2.11.0",
    "org.json:json:20240303",
]
MODULES = ["java.base", "java.logging"]
ECJ = "org.eclipse.jdt:ecj:3.37.0"
R8 = "com.android.tools:r8:8.5.35"
OPTIMISED = "com.google.guava:guava:18.0"
SCALA = "org.scala-lang:scala-library:2.13.14"
CLOJURE = [
    "org.clojure:clojure:1.11.3",
    "org.clojure:spec.alpha:0.3.218",
    "org.clojure:core.specs.alpha:0.2.62",
]
GENERATORS = [
    "net.bytebuddy:byte-buddy:1.14.18",
    "cglib:cglib-nodep:3.3.0",
    "org.codehaus.janino:janino:3.1.12",
    "org.codehaus.janino:commons-compiler:3.1.12",
]
JRUBY = "org.jruby:jruby-complete:9.4.8.0"
JYTHON = "org.python:jython-standalone:2.7.4"
GROOVY = "org.apache.groovy:groovy:4.0.21"
# By what made the class files. A word without a colon names a function below.
CORPORA = {
    # Versions 45 to 48: code with jsr and ret, and without frames.
    "Java 1.0 to 1.4": [
        "oro:oro:2.0.8",
        "commons-collections:commons-collections:2.1",
        "ant:ant:1.5",
        "xerces:xercesImpl:2.0.2",
        "rhino:js:1.5R4.1",
        "log4j:log4j:1.1.3",
        "bsh:bsh:1.2b7",
        "velocity:velocity:1.3",
        "hsqldb:hsqldb:1.8.0.10",
    ],
    "Java 5 to 8": [
        "com.google.guava:guava:18.0",
        "xalan:xalan:2.7.3",
        "com.h2database:h2:2.2.224",
        "org.apache.lucene:lucene-core:9.10.0",
        "org.springframework:spring-core:6.1.8",
        "org.hibernate.orm:hibernate-core:6.5.2.Final",
        "io.netty:netty-buffer:4.1.110.Final",
        "io.netty:netty-common:4.1.110.Final",
        "org.aspectj:aspectjweaver:1.9.22",
    ],
    "Java 1.1 to 7": ["each_target"],
    "Java 8 to 25": ["each_release"],
    "R8": [R8],
    "R8 of Guava": ["by_r8"],
    "ProGuard of Guava": ["by_proguard"],
    "Eclipse": [ECJ],
    "Kotlin": ["org.jetbrains.kotlin:kotlin-stdlib:1.9.24", "org.jetbrains.kotlin:kotlin-reflect:1.9.24"],
    # Its authors have ProGuard shrink it.
    "Kotlin's compiler": [
        "org.jetbrains.kotlin:kotlin-stdlib:1.9.24",
        "org.jetbrains.kotlin:kotlin-compiler-embeddable:1.9.24",
    ],
    "Scala 2": [SCALA, "org.scala-lang:scala-reflect:2.13.14", "org.scala-lang:scala-compiler:2.13.14"],
    "Scala 3": [SCALA, "org.scala-lang:scala3-library_3:3.4.2"],
    "Groovy": [GROOVY],
    "Clojure": CLOJURE,
    "JRuby": [JRUBY],
    "Jython": [JYTHON],
    "generators": GENERATORS,
}
# Programs that have classes made while they run, and what they print.
RUNS = {
    "Byte Buddy, CGLIB, Janino, proxies": (GENERATORS, ["Generate"], None),
    "JRuby": (
        [JRUBY],
        ["org.jruby.Main", "-X+C", "-e", "def f(x) x > 0 ? x + f(x - 1) : 0 end; puts f(50)"],
        "1275",
    ),
    "Jython": ([JYTHON], ["org.python.util.jython", "-c", "print(sum(x * x for x in range(9)))"], "204"),
    "Clojure": (CLOJURE, ["clojure.main", "-e", "(println (reduce + (map inc (range 10))))"], "55"),
    "Groovy": ([GROOVY], ["groovy.ui.GroovyMain", "-e", "println((1..9).collect { it * 2 }.sum())"], "90"),
}


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
        + [ROOT / "src" / "base" / "track.c", *sorted((ROOT / "src" / "classfile").glob("*.c"))]
        + [ROOT / "src" / "delay" / ("delay_%s.c" % name) for name in ("class", "depth", "rewrite")],
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


def jvm(jdk, agent, options, *flags):
    return [jdk.java, *VERIFY, "-Xmx2g", "-XX:+UseSerialGC", "-agentpath:%s=%s" % (agent, options), *flags]


def refusals(text):
    return {line.split(":")[1] for line in text.splitlines() if line.startswith("refused: ")}


# The JDK's own classes: of the boot loader, so that each way to rewrite them takes a JVM.


def link_jdk(jdk, agent, path, options, what):
    modules = ["--add-modules", "ALL-SYSTEM", "-cp", path, "LinkAll"]
    done = run_command([*jvm(jdk, agent, options, *modules), *what], timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]
    counted = numbers("verify_agent: classes", done.stderr)
    return numbers("linked_all:", done.stdout), refusals(done.stdout), counted, done


def assert_jdk_accepted(jdk, agent, path, what, modes, capsys):
    """Every class links as it does without hooks."""
    plain, plain_refused, _, _ = link_jdk(jdk, agent, path, "off", what)
    for mode in modes:
        hooked, refused, counts, done = link_jdk(jdk, agent, path, mode, what)
        with capsys.disabled():
            print("\n  JDK %d, %s: %s" % (jdk.major, mode, said(hooked, refused - plain_refused)), end="")
        assert refused == plain_refused, done.stdout[-3000:]
        assert hooked == plain
        assert counts["refused"] == 0, done.stderr[-3000:]
        assert counts["malformed"] == counts["unsupported"] == 0
        assert counts["too_large"] == 0 or "delay" in mode
        assert counts["sites"] > (counts["classes"] if "1024" not in mode else 0) or "no-hooks" in mode
        assert_delayed(mode, numbers("verify_agent delays:", done.stderr))
        if "spans" in mode:
            spans = numbers("verify_agent spans:", done.stderr)
            assert spans["malformed"] == spans["unsupported"] == spans["too_large"] == 0
            assert spans["mismatches"] == spans["unbalanced"] == 0
            assert (spans["methods_left"] == 0 or "delay" in mode) and spans["rewritten"] > 0
    return plain


def said(linked, refused):
    return "%6d classes, %6d linked, %d refused because of the hooks" % (
        linked["classes"],
        linked["linked"],
        len(refused),
    )


def assert_delayed(mode, counts):
    """Nearly all methods have a loop; those that do not have no return that can be reached, or are too long."""
    if "delay" not in mode:
        assert counts["delayed"] == 0
        return
    assert counts["delayed"] > 0 and counts["delay_returns"] >= counts["delayed"]
    # Old compilers wrote handlers of no instruction, whose methods are left alone.
    assert counts["delay_malformed"] * 1000 <= counts["delayed"]
    assert counts["delay_no_return"] * 5 < counts["delayed"] and counts["delay_too_large"] * 500 <= counts["delayed"]


def test_the_verifier_accepts_some_classes_of_java_base(jdk, agent, tools, capsys):
    what = ["every=12", "jdk:java.base"]
    linked = assert_jdk_accepted(jdk, agent, tools(jdk), what, [SOME_MODES[-1], DELAYS[1]], capsys)
    assert linked["classes"] > 400 and linked["refused"] == linked["unresolved"] == 0


@pytest.mark.slow
@pytest.mark.seconds(1800)
def test_the_verifier_accepts_every_class_of_the_jdk(jdk, agent, tools, capsys):
    linked = assert_jdk_accepted(jdk, agent, tools(jdk), ["jdk"], SOME_MODES + DELAYS, capsys)
    assert linked["classes"] > 20000 and linked["refused"] == linked["unresolved"] == 0


# Classes of class loaders: one JVM links them in each way in turn.


def each_release(directory):
    """Some workloads, as JDK 25 compiles them for each release that it knows: versions 52 to 69."""
    compiler = jdk_of(25)
    sources = [WORKLOADS / (name + ".java") for name in ("Fields", "Paths", "ManySlots")]
    for release in range(8, 26):
        out = directory / str(release)
        subprocess.run(
            [compiler.javac, *QUICK_JAVAC, "--release", str(release), "-d", out, *sources],
            check=True,
            timeout=COMMAND_SECONDS,
        )


def each_target(directory):
    """A program of Java 1.1 as ecj compiles it for versions 45 to 51, up to 48 with jsr and ret."""
    java = run_command([ROOT / "scripts" / "find-jdk"]).stdout.strip() + "/bin/java"
    for target in ("1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7"):
        source = ["-nowarn", "-source", max(target, "1.3"), "-target", target]
        out = ["-d", directory / target, TOOLS / "OldCode.java"]
        done = run_command([java, "-XX:TieredStopAtLevel=1", "-jar", maven(ECJ), *source, *out])
        assert done.returncode == 0, done.stderr


def shrink(directory, command, rules):
    (directory / "rules").write_text(
        "-ignorewarnings\n-dontwarn **\n-allowaccessmodification\n-repackageclasses ''\n"
        "-keep public class com.google.common.*.* { public *; }\n" + "\n".join(rules)
    )
    java = [run_command([ROOT / "scripts" / "find-jdk"]).stdout.strip() + "/bin/java", "-Xmx1g"]
    done = run_command([*java, "-XX:TieredStopAtLevel=1", *command], timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]


def by_r8(directory):
    """A library, optimised by R8: code is moved and shared, and locals hold what is being made."""
    home = run_command([ROOT / "scripts" / "find-jdk"]).stdout.strip()
    command = ["-cp", maven(R8), "com.android.tools.r8.R8", "--classfile", "--release", "--lib", home]
    command += ["--output", directory / "out.jar", "--pg-conf", directory / "rules", maven(OPTIMISED)]
    shrink(directory, command, [])


def by_proguard(directory):
    """The same by ProGuard."""
    home = run_command([ROOT / "scripts" / "find-jdk"]).stdout.strip()
    command = ["-cp", ":".join(str(maven(j)) for j in PROGUARD), "proguard.ProGuard"]
    command += ["-injars", maven(OPTIMISED), "-outjars", directory / "out.jar"]
    command += ["-libraryjars", ":".join(home + "/jmods/%s.jmod(!**.jar;!module-info.class)" % m for m in MODULES)]
    rules = ["-dontnote **", "-overloadaggressively", "-mergeinterfacesaggressively"]
    shrink(directory, [*command, "@%s" % (directory / "rules")], [*rules, "-optimizationpasses 2"])


MADE_HERE = {f.__name__: f for f in (each_target, each_release, by_r8, by_proguard)}


def made_here(name, shared):
    """A list of what LinkAll can read: each in a class loader of its own, as names repeat."""
    directory = shared("rewriter-" + name, MADE_HERE[name])
    jars = sorted(directory.glob("*.jar"))
    return jars if jars else sorted((d for d in directory.iterdir() if d.is_dir()), key=lambda d: float(d.name))


def paths_of(corpus, shared):
    """Lists of jars and directories, each for one class loader."""
    entries = CORPORA[corpus]
    if ":" in entries[0]:
        return [[maven(j) for j in entries]]
    return [[path] for path in made_here(entries[0], shared)]


def link_in_modes(jdk, agent, path, modes, what):
    """By mode: what was linked, what was refused, what the agent counted."""
    flags = ["-cp", path, "LinkAll", "modes=" + ";".join(["off", *modes])]
    done = run_command([*jvm(jdk, agent, "off", *flags), *what], timeout=1700)
    assert done.returncode == 0, done.stderr[-3000:]
    parts = done.stdout.split("mode: ")[1:]
    assert len(parts) == len(modes) + 1
    return [(numbers("linked_all:", t), refusals(t), numbers("counted:", t), t) for t in parts]


def assert_accepted(corpus, jdk, agent, path, modes, capsys, shared, every=1):
    versions, least = {}, 0
    for what in paths_of(corpus, shared):
        (plain, plain_refused, _, _), *hooked = link_in_modes(
            jdk, agent, path, modes, ["every=%d" % every, *map(str, what)]
        )
        least = max(least, plain["linked"])
        for mode, (linked, refused, counts, text) in zip(modes, hooked):
            with capsys.disabled():
                line = said(linked, refused - plain_refused)
                print("\n  %s, JDK %d, %s: %s" % (corpus, jdk.major, mode, line), end="")
            assert refused == plain_refused, text[-3000:]
            assert linked == plain, text[-3000:]
            assert_delayed(mode, counts)
            # A method that has grown by its delays may be too large for hooks.
            assert counts["spans_failed"] == 0 and (counts["failed"] == 0 or "delay" in mode), text[-3000:]
            # A library may have one hook in a hundred classes when only its large arrays matter.
            assert counts["sites"] > 0 or every > 1 or "1024" in mode or "no-hooks" in mode
        for name, count in hooked[0][2].items():
            if re.fullmatch(r"v\d+", name):
                versions[int(name[1:])] = versions.get(int(name[1:]), 0) + count
    with capsys.disabled():
        print("\n  %s: classes by version: %s" % (corpus, dict(sorted(versions.items()))))
    return versions, least


@pytest.mark.slow
def test_the_verifier_accepts_some_classes_of_some_jars(jdk17, agent, tools, capsys, shared):
    """Classes of optimised code, and of Java 1.1 to 5, in some of the ways that `make soak` tries."""
    assert_accepted("R8", jdk17, agent, tools(jdk17), [*SOME_MODES[-2:], *DELAYS], capsys, shared, 40)
    versions, _ = assert_accepted(
        "Java 1.0 to 1.4", jdk17, agent, tools(jdk17), [*SOME_MODES[-2:], *DELAYS], capsys, shared, 40
    )
    assert 45 in versions


@pytest.mark.slow
@pytest.mark.seconds(3600)
@pytest.mark.parametrize("corpus", CORPORA)
def test_the_verifier_accepts_every_class_in_every_way(corpus, jdk, agent, tools, capsys, shared):
    modes = (ALL_MODES if jdk.major == min(JDK_MAJORS) else SOME_MODES) + DELAYS
    if corpus == "Java 8 to 25" and jdk.major < 25:
        pytest.skip("JDK %d does not read all of them" % jdk.major)
    versions, least = assert_accepted(corpus, jdk, agent, tools(jdk), modes, capsys, shared)
    assert least > 10 or corpus == "Java 1.1 to 7"
    if corpus == "Java 8 to 25":
        assert sorted(versions) == list(range(52, 70))
    if corpus == "Java 1.1 to 7":
        assert sorted(versions) == list(range(45, 52))
    if corpus == "Java 1.0 to 1.4":
        assert {45, 46} <= set(versions)


@pytest.mark.slow
@pytest.mark.seconds(1800)
@pytest.mark.parametrize("run", RUNS)
def test_classes_that_are_made_at_run_time_are_accepted(run, jdk17, agent, shared, capsys):
    """They are verified as they are defined: with the hooks the program prints what it does without."""
    jars, command, expected = RUNS[run]
    path = ":".join(str(maven(j)) for j in jars)
    if command == ["Generate"]:

        def make(directory):
            compiler = [jdk17.javac, *QUICK_JAVAC, "-cp", path, "-d", directory]
            subprocess.run([*compiler, TOOLS / "Generate.java"], check=True, timeout=COMMAND_SECONDS)

        path += ":%s" % shared("generate", make)
    flags = ["--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp", path]
    plain = run_command([*jvm(jdk17, agent, "off", *flags), *command], timeout=300)
    assert plain.returncode == 0 and plain.stdout.strip() == (expected or plain.stdout.strip())
    for mode in SOME_MODES + DELAYS:
        done = run_command([*jvm(jdk17, agent, mode, *flags), *command], timeout=300)
        counts = numbers("verify_agent: classes", done.stderr)
        with capsys.disabled():
            print("\n  %s, %s: %d classes" % (run, mode, counts["classes"]), end="")
        assert done.returncode == 0 and done.stdout == plain.stdout, done.stderr[-3000:]
        assert counts["malformed"] == counts["unsupported"] == counts["refused"] == 0


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


@each_value(jdk=JDK_MAJORS, parallelism=[1, 2, 7, 17], tier=["interpreted", "C2", "tiered"])
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
