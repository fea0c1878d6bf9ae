# SPDX-License-Identifier: Apache-2.0
"""Objects that were there before the attach: known by class, and by the site "(before the attach)" once they moved."""

import json

import pytest
from conftest import JDK_MAJORS
from helpers import COLLECTORS, collector, command, each_value, sites_through
from test_attach import Program

SITE = "(before the attach)"
ARRAYS = 20_000


class Before(Program):
    """tests/workloads/Before.java."""

    def do(self, what, n=0):
        self.process.stdin.write("%s %d\n" % (what, n))
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n", self.last_words()


@pytest.fixture
def program(workload, tmp_path):
    started = []

    def start(jdk, gc, *args):
        java = [*collector(gc), "-Xmx512m", "-XX:MarkSweepAlwaysCompactCount=1", "-Xlog:disable"]
        java += ["-XX:+UnlockExperimentalVMOptions"] if gc == "Shenandoah" else []
        started.append(Before(command(workload, jdk, "Before", ARRAYS, *args, java=java), tmp_path))
        return started[-1]

    yield start
    for p in started:
        p.process.kill()
        p.process.wait()


def samples(r, class_name):
    """(samples of objects of the class in all, of those at SITE)."""
    of_class = [row for row in [*r["sites"], *r["classes"]] if row["class"] == class_name]
    there = [s for s in sites_through(r, "", SITE) if s["class"] == class_name]
    return sum(row["samples"] for row in of_class), sum(s["samples"] for s in there)


def recorded(locus, p, directory, walks=400):
    """The report of a recording in which the old arrays move, and then are read."""
    assert locus("attach", p.pid, "-o", directory, "--interval=1ms").returncode == 0
    p.do("young", 100)
    p.do("drop")
    p.do("gc", 3)
    p.do("walk", walks)
    assert locus("detach", p.pid).returncode == 0
    return json.loads(locus("report", "--format=json", "--top=100000", directory).stdout)


@pytest.mark.covers(gc=["G1", "Parallel"])
@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_what_has_moved_has_a_site(locus, program, tmp_path, jdk, gc):
    p = program(jdk, gc, "loop")
    r = recorded(locus, p, tmp_path / "p")
    of_class, there = samples(r, "long[]")
    assert of_class > 50 and there >= 0.9 * of_class
    # Objects that a method without a hook makes after the attach are known by class only.
    of_class, there = samples(r, "short[]")
    assert of_class > 50 and there == 0
    assert p.process.communicate("end\n", timeout=300) and p.process.returncode == 7


@pytest.mark.few(1)
@each_value(jdk=JDK_MAJORS, gc=("Z", "Shenandoah"), loop=(False, True))
def test_where_objects_move_while_the_program_runs(locus, program, tmp_path, jdk, gc, loop):
    p = program(jdk, gc, *(["loop"] if loop else []))
    r = recorded(locus, p, tmp_path / "p")
    of_class, there = samples(r, "long[]")
    assert of_class > 20
    if loop:  # a class is left without hooks: nothing is followed
        assert there == 0
    else:  # Shenandoah moves what it likes to
        assert there >= (0.9 if gc == "Z" else 0.3) * of_class
    assert samples(r, "short[]")[1] == 0
    assert p.process.communicate("end\n", timeout=300) and p.process.returncode == 7
