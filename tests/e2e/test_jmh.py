# SPDX-License-Identifier: Apache-2.0
"""JMH's profiler `locus`: allocations of an operation, the top object, and what is said where a fork is not profiled.

The truths are what tests/workloads/jmh/KnownArrays.java allocates by its source, and JMH's own `-prof gc`.
"""

import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, COMMAND_SECONDS, JDKS, QUICK_JAVAC, ROOT, WORKLOADS, jdk_of, run_command
from helpers import marked_lines, maven

VERSION = re.search(r"^VERSION=(\S+)", (ROOT / "scripts" / "jmh-jar").read_text(), re.M)[1]
JARS = ("org.openjdk.jmh:jmh-core:" + VERSION, "org.openjdk.jmh:jmh-generator-annprocess:" + VERSION,
        "net.sf.jopt-simple:jopt-simple:5.0.4", "org.apache.commons:commons-math3:3.6.1")
PROFILER = BUILD / "locus-jmh.jar"
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")  # which forks have from JMH's own JVM
ARRAY_BYTES = 2000 + 16  # with its header
SHORT = ("-wi", "1", "-i", "1", "-w", "50ms")


class Run:
    """A finished JMH: its output, and its results by the parameter `arrays`."""

    def __init__(self, process, results):
        self.stdout, self.stderr, self.returncode = process.stdout, process.stderr, process.returncode
        self.results = json.loads(results.read_text()) if results.exists() else []

    def metric(self, name, arrays=3):
        """Its value in each measured iteration of each fork."""
        (result,) = [r for r in self.results if r["params"]["arrays"] == str(arrays)]
        return [value for fork in result["secondaryMetrics"][name]["rawData"] for value in fork]

    def text(self):
        """The profiler's output for each fork: a list of paragraphs."""
        found = re.search(r'^Secondary result "[^"]*:locus":\n(.*?)\n\n', self.stdout, re.M | re.S)
        assert found, self.stdout + self.stderr
        return re.split(r"\n(?=fork)", found[1])


@pytest.fixture(scope="session")
def benchmarks(shared):
    """The class path of the compiled benchmarks."""
    if not PROFILER.exists():
        pytest.skip("no %s: make had no Maven, or Maven no JMH" % PROFILER.name)
    jars = [str(maven(coordinates)) for coordinates in JARS]

    def compile_them(directory):
        jdk = JDKS[min(JDKS)]
        subprocess.run(
            [jdk.javac, *QUICK_JAVAC, "-cp", os.pathsep.join(jars), "-d", directory]
            + ["-processor", "org.openjdk.jmh.generators.BenchmarkProcessor", WORKLOADS / "jmh" / "KnownArrays.java"],
            check=True, timeout=COMMAND_SECONDS)

    return os.pathsep.join([str(shared("jmh-benchmarks", compile_them)), *jars])


def run_jmh(benchmarks, jdk, results, *options, jar=PROFILER, java=QUICK, **more):
    path = os.pathsep.join([benchmarks, str(jar)])
    line = [jdk.java, "-Djmh.ignoreLock=true", *java, "-cp", path, "org.openjdk.jmh.Main"]
    return Run(run_command([*line, "-rf", "json", "-rff", results, *options], **more), results)


@pytest.fixture(scope="module", params=(17, pytest.param(25, marks=pytest.mark.slow)), ids=lambda major: "jdk%d" % major)
def arrays_run(request, benchmarks, tmp_path_factory):
    """3 and 5 arrays an operation, in a fork each, beside JMH's own profiler of allocations."""
    directory = tmp_path_factory.mktemp("jmh")
    done = run_jmh(benchmarks, jdk_of(request.param), directory / "results.json", "KnownArrays.make$",
                   "-p", "arrays=3,5", "-f", "1", "-wi", "1", "-i", "2", "-w", "100ms", "-r", "600ms",
                   "-prof", "gc", "-prof", "locus:dir=%s;minSize=1k;top=3;options=event=timer,interval=1ms"
                   % (directory / "out"), java=())
    assert done.returncode == 0 and len(done.results) == 2, done.stdout + done.stderr
    done.directory = directory / "out"
    return done


