# SPDX-License-Identifier: Apache-2.0
"""Class loaders that do not find the agent's classes: the program runs as without Locus, and is told what is missing."""

import pytest
from conftest import BUILD, Profile, run_command
from helpers import allocations, command, complaints, counters, execute, report, sites_through

MODES = {
    "default": [],
    "every object": ["--min-size=0"],
    "spans": ["--spans=streams,tasks"],
    "all": ["--min-size=0", "--spans=streams,tasks", "--audit"],
}
ROUNDS = 2000


def count(r, method, cls):
    return allocations(sites_through(r, method, cls))


def profiled(line, tmp_path, options):
    bare = execute(line)
    run = execute([BUILD / "locus", "run", "-q", "-o", tmp_path / "prof", *options, "--", *line])
    assert (run.returncode, run.stdout) == (bare.returncode, bare.stdout), run.stderr.decode()
    assert bare.returncode == 0
    return run, Profile(run, tmp_path / "prof")


@pytest.mark.parametrize("mode", MODES)
def test_loader_with_a_list_of_names_runs_its_plugin(workload, jdk, tmp_path, mode):
    line = command(workload, jdk, "NarrowLoader", "lists", ROUNDS)
    run, prof = profiled(line, tmp_path, MODES[mode])
    assert len(complaints(run.stderr)) == 1 and "class loader cannot see" in run.stderr.decode()
    c = counters(prof)
    assert c["class_loaders_refusing"] == 1
    assert c["classes_no_hook_loader"] == 2, c  # Plugin and Plugin.Row
    r = report(prof)
    assert count(r, "ownAllocate", "NarrowLoader") == ROUNDS  # other loaders' classes are as exact as ever
    assert not [s for s in r["sites"] if "Plugin" in s["allocation_path"][0]["class"]]
    text = run_command([BUILD / "locus", "report", tmp_path / "prof"]).stdout
    assert "note: allocations in 2 classes are not counted" in text, text


@pytest.mark.parametrize("mode", ["default", "every object"])
def test_loader_that_loads_classes_of_its_own_to_answer(workload, jdk, tmp_path, mode):
    _, prof = profiled(command(workload, jdk, "NarrowLoader", "nested", ROUNDS), tmp_path, MODES[mode])
    assert counters(prof)["class_loaders_refusing"] == 1
    assert count(report(prof), "ownAllocate", "NarrowLoader") == ROUNDS


@pytest.mark.parametrize("mode", ["default", "every object"])
def test_loader_that_asks_its_parent_is_hooked_from_its_first_class(workload, jdk, tmp_path, mode):
    run, prof = profiled(command(workload, jdk, "NarrowLoader", "wide", ROUNDS), tmp_path, MODES[mode])
    assert not complaints(run.stderr), run.stderr
    c = counters(prof)
    assert not c["class_loaders_refusing"] and not c["classes_no_hook_loader"], c
    # The system's loader and the plug-in's were asked once, however many classes they have loaded.
    assert c["class_loaders_asked"] == 2, c
    assert count(report(prof), "<init>", "NarrowLoader$Plugin$Row") >= ROUNDS
