# SPDX-License-Identifier: Apache-2.0
"""`locus agree`: of runs with known methods, of stub profilers, one of which lies, and of real ones."""

import json
import math
import os
import re
import signal
import subprocess
import time

import pytest
from conftest import BUILD, JDKS

T4 = 2.776445  # Student's t, 95%, 4 degrees of freedom
T4_OF_TWO = 3.495406  # the same, 97.5%


def agree(locus, *args, status=0, **more):
    done = locus("agree", "--format=json", *args, **more)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def profiler(found, name):
    return next(p for p in found["profilers"] if p["name"] == name)


def pair(found, a, b):
    return next(p for p in found["pairs"] if {p["a"], p["b"]} == {a, b})


# Runs with known methods


class Runs:
    """A directory as `locus agree` leaves it, of runs whose samples are known."""

    def __init__(self, path, *sides, rounds=5, delays=()):
        self.path, self.sides, self.runs = path, ["bare", *sides], []
        self.record = {"format": 1, "command": ["java", "Main"], "rounds": rounds, "delays": list(delays), "runs": self.runs,
                       "sides": [{"name": s, "kind": "bare" if s == "bare" else "own", "command": None} for s in self.sides]}
        path.mkdir()

    def run(self, side, number, methods=None, samples=100, delay=-1, state="counted", **more):
        kind = "" if delay < 0 else "-no-delay" if delay == 0 else "-delay-%d" % delay
        directory = self.path / ("round-%03d-%s%s" % (number + 1, side, kind))
        directory.mkdir()
        (directory / "stdout").write_text("")
        (directory / "stderr").write_text("")
        if methods:
            lines = ["samples %d" % samples, *("%d %s" % (n, m) for m, n in methods.items())]
            (directory / "methods").write_text("\n".join(lines) + "\n")
        self.runs.append({"side": self.sides.index(side), "round": number, "delay": delay, "state": state, "why": None, **more})
        (self.path / "agree.json").write_text(json.dumps(self.record))
        return directory


A, B, C, D = ("a.Main." + m for m in ("a", "b", "c", "d"))


@pytest.fixture
def known(tmp_path):
    """x has a method in 80 of 100 samples, y in all. By x the first is a, by y it is a in three of five rounds, else b."""
    runs = Runs(tmp_path / "known", "x", "y")
    for i, cpu in enumerate((100, 102, 104, 98, 96)):
        runs.run("bare", i, wall_ns=1e9, cpu_ns=1e9, peak_bytes=5e7)
        runs.run("x", i, {A: 40, B: 24, C: 16}, wall_ns=1.5e9, cpu_ns=cpu * 1e7, peak_bytes=1e8)
        runs.run("y", i, {A: 50, B: 30, D: 20} if i % 2 == 0 else {A: 30, B: 60, D: 10}, wall_ns=1e9, cpu_ns=2e9)
    return runs.path


def test_numbers_are_those_worked_out_by_hand(locus, known):
    found = agree(locus, known)
    # Means: x has a 0.5, b 0.3, c 0.2; y has a 0.42, b 0.42, d 0.16, and a comes first as it came first in the file.
    assert (found["union_1"], found["union_5"], found["union_1_of_runs"], found["union_5_of_runs"]) == (1, 4, 2, 4)
    assert pair(found, "x", "y")["overlap"] == pytest.approx(0.42 + 0.3)
    assert pair(found, "x", "y")["common_top_5"] == 2
    x, y = profiler(found, "x"), profiler(found, "y")
    assert (x["largest_difference"], x["firsts"], x["unstable"]) == (0, 1, 0)
    assert y["largest_difference"] == pytest.approx(0.3) and y["largest_difference_of"] == B and y["firsts"] == 2
    assert x["java_share"]["mean"] == pytest.approx(0.8) and y["java_share"]["mean"] == 1
    assert x["wall_ratio"]["mean"] == pytest.approx(1.5) and x["peak_ratio"]["mean"] == pytest.approx(2)
    # 1.00, 1.02, 1.04, 0.98, 0.96: the squares of what they differ by add up to 0.004.
    half = T4 * math.sqrt(0.004 / 4 / 5)
    assert (x["cpu_ratio"]["low"], x["cpu_ratio"]["high"]) == pytest.approx((1 - half, 1 + half), abs=1e-6)
    assert y["peak_ratio"] is None  # was not measured
    shares = {m["method"]: m["share"]["mean"] for m in x["methods"]}
    assert shares == pytest.approx({A: 0.5, B: 0.3, C: 0.2})


