# SPDX-License-Identifier: Apache-2.0
"""liblocus-delay.so: a delayed method takes so much longer, and nothing else changes."""

import collections
import json
import re

import pytest
from conftest import BUILD, WORKLOADS, Profile, run_command
from helpers import each_value, report

LIBRARY = BUILD / "liblocus-delay.so"
CALLS, ROUNDS, ITERATIONS = 50000, 4, 1000
TRIES = 3
FIBONACCI_CALLS = 177
SOURCE = WORKLOADS / "Delays.java"
# The methods that the phases of Delays call, in their order.
METHODS = {
    "anInt": "Delays.anInt",
    "aLong": "Delays.aLong(J)J",
    "aFloat": "Delays.aFloat",
    "aDouble": "Delays.aDouble",
    "aString": "Delays.aString(I)Ljava/lang/String;",
    "anArray": "Delays.anArray",
    "nothing": "Delays.nothing",
    "map": "java.util.HashMap.getNode",
    "failing": "Delays.failing",
    "fibonacci": "Delays.fibonacci",
}


def times(calls):
    """By phase: how often each round comes to a return of its method."""
    whole = -(-calls // FIBONACCI_CALLS) * FIBONACCI_CALLS
    return {name: calls - -(-calls // 10) if name == "failing" else whole if name == "fibonacci" else calls for name in METHODS}


class Run:
    """A run of Delays, with or without the agent."""

    def __init__(self, jdk, path, tmp_path, delays=None, java=(), before=(), calls=CALLS, rounds=ROUNDS):
        out = tmp_path / "delays.json"
        out.unlink(missing_ok=True)
        asked = ";".join("%s:%s" % d for d in (delays or {}).items())
        agent = ["-agentpath:%s=out=%s,at=%s" % (LIBRARY, out, asked)] if delays else []
        self.done = run_command([jdk.java, *before, *agent, *java, "-cp", path, "Delays", str(calls), str(rounds)], timeout=300)
        assert self.done.returncode == 0, self.done.stderr
        self.cpu, self.said = {}, []
        for line in self.done.stderr.splitlines():
            found = re.fullmatch(r"cpu (\w+) (\d+)", line)
            if found:
                self.cpu.setdefault(found[1], []).append(int(found[2]))
            elif "measuring the cost of a span once" not in line:  # the first of a machine says so
                self.said.append(line)
        self.result = json.loads(out.read_text()) if delays else None
        assert not delays or [p.name for p in tmp_path.glob("delays.json*")] == ["delays.json"]

    def of(self, method):
        return next(d for d in self.result["delays"] if d["method"] == method)

    def least(self, phase):
        """The CPU time of the rounds but the first one, in which the method is compiled."""
        return min(self.cpu[phase][1:])


def all_by(iterations):
    return dict.fromkeys(METHODS.values(), iterations)


@each_value(jdk=[17, 25], tier=[(), ("-XX:TieredStopAtLevel=1",), ("-XX:-TieredCompilation",)])
def test_a_delayed_method_takes_so_much_longer(jdk, tier, workload, tmp_path):
    """In each phase, by the iterations that it has more; with the same results."""
    path = workload(jdk, "Delays")
    plain = Run(jdk, path, tmp_path, java=tier)
    for _ in range(TRIES):
        none = Run(jdk, path, tmp_path, all_by(0), tier)
        some = Run(jdk, path, tmp_path, all_by(ITERATIONS), tier)
        assert none.said == some.said == plain.said
        assert none.done.stdout == some.done.stdout == plain.done.stdout
        for run in (none, some):
            assert {d["state"] for d in run.result["delays"]} == {"in place"}
            assert all(d["executions"] == d["loops"] for d in run.result["delays"])
        each = some.result["ns_per_iteration"] * ITERATIONS
        more = {n: (some.least(n) - none.least(n)) / (count * each) for n, count in times(CALLS).items()}
        if all(0.6 < m < 1.6 for m in more.values()):
            break
    else:
        pytest.fail("%r" % more)
    # All threads of the program, and none twice: that of each round has ended.
    for run in (none, some):
        used = sum(sum(c) for c in run.cpu.values())
        assert used < run.result["java_cpu_ns"] < run.result["process_cpu_ns"] * 1.05


def test_executions_are_counted_in_one_thread(jdk, workload, tmp_path):
    """A call that an exception leaves is none; the JDK's own calls of HashMap are counted too."""
    run = Run(jdk, workload(jdk, "Delays"), tmp_path, all_by(2), calls=3000, rounds=3)
    for phase, count in times(3000).items():
        delay = run.of(METHODS[phase])
        if phase == "map":
            assert delay["executions"] >= 3 * count and delay["returns"] >= 2
        else:
            assert delay["executions"] == 3 * count, phase
        assert delay["methods"] == 1 and delay["iterations"] == 2


def test_each_nth_execution_is_delayed(jdk, workload, tmp_path):
    """The loops ran as often as division says: the first two overloads share no counter."""
    run = Run(jdk, workload(jdk, "Delays"), tmp_path, {"Delays.anInt": "2000/64", "Delays.aLong": "1/4096"}, calls=3000, rounds=3)
    assert [run.of(m)[k] for m in ("Delays.anInt", "Delays.aLong") for k in ("executions", "loops", "every")] == \
        [9000, 9000 // 64, 64, 9000, 9000 // 4096, 4096]


def test_a_profiler_finds_each_delay_in_the_line_of_its_return(jdk, workload, tmp_path):
    """JFR does, which is loaded beside; a third of the calls of anInt() comes to its first return."""
    jfr, delays = tmp_path / "x.jfr", {"Delays.anInt": 10000}
    flag = "-XX:StartFlightRecording=settings=profile,filename=%s" % jfr
    Run(jdk, workload(jdk, "Delays"), tmp_path, delays, java=(flag,), calls=20000)
    printed = run_command([jdk.home / "bin" / "jfr", "print", "--events", "ExecutionSample", jfr]).stdout
    top = re.findall(r"stackTrace = \[\s+Delays\.anInt\(int\)\s+line: (\d+)", printed)
    texts = collections.Counter(SOURCE.read_text().splitlines()[int(line) - 1].strip() for line in top)
    returns = texts["return n * 2;"], texts["return n + 1;"]
    assert len(top) > 30 and sum(returns) > 0.8 * len(top)
    assert 0.1 < returns[0] / sum(returns) < 0.6


def test_what_is_not_delayed_is_said_and_the_program_runs(jdk, workload, tmp_path):
    path = workload(jdk, "Delays")
    wrong = {
        "Delays.none": "no such method",
        "Delays.anInt(J)I": "no such method",
        "no.such.Program.main": "no such class was loaded",
        "java.lang.Object.hashCode": "the method is native",
        "java.util.List.size": "the method is abstract",
        "Delays.<init>": "constructors and initializers of classes are not delayed",
    }
    right = {"Delays.anArray": "in place", "java.lang.Math.max": "in place"}
    run = Run(jdk, path, tmp_path, dict.fromkeys([*wrong, *right], 1), calls=1000)
    assert {d["method"]: d["state"] for d in run.result["delays"]} == {**wrong, **right}
    assert run.said == ["locus-delay: %s is not delayed: %s" % item for item in wrong.items()]
    assert run.of("java.lang.Math.max")["methods"] == 4 and run.of("Delays.none")["methods"] == 0
    assert run.done.stdout == Run(jdk, path, tmp_path, calls=1000).done.stdout


@pytest.mark.parametrize("text", ["", "out=x", "out=x,at=Delays.anInt", "out=x,at=Delays.anInt:1,no"])
def test_wrong_options_are_said_and_the_program_runs(text, jdk17, workload, tmp_path):
    command = [jdk17.java, "-agentpath:%s=%s" % (LIBRARY, text), "-cp", workload(jdk17, "Delays"), "Delays", "10", "1"]
    done = run_command(command, cwd=tmp_path)
    assert done.returncode == 0 and "fibonacci" in done.stdout
    said = [line for line in done.stderr.splitlines() if not line.startswith("cpu ")]
    assert len(said) == 1 and said[0].startswith("locus-delay: ") and said[0].endswith("; no method is delayed")
    assert not list(tmp_path.iterdir())


@each_value(jdk=[17, 25], first=["locus", "delay"])
def test_delays_and_hooks_are_in_the_same_classes(jdk, first, workload, tmp_path):
    """Beside liblocus.so, whichever agent is loaded first: the same results, executions and allocations."""
    path = workload(jdk, "Delays")
    agent = "-agentpath:%s=output=%s,min-size=0,spans=streams;tasks" % (BUILD / "liblocus.so", tmp_path / "prof")
    where = {"before" if first == "locus" else "java": (agent,)}
    plain = Run(jdk, path, tmp_path, calls=5000)
    both = Run(jdk, path, tmp_path, all_by(100), calls=5000, **where)
    assert both.done.stdout == plain.done.stdout
    assert both.said == plain.said
    for phase, method in METHODS.items():
        executions = both.of(method)["executions"]
        assert executions == ROUNDS * times(5000)[phase] or (phase == "map" and executions > ROUNDS * 5000)
    sites = report(Profile(both.done, tmp_path / "prof"))["sites"]
    made = [s for s in sites if s["class"] == "java.lang.IllegalStateException"]
    assert sum(s["allocations"] for s in made) == ROUNDS * 500