@pytest.mark.parametrize("arrays", (3, 5))
def test_an_operations_allocations_are_those_of_its_source_and_of_jmhs_own_profiler(arrays_run, arrays):
    counts = arrays_run.metric("locus.alloc.count.min1k", arrays)
    sizes = arrays_run.metric("locus.alloc.bytes.min1k", arrays)
    # Beside the operations an iteration makes a few large objects, and counts neither those nor the warm-up's.
    assert len(counts) == len(sizes) == 2
    assert counts == pytest.approx([arrays] * 2, rel=0.01)
    assert sizes == pytest.approx([arrays * ARRAY_BYTES] * 2, rel=0.01)
    assert sizes == pytest.approx(arrays_run.metric("gc.alloc.rate.norm", arrays), rel=0.01)
    assert "locus.alloc.uncounted" not in arrays_run.stdout


def test_each_fork_has_a_profile_under_its_name_and_the_top_object_is_that_of_its_report(arrays_run, locus):
    names = {path.name for path in arrays_run.directory.iterdir()}
    assert names == {"known.KnownArrays.make-thrpt-arrays=%d-fork-1" % n for n in (3, 5)}
    (text,) = arrays_run.text()
    profile = re.match(r"fork 1: profile (.*)\n", text)[1]
    assert profile == str(arrays_run.directory / "known.KnownArrays.make-thrpt-arrays=3-fork-1")
    marks = ["--from-mark=locus-jmh measured iterations begin", "--to-mark=locus-jmh measured iterations end"]
    found = json.loads(locus("report", "--format=json", *marks, profile).stdout)
    row = found["ranking"]["rows"][0]
    line = marked_lines("jmh/KnownArrays", "allocation")["array"]
    assert row["allocated_at"]["line"] == line
    assert ("1. known.KnownArrays.kept[] (byte[]) of KnownArrays.make:%d: %.1f%% of the samples"
            % (line, 100 * row["share"])) in text
    counted = int(re.search(r"%d: ([\d,]+) objects, " % line, text)[1].replace(",", ""))
    assert counted == row["allocations"]
    operations = int(re.search(r"in 2 measured iterations of ([\d,]+) operations", text)[1].replace(",", ""))
    # The counts are of the measured iterations alone: no array of the warm-up is in them.
    assert counted == 3 * operations < json.loads(locus("report", "--format=json", profile).stdout)["ranking"]["rows"][0]["allocations"]
    assert "in the measured iterations: {:,} samples".format(found["samples"]["total"]) in text
    (result,) = [r for r in arrays_run.results if r["params"]["arrays"] == "3"]
    assert result["secondaryMetrics"]["locus"]["score"] == found["samples"]["total"]


def test_allocations_of_threads_that_have_ended_count(benchmarks, jdk17, tmp_path):
    done = run_jmh(benchmarks, jdk17, tmp_path / "results.json", *SHORT, "-r", "600ms", "-f", "1", "KnownArrays.makeInThread",
                   "-prof", "locus:dir=%s" % tmp_path)
    assert done.metric("locus.alloc.count.min1k") == pytest.approx([3], rel=0.02)
    assert done.metric("locus.alloc.bytes.min1k") == pytest.approx([3 * ARRAY_BYTES], rel=0.02)


def test_with_every_object_small_ones_count_too(benchmarks, jdk25, tmp_path):
    done = run_jmh(benchmarks, jdk25, tmp_path / "results.json", *SHORT, "-r", "50ms", "-f", "1", "KnownArrays.makeSmall",
                   "-prof", "locus:minSize=0;dir=%s" % tmp_path)
    # 10 arrays of one long; of so short an iteration the harness's own objects are a part.
    assert done.metric("locus.alloc.count") == pytest.approx([10], rel=0.05)
    assert done.metric("locus.alloc.bytes") == pytest.approx([10 * 24], rel=0.05)


def test_forks_have_numbers_and_an_earlier_profile_stays(benchmarks, jdk17, tmp_path):
    earlier = tmp_path / "50%, of" / "known.KnownArrays.make-thrpt-arrays=3-fork-1"
    earlier.mkdir(parents=True)
    done = run_jmh(benchmarks, jdk17, tmp_path / "results.json", *SHORT, "-r", "50ms", "KnownArrays.make$", "-f", "2", "-wf", "1",
                   "-prof", "locus:dir=%s" % earlier.parent)
    paths = [re.match(r"fork \d: profile (.*)\n", text)[1] for text in done.text()]
    assert paths == [str(earlier) + "-2", str(earlier)[:-1] + "2"], done.stdout
    names = {p.name[len("known.KnownArrays.make-thrpt-arrays=3-"):] for p in earlier.parent.iterdir()}
    assert names == {"fork-1", "fork-1-2", "fork-2", "warmup-fork-1"}
    assert not list(earlier.iterdir())
    assert len(done.metric("locus.alloc.count.min1k")) == 2