def jackknife():
    """Half of the interval of the overlap of x and y of `known`, computed in another way than the program's."""
    ya, yb = [0.5, 0.3, 0.5, 0.3, 0.5], [0.3, 0.6, 0.3, 0.6, 0.3]
    without = [min(0.5, (sum(ya) - ya[i]) / 4) + min(0.3, (sum(yb) - yb[i]) / 4) for i in range(5)]
    mean = sum(without) / 5
    return T4 * math.sqrt(4 / 5 * sum((w - mean) ** 2 for w in without))


def test_text_has_the_same_numbers(locus, known):
    done = locus("agree", known, env={**os.environ, "COLUMNS": "100"})
    assert done.returncode == 0 and not done.stderr
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    text = re.sub(r"\s+", " ", done.stdout)
    assert text.startswith("2 profilers with one hottest method: a.Main.a (x, y)")
    assert "1 different method by the profilers' means (union-1), 2 over all runs" in text
    assert "4 different (union-5), 4 over all runs" in text
    assert re.search(r"x 5 1\.00 \(0\.96-1\.04\) 100 80% 0\.0 1 0", text)
    # The overlap without a round, and the interval of the pseudo-values.
    assert "72.0+-%.1f 2" % (100 * jackknife()) in text


def test_noise_is_not_told_as_a_delay_seen_elsewhere(locus, tmp_path):
    """c has 3 to 7 of 100 samples in any run, and its mean is 2 higher with the delay, a fifth of the time: a tenth of the delay."""
    delay = {"method": A, "iterations": 10, "executions": 2000000, "ns_per_iteration": 1.0, "why": None}
    runs = Runs(tmp_path / "runs", "x", delays=[delay])
    for i, (before, after) in enumerate(((5, 7), (3, 6), (6, 8), (4, 3), (7, 9))):
        runs.run("bare", i, cpu_ns=1e8)
        runs.run("x", i, {A: 50, B: 50}, cpu_ns=1e8)
        for number, cpu in ((0, 7.5e7), (1, 1e8)):
            runs.run("bare", i, delay=number, java_cpu_ns=cpu)
        runs.run("x", i, {A: 50, B: 50 - before, C: before}, delay=0)
        runs.run("x", i, {A: 60, B: 40 - after, C: after}, delay=1)
    (seen,) = agree(locus, runs.path)["delays"][0]["seen"]
    assert seen["found"] == pytest.approx(1) and (seen["elsewhere"], seen["elsewhere_part"]) == (None, 0)


@pytest.mark.parametrize("at,found_part", [(A, 1.0), (B, -1.0)])
def test_a_delay_is_held_against_what_it_added(locus, tmp_path, at, found_part):
    """The loops in a take a fifth of the Java threads' 100. x sees it there; with the record saying b, x sees nothing there. The clocks have 75 without."""
    delay = {"method": at, "iterations": 10, "executions": 2000000, "ns_per_iteration": 1.0, "why": None}
    runs = Runs(tmp_path / "runs", "x", delays=[delay])
    for i in range(5):
        runs.run("bare", i, cpu_ns=1e8)
        runs.run("x", i, {A: 50, B: 50}, cpu_ns=1e8)
        for number, cpu in ((0, 7.5e7), (1, 1e8)):
            runs.run("bare", i, delay=number, java_cpu_ns=cpu)
        runs.run("x", i, {A: 50, B: 50}, delay=0)
        runs.run("x", i, {A: 60, B: 40}, delay=1)
    (d,) = agree(locus, runs.path)["delays"]
    (seen,) = d["seen"]
    assert d["added"]["mean"] == pytest.approx(0.2) and d["counted_ns"] == pytest.approx(2e7)
    assert d["clocks"]["mean"] == pytest.approx(0.25)
    assert seen["without"]["mean"] == pytest.approx(0.5) and seen["expected"] == pytest.approx(0.6)
    assert seen["found"] == pytest.approx(found_part, abs=1e-9)
    assert seen["error"] == pytest.approx(0 if at == A else -0.2)
    assert (seen["elsewhere"], round(seen["elsewhere_part"], 6)) == ((None, 0) if at == A else (A, 1))
    text = re.sub(r"\s+", " ", locus("agree", runs.path).stdout)
    assert "the delay's part of the Java threads' CPU time is 20.0% (20.0-20.0); by the threads' clocks 25.0% (25.0-25.0)" in text
    assert ("100% at a.Main.a" in text) == (at == B)
    assert "saw the delay at %s: %s" % (at, "x" if at == A else "no profiler; did not: x") in text
    assert seen["saw"] == (at == A)


