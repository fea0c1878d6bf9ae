# SPDX-License-Identifier: Apache-2.0
"""The programs that bench.py runs: where each comes from, how it is called, what it is to cost.

In the arguments {src} is the directory of the unpacked sources, a directory for each module of Lucene; {files} a
file with the names of all of them, {core} one with those of lucene-core; {jar:NAME} the jar of that artifact; {bench}
the directory of the workloads; {run} an empty directory.
"""

import dataclasses

LUCENE = "9.12.0"
MODULES = ("core", "analysis-common", "queryparser", "facet", "highlighter", "queries", "sandbox", "join", "grouping",
           "memory", "misc", "codecs", "suggest", "spatial3d")
SOURCES = ["org.apache.lucene:lucene-%s:%s:jar:sources" % (m, LUCENE) for m in MODULES]
ASYNC = "tools.profiler:async-profiler:4.6"

H2 = "com.h2database:h2:2.2.224"
CORE = "org.apache.lucene:lucene-core:" + LUCENE
JYTHON = "org.python:jython-standalone:2.7.4"
JRUBY = "org.jruby:jruby-complete:9.4.8.0"
SAXON = "net.sf.saxon:Saxon-HE:12.5"
PMD = ["net.sourceforge.pmd:pmd-%s:7.18.0" % part for part in ("cli", "java")]
PEKKO = "org.apache.pekko:pekko-actor_2.13:1.1.2"
ECJ = "org.eclipse.jdt:ecj:3.39.0"
R8 = "com.android.tools:r8:8.5.35"
SPOTBUGS = "com.github.spotbugs:spotbugs:4.9.8"

JAVAC = ["-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-nowarn", "-d", "{run}/out"]
PMD_CHECK = ["net.sourceforge.pmd.cli.PmdCli", "check", "--no-progress", "--no-cache", "--no-fail-on-violation",
             "--no-fail-on-error", "-t", "2", "-R", "rulesets/java/quickstart.xml", "-r", "{run}/found", "-d"]
FINDBUGS = ["edu.umd.cs.findbugs.FindBugs2", "-effort:min", "-low", "-output", "{run}/found", "-onlyAnalyze"]


@dataclasses.dataclass
class Program:
    """A command, run as it is and under each profiler."""

    name: str
    full: list  # class and arguments of a run of some 20 seconds
    short: list  # ... of some 6
    group: str = "real"  # "real": counts for the geometric mean
    jars: tuple = ()  # Maven coordinates; dependencies are fetched too
    source: str = ""  # a workload to be compiled, without .java
    locus: tuple = ()  # options of locus run
    target: float = 1.05  # largest ratio of CPU time
    figure: str = ""  # what the ratio is of: CPU time (""), a figure of the JSON that it prints last, "each" of them
    jdk: int = 11
    java: tuple = ()  # options of java
    repeat: int = 1  # runs of a pair


REAL = (
    Program("javac", [*JAVAC, "@{files}"], [*JAVAC, "@{core}"]),
    Program("ecj", ["org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-proc:none", "-nowarn", "-d", "{run}/out",
                    "@{files}"],
            ["org.eclipse.jdt.internal.compiler.batch.Main", "-17", "-proc:none", "-nowarn", "-d", "{run}/out",
             "@{core}"], jars=(ECJ,)),
    Program("H2", ["Database", "500000", "45"], ["Database", "300000"], jars=(H2,), source="Database"),
    Program("Lucene", ["SearchEngine", "70000", "120000"], ["SearchEngine", "20000", "10000"], jars=(CORE,),
            source="SearchEngine"),
    Program("Jython", ["org.python.util.jython", "{bench}/work.py", "600"],
            ["org.python.util.jython", "{bench}/work.py", "50"], jars=(JYTHON,)),
    Program("JRuby", ["org.jruby.Main", "{bench}/work.rb", "500"], ["org.jruby.Main", "{bench}/work.rb", "30"],
            jars=(JRUBY,)),
    Program("Saxon", ["net.sf.saxon.Query", "-q:{bench}/auction.xq", "rounds=230"],
            ["net.sf.saxon.Query", "-q:{bench}/auction.xq", "rounds=20"], jars=(SAXON,)),
    Program("PMD", [*PMD_CHECK, "{src}/core"], [*PMD_CHECK, "{src}/queryparser"], jars=tuple(PMD)),
    Program("fork-join arrays", ["ForkJoinArrays", "50000"], ["ForkJoinArrays", "7000"], source="bench/ForkJoinArrays"),
    Program("Pekko actors", ["ActorTree", "15000"], ["ActorTree", "1200"], jars=(PEKKO,), source="bench/ActorTree",
            java=("-Dpekko.loglevel=OFF", "-Dpekko.stdout-loglevel=OFF")),
    Program("D8", ["com.android.tools.r8.D8", "--release", "--min-api", "26", "--output", "{run}", "--thread-count",
                   "2", "{jar:scala-library}"],
            ["com.android.tools.r8.D8", "--release", "--min-api", "26", "--output", "{run}", "--thread-count", "2",
             "{jar:guava}"],
            jars=(R8, "org.scala-lang:scala-library:2.13.14", "com.google.guava:guava:33.3.0-jre")),
    Program("SpotBugs", [*FINDBUGS, "org.apache.lucene.util.-", "{jar:lucene-core}"],
            [*FINDBUGS, "org.apache.lucene.util.fst.*", "{jar:lucene-core}"], jars=(SPOTBUGS, CORE)),
)

