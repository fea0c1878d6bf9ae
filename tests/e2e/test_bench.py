"""A finding becomes a benchmark that runs: of a library that nobody here wrote, and of a fix beside what it fixes."""

import re
import shutil

import pytest
from conftest import BUILD, WORKLOADS
from helpers import command, maven

QUICK = ("--forks", 1, "--seconds", 1)
LUCENE = "org.apache.lucene:lucene-core:9.12.1"
SECONDS = 600


@pytest.fixture(scope="session", autouse=True)
def jar():
    if not (BUILD / "locus-bench.jar").exists() or not shutil.which("mvn"):
        pytest.skip("no locus-bench.jar, or no mvn to build a project with")


def rows(text):
    """The table: [(benchmark, its other columns)]."""
    begin = text.index("benchmark ")
    lines = text[begin:text.index("\n\n", begin)].splitlines()[1:]
    return [(words[0], words[1:]) for words in (re.split(r"  +", line.strip()) for line in lines)]


@pytest.mark.seconds(SECONDS)
def test_hot_line_of_a_library_becomes_a_benchmark(locus, workload, profile_once, jdk17, tmp_path):
    """Maven runs the regression test: each recorded input gives the recorded output."""
    line = command(workload, jdk17, "SearchEngine", 20_000, 10_000, java=["-Xmx512m"], jars=[maven(LUCENE)])
    run = profile_once("SearchEngine-17", line)
    sources = maven(LUCENE + ":jar:sources")
    done = locus("bench", run.directory, "--source-path", sources, *QUICK, "-o", tmp_path / "bench", timeout=SECONDS)
    assert done.returncode in (0, 3), done.stdout + done.stderr  # 3: an interval is wide on a busy machine
    assert re.search(r"^org\.apache\.lucene\.\S+, lines \d+ to \d+: ", done.stdout), done.stdout
    assert 1 <= len(rows(done.stdout)) <= 3 and "MADE UP" not in done.stderr, done.stdout + done.stderr
    reports = list((tmp_path / "bench/target/surefire-reports").glob("*.txt"))
    assert any(re.search(r"Tests run: [1-9]\d*, Failures: 0, Errors: 0, Skipped: 0", r.read_text()) for r in reports), reports


@pytest.mark.seconds(SECONDS)
def test_a_fix_is_measured_beside_what_it_fixes(locus, workload, profile, jdk17, tmp_path):
    """A sum down the columns, and along the rows: 16 times as many cache lines, and the same result."""
    run = profile(command(workload, jdk17, "BenchColumns", 20, java=["-Xmx256m"]))
    before = (WORKLOADS / "BenchColumns.java").read_text()
    after = before.replace("sum += m[j * SIZE + i]", "sum += m[i * SIZE + j]")
    assert after != before
    fixed = tmp_path / "fixed"
    fixed.mkdir()
    (fixed / "BenchColumns.java").write_text(after)
    words = ("bench", run.directory, "--source-path", WORKLOADS, "--at", "BenchColumns#sum", "--against", fixed)
    done = locus(*words, *QUICK, "-o", tmp_path / "bench", timeout=SECONDS)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    table = rows(done.stdout)
    assert [row[1][1] for row in table] == ["before", "after"] * (len(table) // 2), done.stdout
    speed_ups = [float(row[1][-2].rstrip("x")) for row in table[1::2]]
    assert speed_ups and min(speed_ups) > 1.5, done.stdout