def delayed(path, growth, rounds=5, **of_run):
    """Runs in which a has 50 of 100 samples without the delay, and `growth` more with it; the loops take a fifth of the time."""
    delay = {"method": A, "iterations": 10, "every": 64, "executions": 1, "ns_per_iteration": 1.0, "why": None}
    runs = Runs(path, "x", rounds=rounds, delays=[delay])
    for i in range(rounds):
        runs.run("bare", i, cpu_ns=1e8)
        runs.run("x", i, {A: 50, B: 50}, cpu_ns=1e8)
        runs.run("bare", i, delay=0, cpu_ns=1.1e8, java_cpu_ns=8e7, delayed_ns=0)
        runs.run("bare", i, delay=1, cpu_ns=1.3e8, **{"java_cpu_ns": 1e8, "delayed_ns": 2e7, **of_run})
        runs.run("x", i, {A: 50, B: 50}, delay=0)
        runs.run("x", i, {A: 50 + growth[i], B: 50 - growth[i]}, delay=1)
    return runs.path


@pytest.mark.parametrize("growth,found,saw,elsewhere", [
    ([0] * 5, 0, False, None),  # the same with and without
    ([10] * 5, 1, True, None),
    # By Student's interval alone this is above zero (4.8 to 14.8), but not for two methods at once (3.7 is not either, 0.6 to 19).
    ([4, 16, 10, 12, 8], 1, True, None),
    ([1, 17, 3, 13, 11], 0.9, False, None),
    ([-10] * 5, -1, False, B),
])
def test_a_delay_is_seen_only_where_the_corrected_interval_is_above_zero(locus, tmp_path, growth, found, saw, elsewhere):
    found_text = agree(locus, delayed(tmp_path / "runs", growth))
    (d,) = found_text["delays"]
    (seen,) = d["seen"]
    assert d["added"]["mean"] == pytest.approx(0.2) and d["counted_ns"] == pytest.approx(2e7) and d["every"] == 64
    assert found_text["counting"]["mean"] == pytest.approx(1.1)
    assert seen["compared"] == 2 and (seen["saw"], seen["elsewhere"]) == (saw, elsewhere)
    assert seen["found"] == pytest.approx(found, abs=1e-9)
    # Bonferroni: 97.5% for each of two methods. The growth that is expected is a tenth: 0.2 (1 - 0.5).
    mean = sum(growth) / 5
    half = T4_OF_TWO * math.sqrt(sum((g - mean) ** 2 for g in growth) / 4 / 5) / 100
    assert seen["found_width"] == pytest.approx(half / 0.1, rel=1e-4, abs=1e-9)
    assert saw == (mean / 100 > half)


def test_below_five_rounds_no_profiler_saw_a_delay(locus, tmp_path):
    path = delayed(tmp_path / "runs", [10] * 4, rounds=4)
    (seen,) = agree(locus, path)["delays"][0]["seen"]
    assert (seen["saw"], seen["found_width"], seen["error_width"]) == (None, None, None) and seen["found"] == pytest.approx(1)
    assert "saw the delay at" not in re.sub("the profiler saw the delay[.]", "", re.sub(r"\s+", " ", locus("agree", path).stdout))


