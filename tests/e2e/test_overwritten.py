# SPDX-License-Identifier: Apache-2.0
"""Another agent takes hooks out, by returning a class file that it has made from the original: that is noticed, and said."""

import pathlib

import pytest
from conftest import Profile, run_command
from helpers import allocations, by_hand, command, complaints, counters, execute, report, sites_through

TIMES = 3000  # arrays of each half, by each class


@pytest.fixture
def ignorant(workload, shared):
    """A jar with the program as a Java agent."""

    def build(jdk):
        def make(directory):
            (directory / "manifest").write_text("Premain-Class: Ignorant\nCan-Retransform-Classes: true\n")
            classes = pathlib.Path(workload(jdk, "Ignorant"))
            own = [word for file in classes.glob("Ignorant*.class") for word in ("-C", classes, file.name)]
            jar = [jdk.home / "bin" / "jar", "cfm", directory / "agent.jar", directory / "manifest", *own]
            assert run_command(jar).returncode == 0

        return shared("ignorant-%d" % jdk.major, make) / "agent.jar"

    return build


# How many of the arrays in Ignorant$Late are counted.
@pytest.mark.parametrize("mode, counted", [("loads", 0), ("retransforms", TIMES), ("heeds", 2 * TIMES)])
@pytest.mark.parametrize("options", [(), ("min-size=0", "spans=tasks")], ids=["default", "small"])
def test_hooks_that_another_agent_takes_out(workload, ignorant, jdk, tmp_path, mode, counted, options):
    line = command(workload, jdk, "Ignorant", TIMES, java=["-javaagent:%s=%s" % (ignorant(jdk), mode)])
    bare = execute(line)
    run = execute(by_hand(line, tmp_path / "prof", *options))
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout) and run.returncode == 3, run.stderr
    profile = Profile(run, tmp_path / "prof")
    r, c, said = report(profile), counters(profile), complaints(run.stderr)
    assert allocations(sites_through(r, "lateAllocate", "Ignorant$Late")) == counted
    assert allocations(sites_through(r, "allocate", "Ignorant")) == 2 * TIMES
    limits = [limit["text"] for limit in r["processes"][0].get("limits", []) if limit["kind"] == "hooks_overwritten"]
    assert c["classes_hooks_overwritten"] == len(limits) == (mode != "heeds") and c["classes_hooks_unknown"] == 0, c
    assert ["locus: " + text for text in limits] == said and all("LIgnorant$Late;" in text for text in limits), said
