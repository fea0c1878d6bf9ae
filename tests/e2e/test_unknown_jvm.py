# SPDX-License-Identifier: Apache-2.0
"""A JVM that nobody has seen is not harmed: what cannot be proved of it is switched off, and the rest works.

tests/tools/change_types.c changes what libjvm's type database says, as a JVM of another build would: a member is
gone, or lies elsewhere. The program must end as it does alone, and the profile must still name the array that it reads
most of the time, or say that it cannot.
"""

import itertools
import re
import shutil

import pytest

from conftest import JDKS, ROOT, jdk_of, run_command

# Each of these ended the program, or gave wrong objects, while offsets were taken as they stand.
DANGEROUS = [
    "field:CodeBlob._mutable_data:+8",
    "field:CodeHeap._segmap:+8",
    "field:CodeBlob._frame_size:+8",
    "field:CodeCache._high_bound:+8",
    "field:G1CollectedHeap._hrm:+8",
    "field:G1HeapRegionTable._length:+8",
    "field:GrowableArray<int>._data:+8",
    "field:InstanceKlass._methods_jmethod_ids:+8",
    "field:JVMFlag._addr:+8",
    "field:JavaFrameAnchor._last_Java_sp:+8",
    "field:JavaThread._anchor:+8",
    "field:Method._constMethod:+8",
    "field:Universe._collectedHeap:+8",
    "type:HeapBlock:+8",
]


def every_member():
    """The members that the agent asks for, by name, each gone and moved."""
    names = set()
    for source in (ROOT / "src").rglob("*.c"):
        found = re.findall(r'"([A-Za-z][\w:<>*]*)",\s*"(_[\w.]+)"', source.read_text(encoding="utf-8"))
        names |= {"%s.%s" % pair for pair in found}
    assert len(names) > 80
    return ["field:%s:%s" % pair for pair in itertools.product(sorted(names), ("gone", "+8", "-8"))]


@pytest.fixture(scope="session")
def newest_jdk():
    return jdk_of(max(JDKS))


@pytest.fixture(scope="session")
def change_types(shared, newest_jdk):
    """change_types("field:A._b:gone") is the option that has the JVM say so."""

    def make(directory):
        compiler = shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            pytest.skip("no C compiler on this machine")
        include = newest_jdk.home / "include"
        run = run_command(
            [compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-D_GNU_SOURCE", "-I", include, "-I", include / "linux",
             "-o", directory / "change_types.so", ROOT / "tests" / "tools" / "change_types.c"]
        )
        assert run.returncode == 0, run.stderr

    library = shared("change-types", make) / "change_types.so"
    return lambda changes: "-agentpath:%s=%s" % (library, changes)


def check(jdk, workload, profile, option, changes):
    command = [jdk.java, "-cp", workload(jdk, "UnknownJvm"), "UnknownJvm"]
    alone = run_command(command)
    assert alone.returncode == 0, alone.stderr
    run = profile([command[0], option, *command[1:]], check=False)
    if "not in this JVM" in run.stderr + run.stdout:
        pytest.skip("%s: not in this JVM" % changes)
    assert run.returncode == 0, run.stderr
    assert run.stdout == alone.stdout
    said = [line for line in run.stderr.splitlines() if line.startswith("locus: ")]
    report = run.report()
    assert report["samples"]["total"] > 30, said
    row = report["ranking"]["rows"][0]
    line = row.get("allocated_at") or {}
    named = row["class"] == "int[]" and row["share"] > 0.5 and line.get("method") == "<clinit>"
    assert named or said, row
    return said


@pytest.mark.parametrize("changes", DANGEROUS)
def test_a_member_that_lies_elsewhere_is_found_out(newest_jdk, workload, profile, change_types, changes):
    check(newest_jdk, workload, profile, change_types(changes), changes)


def test_what_is_switched_off_is_named(newest_jdk, workload, profile, change_types):
    changes = "field:InstanceKlass._methods_jmethod_ids:gone;field:CodeHeap._segmap:gone"
    said = check(newest_jdk, workload, profile, change_types(changes), changes)
    assert len(said) == 1, said
    assert "method IDs, generated code" in said[0]


def test_nothing_is_said_of_a_jvm_that_is_known(jdk, workload, profile):
    run = profile([jdk.java, "-cp", workload(jdk, "UnknownJvm"), "UnknownJvm"])
    assert run.stderr == ""
    counters = run.manifest()["processes"][0]["counters"]
    # Compiled and interpreted frames, and those through which the JVM calls Java code.
    assert counters["walk_kinds_proved_hook"] & 13 == 13, counters
    assert counters["walk_kinds_proved_signal"] & 13 == 13, counters
    assert not counters.get("walk_kinds_refuted_hook")


def test_compiled_frames_are_not_believed_where_there_are_none(newest_jdk, workload, profile):
    run = profile([newest_jdk.java, "-Xint", "-cp", workload(newest_jdk, "UnknownJvm"), "UnknownJvm", "2"])
    counters = run.manifest()["processes"][0]["counters"]
    assert not counters.get("walk_kinds_proved_hook", 0) & 1, counters


@pytest.mark.slow
@pytest.mark.parametrize("changes", every_member())
def test_any_member_may_be_gone_or_lie_elsewhere(newest_jdk, workload, profile, change_types, changes):
    check(newest_jdk, workload, profile, change_types(changes), changes)