def test_a_method_that_has_nearly_all_samples_is_not_judged(locus, tmp_path):
    """The delay adds 1% of the time: half a point of a's share."""
    (seen,) = agree(locus, delayed(tmp_path / "runs", [10] * 5, delayed_ns=1e6))["delays"][0]["seen"]
    assert (seen["found"], seen["saw"]) == (None, None)


def test_below_five_rounds_intervals_are_withheld(locus, tmp_path):
    runs = Runs(tmp_path / "runs", "x", rounds=4)
    for i in range(4):
        runs.run("bare", i, cpu_ns=1e9)
        runs.run("x", i, {A: 40 + i, B: 10}, cpu_ns=1e9 + i)
    x = profiler(agree(locus, runs.path), "x")
    assert x["cpu_ratio"]["low"] is x["methods"][0]["share"]["low"] is None
    assert "withheld: they need 5 counted rounds" in locus("agree", runs.path).stdout


@pytest.mark.parametrize("damage", ["samples 10\n11 a.B.c\n", "", None])
def test_a_run_whose_methods_are_damaged_is_left_out(locus, tmp_path, damage):
    runs = Runs(tmp_path / "runs", "x", rounds=2)
    for i in range(2):
        runs.run("bare", i, cpu_ns=1e9)
        last = runs.run("x", i, {A: 40}, cpu_ns=1e9)
    if damage is None:
        (last / "methods").unlink()
    else:
        (last / "methods").write_text(damage)
    done = locus("agree", runs.path)
    assert done.returncode == 3 and "3 of 4 runs counted; round-002-x was left out: cannot read its methods" in done.stderr
    assert "round-002-x: cannot read its methods" in re.sub(r"\s+", " ", done.stdout)


@pytest.mark.parametrize("change", [{"format": 2}, {"rounds": 0}, {"sides": []}, {"runs": [{"side": 9, "round": 0, "delay": -1}]},
                                    {"runs": [{"side": 1, "round": 7, "delay": -1}]}, {"runs": 3}, {"delays": [{}]},
                                    {"sides": [{"name": "../x", "kind": "own"}]}])
def test_a_record_that_is_none_is_refused(locus, known, change):
    record = json.loads((known / "agree.json").read_text())
    (known / "agree.json").write_text(json.dumps({**record, **change}))
    done = locus("agree", known)
    assert done.returncode == 1 and done.stdout == ""
    assert "is not a record of runs that this Locus can read" in done.stderr and done.stderr.count("\n") == 1


# Stub profilers


HONEST = """#!/bin/sh
out=$1; shift
printf 'a.Main.main;a.Main.a 60\\na.Main.main;a.Main.b 40\\n' >"$out"
exec "$@"
"""
# Swaps the two methods in each second run.
LIAR = """#!/bin/sh
out=$1; shift
n=$(cat COUNT 2>/dev/null || echo 0); echo $((n + 1)) >COUNT
if [ $((n % 2)) = 1 ]; then printf 'a.Main.main;a.Main.b 60\\na.Main.main;a.Main.a 40\\n'
else printf 'a.Main.main;a.Main.a 60\\na.Main.main;a.Main.b 40\\n'; fi >"$out"
exec "$@"
"""


@pytest.fixture
def stubs(tmp_path):
    """Words of --profilers."""
    words = {}
    for name, text in (("honest", HONEST), ("other", HONEST), ("liar", LIAR.replace("COUNT", str(tmp_path / "count")))):
        path = tmp_path / name
        path.write_text(text)
        path.chmod(0o755)
        words[name] = "%s=%s" % (name, path)
    return words