@pytest.mark.parametrize("named_by", ("jar", "home", "property"))
def test_the_jar_of_an_installation_finds_locus(benchmarks, jdk17, tmp_path, named_by):
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "lib" / "locus").mkdir(parents=True)
    shutil.copy(BUILD / "locus", root / "bin")
    for name in ("liblocus.so", "liblocus-preload.so", PROFILER.name):
        shutil.copy(BUILD / name, root / "lib" / "locus")
    done = run_jmh(benchmarks, jdk17, tmp_path / "results.json", *SHORT, "-f", "1", "-r", "50ms", "-v", "EXTRA", "KnownArrays.make$",
                   "-prof", "locus", cwd=tmp_path,
                   jar=root / "lib" / "locus" / PROFILER.name if named_by == "jar" else shutil.copy(PROFILER, tmp_path),
                   java=[*QUICK, "-Dlocus=%s" % (root / "bin" / "locus")] if named_by == "property" else QUICK,
                   env={"LOCUS_HOME": str(root) if named_by == "home" else ""})
    assert "-agentpath:%s=" % (root / "lib" / "locus" / "liblocus.so") in done.stdout
    assert done.text()[0].startswith("fork 1: profile %s/locus-jmh/" % tmp_path), done.stdout


def refusing(directory):
    """A JVM that starts with no agent."""
    java = directory / "java"
    java.write_text('#!/bin/sh\ncase "$*" in *agentpath*) echo no agents here >&2; exit 1 ;; esac\nexec "%s" "$@"\n'
                    % jdk_of(17).java)
    java.chmod(0o755)
    return java


@pytest.mark.parametrize("case", ("no-locus", "no-library", "option", "jvm", "directory", "no-fork"))
def test_a_fork_that_is_not_profiled_says_why_and_has_its_score(benchmarks, jdk17, tmp_path, case):
    jar = shutil.copy(PROFILER, tmp_path)
    (tmp_path / "file").write_text("")
    program = tmp_path / "alone"
    program.symlink_to("/bin/true")
    locus = "locus=%s;dir=%s" % (BUILD / "locus", tmp_path)
    options, reason = {
        "no-locus": (["-prof", "locus"], "no locus command beside the jar or in PATH"),
        "no-library": (["-prof", "locus:locus=%s" % program], "liblocus.so is neither in"),
        "option": (["-prof", "locus:%s;options=nonsense=1" % locus], "unknown option 'nonsense'"),
        "jvm": (["-jvm", refusing(tmp_path), "-prof", "locus:" + locus], "does not start with the agent: no agents here"),
        "directory": (["-prof", "locus:%s/file" % locus], "no profile can be written there"),
        "no-fork": (["-prof", "locus:" + locus], "Locus starts forks under its agent, and there is none"),
    }[case]
    forks = "0" if case == "no-fork" else "1"
    shell = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not os.path.exists(p + "/locus"))
    done = run_jmh(benchmarks, jdk17, tmp_path / "results.json", *SHORT, "-r", "50ms", "KnownArrays.make$", "-f", forks, *options,
                   jar=jar, cwd=tmp_path, env={"PATH": shell, "LOCUS_HOME": ""})
    assert done.returncode == 0
    assert done.results[0]["primaryMetric"]["score"] > 0
    (text,) = done.text()
    assert re.match(r"(fork 1: )?not profiled: ", text) and reason in text and "\n" not in text, text
    assert list(done.results[0]["secondaryMetrics"]) == ["locus"]
    assert re.search(r"^KnownArrays.make:locus .* 0 +samples$", done.stdout, re.M), done.stdout  # and no NaN


@pytest.mark.parametrize("options, said", (
    ("help", "Usage: -prof"),
    ("minSiz=1k", "there is no option 'minSiz'"),
    ("minSize=some", "'some' is no size"),
    ("top=0", "'0' is no number from 1"),
    ("dir=", "an option is NAME=VALUE"),
))
def test_options_are_checked_before_anything_runs(benchmarks, jdk17, tmp_path, options, said):
    done = run_jmh(benchmarks, jdk17, tmp_path / "results.json", *SHORT, "-r", "50ms", "-f", "1", "KnownArrays.make$",
                   "-prof", "locus:" + options)
    assert said in done.stdout + done.stderr and "Iteration" not in done.stdout