PARALLEL = ("-XX:+UseParallelGC",)
SPANS = ("-Xms1g", *PARALLEL)

ROWS = (
    Program("10,000 threads", ["ThreadEach", "10000", "thread"], ["ThreadEach", "10000", "thread"], "row",
            source="bench/ThreadEach", target=1.10, repeat=3),
    Program("25,000 tasks, a thread each", ["ThreadEach", "25000", "task"], ["ThreadEach", "25000", "task"], "row",
            source="bench/ThreadEach", locus=("--spans=tasks",), target=1.5),
    Program("50,000 tasks, a thread each", ["ThreadEach", "50000", "task"], ["ThreadEach", "50000", "task"], "row",
            source="bench/ThreadEach", locus=("--spans=tasks",), target=1.5),
    Program("arrays of 1 to 3 KB", ["ArrayLoop", "160"], ["ArrayLoop", "40"], "row", source="bench/ArrayLoop",
            java=PARALLEL, target=1.10),
    Program("arrays, 30 frames deeper", ["ArrayLoop", "160", "30"], ["ArrayLoop", "40", "30"], "row",
            source="bench/ArrayLoop", java=PARALLEL, target=1.10),
    Program("arrays, --paths=exact", ["ArrayLoop", "160"], ["ArrayLoop", "40"], "row", source="bench/ArrayLoop",
            java=PARALLEL, locus=("--paths=exact",), target=0),
    Program("pointer chase", ["PointerChase", "100"], ["PointerChase", "20"], "row", source="bench/PointerChase",
            target=1.02),
    Program("arithmetic", ["Arithmetic", "20"], ["Arithmetic", "4"], "row", source="bench/Arithmetic", target=1.02),
    Program("hello", ["Hello"], ["Hello"], "start", source="bench/Hello", target=50, repeat=5),
    # In the first two, nearly all objects are of the tracked class; of javac it is one of many.
    *(Program("%s: %s" % (kind, name), full, short, "row", source=source, locus=options, target=target)
      for name, full, short, source, tracked, limit in (
          ("objects", ["ObjectLoop", "2000"], ["ObjectLoop", "600"], "bench/ObjectLoop", "ObjectLoop$Node", 1.8),
          ("trees", ["TreeLoop", "1500"], ["TreeLoop", "300"], "bench/TreeLoop", "TreeLoop$Node", 1.8),
          ("javac", [*JAVAC, "@{files}"], [*JAVAC, "@{core}"], "", "com.sun.tools.javac.code.Scope$*", 1.3),
      )
      for kind, options, target in (("no options", (), 0), ("--track", ("--track=" + tracked,), 0),
                                    ("--min-size 0", ("--min-size=0",), limit))
      if (kind, name) != ("no options", "javac")),  # REAL has it
    Program("spans: twenty queries", ["SpanQueries", "1000"], ["SpanQueries", "150"], "row",
            source="bench/SpanQueries", locus=("--spans=streams",), java=SPANS, target=1.05, figure="each"),
    Program("spans: telephone program", ["SpanPhone", "3"], ["SpanPhone", "0.6"], "row", source="bench/SpanPhone",
            locus=("--spans=streams",), java=SPANS, target=1.25, figure="cpu"),
    Program("spans: small streams", ["SpanSmall", "8", "900"], ["SpanSmall", "8", "200"], "row",
            source="bench/SpanSmall", locus=("--spans=streams",), java=SPANS, target=1.25, figure="cpu"),
    Program("spans: tasks of 5 us", ["SpanTasksMix", "20"], ["SpanTasksMix", "8"], "row", source="bench/SpanTasksMix",
            locus=("--spans=tasks",), java=SPANS, target=1.02, figure="each"),
    Program("spans: flood, fixed pool", ["SpanFlood", "80000", "fixed", "64"], ["SpanFlood", "16000", "fixed", "64"],
            "row", source="bench/SpanFlood", locus=("--spans=tasks",), java=SPANS, target=1.15, figure="cpu"),
    Program("spans: flood, fork-join", ["SpanFlood", "80000", "fork", "64"], ["SpanFlood", "16000", "fork", "64"],
            "row", source="bench/SpanFlood", locus=("--spans=tasks",), java=SPANS, target=1.5, figure="cpu"),
    Program("240,000 virtual threads", ["ShortVirtual", "240"], ["ShortVirtual", "240"], "row",
            source="bench/ShortVirtual", locus=("--spans=tasks",), target=1.3, jdk=21),
)

PROGRAMS = REAL + ROWS