def test_a_profiler_that_lies_is_caught(locus, stubs, tmp_path):
    found = agree(locus, "-n", "6", "-p", ",".join(stubs.values()), "-o", tmp_path / "runs", "--", "true")
    assert [profiler(found, n)["firsts"] for n in ("honest", "other", "liar")] == [1, 1, 2]
    assert [profiler(found, n)["largest_difference"] for n in ("honest", "other")] == [0, 0]
    assert profiler(found, "liar")["largest_difference"] == pytest.approx(0.2)
    assert pair(found, "honest", "other")["overlap"] == pytest.approx(1)
    assert pair(found, "honest", "liar")["overlap"] == pytest.approx(0.9)
    assert found["union_1_of_runs"] == 2
    assert [profiler(found, n)["counted"] for n in ("bare", "honest", "other", "liar")] == [6, 6, 6, 6]
    # The order changes, so that no profiler is always the first after the program alone.
    followed = {b["profiler"] for a, b in zip(found["runs"], found["runs"][1:]) if a["profiler"] == "bare"}
    assert len(followed) >= 2
    assert agree(locus, tmp_path / "runs") == found  # the directory says it again


def test_a_profiler_that_is_not_there_is_named_and_left_out(locus, stubs, tmp_path):
    done = locus("agree", "-n", "1", "-p", stubs["honest"] + ",none=/no/such", "-o", tmp_path / "runs", "--", "true")
    assert done.returncode == 0
    assert "none is left out: there is no program '/no/such'" in done.stderr
    assert "none: there is no program '/no/such'" in done.stdout
    done = locus("agree", "-n", "1", "-p", "none=/no/such", "-o", tmp_path / "again", "--", "true")
    assert done.returncode == 1 and "none of the profilers is available" in done.stderr


@pytest.mark.parametrize("body,why", [
    ('exit 3', "ended with status 3"),
    ('echo oops >&2; "$@"', "wrote to standard error: oops"),
    ('echo more; "$@"', "its output differs"),
    ('rm -f "$out"; "$@"', "the profiler wrote nothing"),
    ('echo gibberish >"$out"; "$@"', "cannot read the profiler's output"),
    ('echo "[libc] 5" >"$out"; "$@"', "no sample of a Java method"),
    ('sleep 60', "still ran after 500 ms"),
])
def test_a_run_that_goes_wrong_under_a_profiler_is_left_out_with_the_reason(locus, stubs, tmp_path, body, why):
    bad = tmp_path / "bad"
    bad.write_text('#!/bin/sh\nout=$1; shift; echo "a.B.c 1" >"$out"\n%s\n' % body)
    bad.chmod(0o755)
    done = locus("agree", "-n", "2", "--timeout=500ms", "-p", stubs["honest"] + ",bad=%s" % bad, "-o", tmp_path / "runs", "--",
                 "echo", "result")
    assert done.returncode == 3
    found = agree(locus, tmp_path / "runs", status=3)
    assert why in next(r for r in found["runs"] if r["profiler"] == "bad")["why"]
    assert all(r["state"] == "counted" for r in found["runs"] if r["profiler"] != "bad")
    assert why in re.sub(r"\s+", " ", done.stdout) and profiler(found, "bad")["methods"] == []


def test_a_program_that_fails_by_itself_is_not_run_on(locus, stubs, tmp_path):
    done = locus("agree", "-n", "9", "-p", stubs["honest"], "-o", tmp_path / "runs", "--", "false")
    assert done.returncode == 1
    assert len(json.loads((tmp_path / "runs/agree.json").read_text())["runs"]) <= 6


def test_runs_are_made_in_parts(locus, stubs, tmp_path):
    """Earlier runs stay, an interrupted one is made again, and another command or profiler is refused."""
    out = tmp_path / "runs"
    args = ["-p", stubs["honest"], "--resume", "-o", out]
    agree(locus, "-n", "2", *args, "--", "echo", "x")
    record = json.loads((out / "agree.json").read_text())
    record["runs"][1].update(state="interrupted", why="it was interrupted", wall_ns=None)
    (out / "agree.json").write_text(json.dumps(record))
    found = agree(locus, "-n", "5", *args, "--", "echo", "x")
    assert found["rounds"] == 5 and profiler(found, "honest")["counted"] == profiler(found, "bare")["counted"] == 5
    wall = {r["name"]: r["wall_ns"] for r in found["runs"]}
    assert len(wall) == 10 and wall["round-001-bare"] == record["runs"][0]["wall_ns"]
    assert agree(locus, "-n", "1", *args, "--", "echo", "x") == found
    for other, told in ((["--", "echo", "y"], "has runs of another command: echo x"),
                        (["-p", stubs["other"], "--", "echo", "x"], "has runs of other profilers")):
        done = locus("agree", *args, *other)
        assert done.returncode == 1 and told in done.stderr and done.stdout == ""


def test_an_interruption_keeps_what_was_run(locus, stubs, tmp_path):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 1\n")
    slow.chmod(0o755)
    child = subprocess.Popen([BUILD / "locus", "agree", "-n", "50", "-p", stubs["honest"], "-o", tmp_path / "runs", "--", slow],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    record = tmp_path / "runs/agree.json"
    end = time.monotonic() + 180
    while time.monotonic() < end and not (record.exists() and len(json.loads(record.read_text())["runs"]) >= 3):
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=300)
    assert child.returncode == 3
    found = agree(locus, tmp_path / "runs", status=3)
    assert profiler(found, "honest")["counted"] >= 1 and 3 <= len(found["runs"]) < 20
    assert "rounds were not started" in re.sub(r"\s+", " ", out)


@pytest.mark.parametrize("args,told", [
    (["-p", "jprof", "--", "true"], "'jprof' is not locus, async"),
    (["-p", "jfr,jfr", "--", "true"], "'jfr' is given twice"),
    (["-p", "locus=x", "--", "true"], "'locus=x' is not"),
    (["-n", "0", "--", "true"], "--runs"),
    ([], "no program to run"),
    (["-n", "3", "runs"], "--runs needs a program"),
    (["runs", "--", "true"], "is before '--'"),
    (["--truth-at", "a b", "--", "true"], "--truth-at"),
    (["-o", "a,b", "--", "true"], "has a character"),
    (["--resume", "--", "true"], "--resume needs --output"),
    (["--resume", "runs"], "--resume needs a program"),
])
def test_a_command_line_that_is_wrong_runs_nothing(locus, tmp_path, args, told):
    done = locus("agree", *args, cwd=tmp_path)
    assert done.returncode == 2 and told in done.stderr and done.stdout == ""
    assert not list(tmp_path.rglob("agree.json"))


# Real profilers


@pytest.fixture(scope="module")
def steady(shared):
    """A class path, compiled by the oldest JDK."""
    def make(directory):
        (directory / "Two.java").write_text("""
public class Two {
	static final int[] numbers = new int[1 << 12];
	static long sum(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum = sum * 31 + numbers[(int) sum & 4095];
		return sum;
	}
	static long other(int n) {
		long x = n;
		for (int i = 0; i < n; i++)
			x = (x >>> 7) * 6364136223846793005L + i;
		return x;
	}
	public static void main(String[] args) {
		long all = 0;
		for (int round = 0; round < Integer.parseInt(args[0]); round++)
			all += sum(400_000) + other(10_000);
		System.out.println("result: " + (all != 42));
	}
}
""")
        subprocess.run([JDKS[min(JDKS)].javac, "--release", "11", "-d", directory, directory / "Two.java"], check=True)
    return shared("agree-two", make)


def programs(jdk, steady, rounds):
    return [jdk.java, "-XX:+UseSerialGC", "-cp", steady, "Two", str(rounds)]


@pytest.mark.slow  # the quick evaluation of `make test` runs the same profilers
@pytest.mark.parametrize("jdk", [25, 17], indirect=True)
def test_real_profilers_find_the_same_method(locus, jdk, steady, tmp_path):
    """Nearly all of the work is in sum: profilers that know of inlined methods say so. For JFR without debug information and perf
    it may be of its caller, which it is inlined in."""
    out = tmp_path / "runs"
    done = locus("agree", "-n", "1", "-o", out, "--", *programs(jdk, steady, 900))
    assert done.returncode in (0, 3), done.stderr
    found = json.loads((out / "result.json").read_text())
    seen = [p for p in found["profilers"][1:] if p["counted"]]
    assert {"locus", "jfr", "jfr-debug"} <= {p["name"] for p in seen}, done.stderr
    for p in found["profilers"][1:]:
        assert p["counted"] == 1 or p["absent"], (p, done.stderr)
    for p in seen:
        sees_inlined = p["name"] in ("locus", "async", "jfr-debug")
        assert p["methods"][0]["method"] in (("Two.sum",) if sees_inlined else ("Two.sum", "Two.main")), p
    assert found["union_1"] in (1, 2)
    assert not list((out / "round-001-bare").glob("profile-*"))
    assert not [f for f in os.listdir("/tmp") if re.fullmatch(r"perf-\d+\.map", f) and (out / "round-001-perf").exists()
                and os.stat("/tmp/" + f).st_mtime > os.stat(out / "agree.json").st_mtime - 30]


@pytest.mark.slow
@pytest.mark.parametrize("jdk", [17, 25], indirect=True)
def test_injected_delays_are_found_by_locus(locus, jdk, steady, tmp_path):
    found = agree(locus, "-n", "2", "-p", "locus", "--truth-at=Two.other,Two.none", "-o", tmp_path / "runs", "--",
                  *programs(jdk, steady, 2700), status=0)
    other, none = found["delays"]
    assert none["why"] and not none["seen"]
    assert other["executions"] == 2700 and other["added"]["mean"] > 0.03
    (seen,) = other["seen"]
    # The delay is at this method, which has hardly a sample without, and nowhere else.
    # A tenth of some 1,000 samples: the standard error of the part that is found is 0.17.
    assert seen["without"]["mean"] < 0.05 and seen["with"]["mean"] > seen["without"]["mean"]
    assert 0.35 < seen["found"] < 2 and seen["elsewhere_part"] < seen["found"], seen


def test_a_small_method_that_is_inlined_gets_the_delay_that_is_asked_for(locus, jdk, stubs, shared, tmp_path):
    """It runs 300 million times. The stub's profile is the same with and without the delay: it has found nothing."""
    def make(directory):
        (directory / "Small.java").write_text("""
public class Small {
	static int state = 1;
	static int next(int x) { return x * 69069 + 12345; }
	public static void main(String[] args) {
		for (int i = 0; i < 300_000_000; i++)
			state = next(state);
		System.out.println("result: " + state);
	}
}
""")
        subprocess.run([JDKS[min(JDKS)].javac, "--release", "11", "-d", directory, directory / "Small.java"], check=True)
    found = agree(locus, "-n", "1", "-p", stubs["honest"], "--truth-at=Small.next", "-o", tmp_path / "runs", "--", jdk.java,
                  "-XX:+UseSerialGC", "-cp", shared("agree-small", make), "Small")
    (delay,) = found["delays"]
    assert delay["executions"] == 300_000_000 and delay["every"] > 64
    loops = 300_000_000 // delay["every"]
    assert delay["counted_ns"] == pytest.approx(loops * delay["iterations"] * delay["ns_per_iteration"], rel=0.3)
    assert 0.04 < delay["added"]["mean"] < 0.2, delay  # a tenth; CPU clocks of a busy machine vary
    (seen,) = delay["seen"]
    assert seen["found"] == 0 and seen["saw"] is None


def test_truth_without_a_method_that_can_be_delayed_is_told(locus, stubs, tmp_path):
    done = locus("agree", "-n", "1", "-p", stubs["honest"], "--truth-at=a.Main.a", "-o", tmp_path / "runs", "--", "true")
    assert done.returncode == 1 and "from the run that counts executions" in done.stderr


def test_where_no_chosen_method_can_be_delayed_the_report_tells_why(locus, jdk, steady, stubs, tmp_path):
    """The stub's methods are not those of the program."""
    found = agree(locus, "-n", "1", "-p", stubs["honest"], "--truth", "-o", tmp_path / "runs", "--", *programs(jdk, steady, 10), status=0)
    assert found["delays"] and all(d["why"] and not d["seen"] for d in found["delays"]), found["delays"]
    assert {run["delay"] for run in found["runs"]} == {None}
    assert "a.Main.a: no delay, " in locus("agree", tmp_path / "runs").stdout
