# SPDX-License-Identifier: Apache-2.0
"""Locus's view of NUMA placement, against the programs' own truth, in guests of 2 and 4 nodes.

Samples are CPU time, the truth counts accesses: they are compared for each access path, where a
loop takes the same time for each element; the whole site's share against the truth weighed by
the CPU time of the loops.

That it does must be seen to: in the emulator, code of C1 is many times slower in some of the pages, and
where pages are interleaved these are all on one node (docs/numa.md). NumaPlacement is compiled by C2
alone, which leaves the cause out: the poll in each iteration.

One guest runs all programs of a kind, one after the other: booting takes 3 s, a profiled JVM 4 s
more than what it is to do. The times and shares are printed (pytest -rP).
"""

import math
import re

import pytest
from guest import (  # noqa: F401
    numa_case,
    numa_guest,
    numa_programs,
    phase_of,
    placement,
    profile_in_guest,
)
from helpers import complaints, marked_lines, truth
from oracles import matrix_truth, time_truth

C2 = ["-XX:-TieredCompilation"]
ENGINES = ["--event=timer", "--event=fault", "--interval=1ms"]
EXACT = "--huge-pages=never"  # else a page at the border of two parts is on one node for both
NEAR = 0.03
CLASS = "NumaPlacement"


def place(cls, line):
    """The end of an allocation or access line in a report."""
    return "(%s.java:%d)" % (cls, line)


def site_at(numa, cls, line):
    """The one object site that was allocated at a line."""
    end = place(cls, line)
    found = [
        s for s in numa["sites"]
        if s["bucket"] == "object" and (s["diagnosis"]["allocation_line"] or "").endswith(end)
    ]
    assert len(found) == 1, [s["diagnosis"]["allocation_line"] for s in numa["sites"]]
    return found[0]


def accesses_at(site, line):
    """(known, remote) samples of the access paths that end at a line."""
    groups = [a for a in site["accesses"] if a["path"] and a["path"][0]["line"] == line]
    return sum(g["known"] for g in groups), sum(g["remote"] for g in groups)


def share_at(site, line):
    known, remote = accesses_at(site, line)
    assert known >= 100, (known, site["accesses"])
    return remote / known


def standard_error(numa, known, share):
    """The interval of a share of samples, with equal numbers of them for each signal."""
    return math.sqrt(share * (1 - share) / (known / numa["engine"]["folded"]))


def bound(error):
    """How far a share may be off. A guest that waited for its host takes dozens of samples by one signal: fewer tell than `error` believes."""
    return max(0.05, 5 * error)


def check_names(run, numa, site, pattern, cls, site_line, access_line):
    """The diagnosis names pattern, site and lines, in JSON and in text."""
    said = site["diagnosis"]
    # The square of a sum by the sum of squares is at least the sum by its largest part.
    heaviest = run.report()["observations"]["heaviest"]
    assert said["observations"] >= site["known"] / heaviest - 1e-6, (said, heaviest)
    if said["pattern"] == "not-enough-evidence" and said["observations"] < 30:
        pytest.skip("the guest stood still: its samples are as good as %.0f" % said["observations"])
    assert said["pattern"] == pattern, said
    assert said["allocation_line"].endswith(place(cls, site_line)), said
    assert said["access_line"].endswith(place(cls, access_line)), said
    text = run.numa_text()
    allocated = re.compile(r"allocated at\s+" + re.escape(said["allocation_line"]))
    own = [part for part in re.split(r"^ *\d+\. ", text, flags=re.M) if allocated.search(part)]
    assert len(own) == 1, text
    for words in ("diagnosis: %s (" % pattern, said["summary"], said["access_line"]):
        assert words in own[0], own[0]
    assert all(advice["action"] in own[0] for advice in said["advice"])


def check_placement(run, mode, pattern, access="read"):
    """(numa, site, truth) of a run of NumaPlacement whose diagnosis named what it should."""
    assert run.returncode == 0, run.stderr
    assert complaints(run.stderr) == [], run.stderr
    told, numa = truth(run), run.numa()
    assert numa["state"] == "on" and numa["error"] is None
    assert numa["balancing"] is False and numa["pages_migrated"] == 0
    line = marked_lines(CLASS, "site")[mode]
    site = site_at(numa, CLASS, line)
    check_names(run, numa, site, pattern, CLASS, line, marked_lines(CLASS, "access")[access])
    print("%s on %d nodes: %.1f%% remote of %d samples; truth %.1f%% of accesses, %.1f%% of time; %.1f s" % (
        mode, told["nodes"], 100 * site["remote_share"], site["known"], 100 * matrix_truth(told["accesses"]),
        100 * time_truth(told), run.seconds))
    return numa, site, told


# The four placements


def placement_jobs(programs, **seconds):
    """Jobs for profile_in_guest(), by mode of NumaPlacement."""
    jobs = {}
    for mode, length in seconds.items():
        prefix = ["numactl", "--interleave=all"] if mode == "interleaved" else []
        jobs[mode] = (prefix, ENGINES, placement(programs, mode, length, java=C2))
    return jobs


@pytest.fixture(scope="module")
def two_nodes(numa_guest, numa_programs, tmp_path_factory):
    jobs = placement_jobs(numa_programs, master=4, parallel=2, gc=3)
    return profile_in_guest(numa_guest, numa_programs, tmp_path_factory.mktemp("two"), jobs, EXACT)


@pytest.fixture(scope="module")
def four_nodes(numa_guest, numa_programs, tmp_path_factory):
    jobs = placement_jobs(numa_programs, master=3)
    directory = tmp_path_factory.mktemp("four")
    return profile_in_guest(numa_guest, numa_programs, directory, jobs, EXACT, nodes=4)


def remote_findings(run):
    return [f for f in run.report()["findings"] if f["kind"] == "remote-memory"]


def check_master(run, pattern):
    numa, site, told = check_placement(run, "master", pattern)
    assert told["unknown"] == 0
    assert abs(site["remote_share"] - told["remote_share"]) <= NEAR
    assert abs(site["remote_share"] - time_truth(told)) <= NEAR
    read = share_at(site, marked_lines(CLASS, "access")["read"])
    assert abs(read - phase_of(told, "read")["remote_share"]) <= NEAR
    assert site["known"] == site["samples"] > 500
    for name in ("first_touch", "allocated"):
        origin = site[name]
        assert (origin["thread"], origin["threads"]) == ("master-0", 1)
        assert origin["by_node"][0] == origin["total"] > 0, origin
    return numa, site


def check_confidence(site):
    """A guest that waited for its host takes dozens of samples by one signal: few observations, of which the diagnosis is not sure."""
    said = site["diagnosis"]
    assert 0 < said["observations"] <= site["known"]
    assert (said["confidence"] == "low") == (said["observations"] < 100), said


def test_what_the_master_initialised_is_remote_to_the_other_node(two_nodes):
    numa, site = check_master(two_nodes["master"], "used-from-another-node")
    check_confidence(site)
    assert "node 1" in site["diagnosis"]["advice"][0]["action"]
    assert [n["distances"] for n in numa["nodes"]] == [[10, 20], [20, 10]]
    line = marked_lines(CLASS, "site")["master"]
    (finding,) = remote_findings(two_nodes["master"])
    assert "NumaPlacement.newMaster:%d:" % line in finding["text"] and "node 1" in finding["change"]
    assert abs(site["mean_distance"] - (10 + 10 * site["remote_share"])) < 1e-6


@pytest.mark.slow
def test_what_the_master_initialised_is_remote_to_three_nodes(four_nodes):
    _, site = check_master(four_nodes["master"], "master-initialised")
    check_confidence(site)
    assert "'master-0'" in site["diagnosis"]["summary"]
    assert "parallel first touch" in site["diagnosis"]["advice"][0]["action"]
    owners = [sum(column) for column in zip(*site["matrix"])]
    assert owners[0] == site["samples"], owners


def test_parallel_first_touch_is_local(two_nodes):
    _, site, told = check_placement(two_nodes["parallel"], "parallel", "fine")
    assert told["remote_share"] < 0.01
    assert site["remote_share"] < 0.05
    assert site["known"] > 300
    assert site["diagnosis"]["advice"] == []
    assert not remote_findings(two_nodes["parallel"])


def check_interleaved(run, nodes):
    numa, site, told = check_placement(run, "interleaved", "spread")
    expected = 1 - 1 / nodes
    known, remote = accesses_at(site, marked_lines(CLASS, "access")["read"])
    error = standard_error(numa, known, expected)
    print("read: %.1f%% of %d samples, standard error %.1f points" % (100 * remote / known, known, 100 * error))
    assert error < 0.04, "too few samples to tell: a slow machine"  # none or all remote would be 50 points off
    assert abs(phase_of(told, "read")["remote_share"] - expected) < 0.005
    assert abs(remote / known - expected) <= bound(error)
    assert abs(site["remote_share"] - expected) <= bound(error)


@pytest.mark.slow  # pages of both nodes in one site are also those that a collection moves
@pytest.mark.parametrize("nodes, seconds", ((2, 8), (4, 6)))
def test_interleaved_pages_are_remote_in_proportion(numa_guest, numa_programs, tmp_path, nodes, seconds):
    jobs = placement_jobs(numa_programs, interleaved=seconds)
    run = profile_in_guest(numa_guest, numa_programs, tmp_path / "out", jobs, EXACT, nodes=nodes)["interleaved"]
    check_interleaved(run, nodes)


def test_a_collection_that_moves_pages_is_seen(two_nodes):
    numa, site, told = check_placement(two_nodes["gc"], "gc", "spread")
    assert told["unknown"] == 0
    assert phase_of(told, "before")["remote_share"] == 1
    assert phase_of(told, "after")["remote_share"] <= 0.02
    expected = time_truth(told)
    assert abs(site["remote_share"] - expected) <= bound(standard_error(numa, site["known"], expected))
    readers = sorted((t for t in site["threads"] if t["thread"] == "reader-1"), key=lambda t: t["tid"])
    assert [t["known"] > 200 for t in readers] == [True, True], readers
    before, after = readers
    assert before["remote_share"] >= 1 - NEAR and after["remote_share"] <= NEAR, readers
    assert "moved during the run, but it is used only from node 1" in site["diagnosis"]["summary"]


@pytest.mark.slow
def test_all_that_with_a_newer_jdk(numa_guest, numa_programs, jdk25, tmp_path):
    jobs = placement_jobs(numa_programs, master=4, parallel=2, gc=3)
    runs = profile_in_guest(numa_guest, numa_programs, tmp_path / "out", jobs, EXACT, jdk=jdk25)
    test_what_the_master_initialised_is_remote_to_the_other_node(runs)
    test_parallel_first_touch_is_local(runs)
    test_a_collection_that_moves_pages_is_seen(runs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "collector,java,longs", (("Parallel", [], 2 << 20), ("G1", ["-XX:G1HeapRegionSize=32m"], 1 << 20))
)
def test_a_collection_by_other_collectors(numa_guest, numa_programs, tmp_path, collector, java, longs):
    program = placement(numa_programs, "gc", 3, longs, collector=collector, java=[*C2, *java])
    jobs = {"gc": ([], ENGINES, program)}
    test_a_collection_that_moves_pages_is_seen(
        profile_in_guest(numa_guest, numa_programs, tmp_path / "out", jobs, EXACT)
    )


# Three cases: found, diagnosed, fixed as the diagnosis says

# For as-is: what it is, its site (with the same marker where `fixed` allocates there too) and the busiest access.
CASES = {
    "NumaCollect": ("master-initialised", ("as-is", "fixed"), "collect", "parallel first touch"),
    "NumaBitSet": ("used-from-another-node", ("constructor",) * 2, "iterate", "in a thread of node 1"),
    "NumaGrid": ("master-initialised", ("row",) * 2, "relax", "parallel first touch"),
}


def check_cases(runs, name, before_share):
    """The program as it is and fixed: the sites' shares and those of the access line, which are printed."""
    pattern, markers, access, advice = CASES[name]
    line = marked_lines(name, "access")[access]
    said, shares, paths = {}, {}, {}
    for mode, marker in zip(("as-is", "fixed"), markers):
        run = runs["%s-%s" % (name, mode)]
        assert (run.returncode, complaints(run.stderr)) == (0, []), run.stderr
        numa = run.numa()
        site = site_at(numa, name, marked_lines(name, "site")[marker])
        shares[mode], paths[mode] = site["remote_share"], share_at(site, line)
        said[mode] = site["diagnosis"]
        if mode == "as-is":
            check_names(run, numa, site, pattern, name, marked_lines(name, "site")[marker], line)
            assert numa["sites"][0]["id"] == site["id"], "not the first of the report"
    print("%s: remote %.1f%% before, %.1f%% after; at the access line %.1f%% before, %.1f%% after; %.1f s, %.1f s" % (
        name, 100 * shares["as-is"], 100 * shares["fixed"], 100 * paths["as-is"], 100 * paths["fixed"],
        runs[name + "-as-is"].seconds, runs[name + "-fixed"].seconds))
    assert said["as-is"]["confidence"] != "low" or said["as-is"]["observations"] < 100, said
    assert advice in said["as-is"]["advice"][0]["action"], said
    assert said["fixed"]["pattern"] == "fine", said
    assert abs(paths["as-is"] - before_share) <= 0.15, paths  # of time, which the nodes do not share quite evenly
    assert shares["as-is"] >= 0.25, shares
    assert shares["fixed"] < 0.05 and paths["fixed"] < 0.05, (shares, paths)


def run_cases(numa_guest, programs, directory, names, nodes=2):
    jobs = {}
    for name in names:
        # Code of C1 looks at the polling page more than at the words of the set.
        c2 = {"compiler": C2[0]} if name == "NumaBitSet" else {}
        # One worker takes half the samples of two; the grid takes long to make.
        seconds = {"NumaCollect": 2, "NumaBitSet": 3, "NumaGrid": 4}[name]
        for mode in ("as-is", "fixed"):
            program = numa_case(programs, name, mode, seconds, **c2)
            jobs["%s-%s" % (name, mode)] = ([], ENGINES, program)
    return profile_in_guest(numa_guest, programs, directory, jobs, EXACT, nodes=nodes)


@pytest.fixture(scope="module")
def cases(numa_guest, numa_programs, tmp_path_factory):
    return run_cases(numa_guest, numa_programs, tmp_path_factory.mktemp("cases"), ("NumaCollect", "NumaBitSet"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ("NumaCollect", "NumaBitSet"))
def test_a_case_is_found_and_the_advice_mends_it(cases, name):
    check_cases(cases, name, 1 if name == "NumaBitSet" else 0.5)


@pytest.mark.slow
def test_a_grid_is_found_and_the_advice_mends_it(numa_guest, numa_programs, tmp_path):
    check_cases(run_cases(numa_guest, numa_programs, tmp_path / "cases", ["NumaGrid"]), "NumaGrid", 0.5)


@pytest.mark.slow
def test_the_cases_on_four_nodes(numa_guest, numa_programs, tmp_path):
    names = ("NumaCollect", "NumaGrid")
    runs = run_cases(numa_guest, numa_programs, tmp_path / "cases", names, 4)
    for name in names:
        check_cases(runs, name, 0.75)


# The kernel moves pages by itself


@pytest.mark.slow
def test_numa_balancing_is_named_with_the_pages_it_moved(numa_guest, numa_programs, tmp_path):
    count = "awk '/^numa_pages_migrated / { print $2 }' /proc/vmstat"
    prefix = 'before=$(%s); "$@"; status=$?; echo $(($(%s) - before)); exit $status' % (count, count)
    jobs = {"moved": (prefix, ENGINES, placement(numa_programs, "master", 12, java=C2))}
    options = ("--balancing", EXACT)
    run = profile_in_guest(numa_guest, numa_programs, tmp_path / "out", jobs, *options)["moved"]
    assert (run.returncode, complaints(run.stderr)) == (0, []), run.stderr
    moved, numa = int(run.stdout.split()[-1]), run.numa()
    print("%d pages moved, Locus says %d; %.1f s" % (moved, numa["pages_migrated"], run.seconds))
    assert moved > 1000, "the kernel moved nothing to speak of"
    assert numa["balancing"] is True
    # From when the agent is there to when the profile ends.
    assert 0.8 * moved <= numa["pages_migrated"] <= moved
    assert numa["owner_changes"] > 100
    site = site_at(numa, CLASS, marked_lines(CLASS, "site")["master"])
    owners = [sum(column) for column in zip(*site["matrix"])]
    assert site["allocated"]["by_node"][1] == 0 and owners[1] > 100, owners  # where they went
    assert any("page faults taken" in text for text in site["diagnosis"]["evidence"])
    assert any("NUMA balancing was on and moved %d pages" % numa["pages_migrated"] in text
               for text in site["diagnosis"]["evidence"])
    text = "the kernel's NUMA balancing is on, %d pages moved during the run" % numa["pages_migrated"]
    assert text in run.numa_text()


# Faults: a line on stderr, the program's own status, and the reason in the report

STATUS = 7
EPERM, ENOSYS = 1, 38
ONE_NODE = (
    "mkdir -p /cgroups && mount -t cgroup2 none /cgroups && echo +cpuset >/cgroups/cgroup.subtree_control"
    " && mkdir /cgroups/one && echo 1 >/cgroups/one/cpuset.mems && echo 1 >/cgroups/one/cpuset.cpus"
    ' && echo $$ >/cgroups/one/cgroup.procs && grep Mems_allowed_list /proc/self/status && exec "$@"'
)
# Once the workers run, their node loses its CPUs, and what memory the kernel can take from it.
# The kernel tries to empty a block of memory until it succeeds or a signal comes.
NODE_LOST = """
(
until cat /proc/[0-9]*/task/[0-9]*/comm 2>/dev/null | grep -q worker-1; do usleep 100000; done
sleep 2
cd /sys/devices/system/node/node1
echo 0 >cpu1/online
for block in memory*; do timeout 10 sh -c "echo offline >$block/state"; done 2>/dev/null
echo left $(cat ../has_cpu) $(cat memory*/state)
) &
"$@"
status=$?
wait
exit $status
"""


@pytest.fixture(scope="module")
def bad_input(numa_guest, numa_programs, tmp_path_factory):
    refuse = str(numa_programs.refuse)

    def job(prefix, seconds, pin=True):
        program = numa_case(numa_programs, "NumaCollect", "as-is", seconds, java=["-Dstatus=%d" % STATUS], pin=pin)
        return prefix, ENGINES, program

    jobs = {
        "refused": job([refuse, "move_pages", EPERM], 1),
        "no-libnuma": job([refuse, "get_mempolicy", ENOSYS], 0.5),
        "cpuset": job(ONE_NODE, 0.5, pin=False),
        "lost-node": job(NODE_LOST, 5),  # the last: it is gone afterwards
    }
    return profile_in_guest(numa_guest, numa_programs, tmp_path_factory.mktemp("bad"), jobs, EXACT)


def check_short(run, reason):
    """The text is the reason and what Locus itself used, without tables."""
    lines = run.numa_text().splitlines()
    assert len(lines) == 2 and reason in lines[0] and lines[1].startswith("Locus itself: "), lines


def check_off(run, reason):
    """All is off, and `reason` is on stderr, in the report and in what locus numa says."""
    assert run.returncode == STATUS, run.stderr
    (line,) = complaints(run.stderr)
    assert reason in line and "continuing without NUMA nodes" in line
    numa = run.numa()
    assert numa["state"] == "off" and reason in numa["error"]
    check_short(run, reason)
    assert run.report()["samples"]["object"] > 30  # the profile went on


@pytest.mark.slow
def test_a_refused_move_pages_costs_the_owners_alone(bad_input):
    run = bad_input["refused"]
    assert run.returncode == STATUS, run.stderr
    (line,) = complaints(run.stderr)
    assert "move_pages: Operation not permitted" in line and "--cap-add SYS_NICE" in line
    numa = run.numa()
    assert "move_pages: Operation not permitted" in numa["error"] and numa["error"] in run.numa_text()
    site = site_at(numa, "NumaCollect", marked_lines("NumaCollect", "site")["as-is"])
    assert site["known"] == 0 and site["samples"] > 30 and site["remote_share"] is None
    assert site["diagnosis"]["pattern"] == "not-enough-evidence"
    # On which nodes the threads were does not need it.
    accessing = [sum(row) for row in site["matrix"]]
    assert accessing[0] > 0 and accessing[1] > 0 and accessing[2] == 0, site["matrix"]


@pytest.mark.slow
def test_a_kernel_that_refuses_libnuma(bad_input):
    check_off(bad_input["no-libnuma"], "libnuma: the kernel does not allow this process to use NUMA")


@pytest.mark.slow
def test_a_cpuset_of_one_node(bad_input):
    assert "Mems_allowed_list:\t1\n" in bad_input["cpuset"].stdout
    check_off(bad_input["cpuset"], "this process may use only one of the machine's NUMA nodes")


@pytest.mark.slow
def test_a_node_that_loses_its_cpus_and_memory_during_the_run(bad_input):
    run = bad_input["lost-node"]
    assert (run.returncode, complaints(run.stderr)) == (STATUS, []), run.stderr
    words = re.search(r"^left (.*)$", run.stdout, re.M).group(1).split()
    print("left:", words, "%.1f s" % run.seconds)
    assert words[0] == "0" and "offline" in words[1:], words
    numa = run.numa()
    assert numa["state"] == "on" and numa["error"] is None
    site = site_at(numa, "NumaCollect", marked_lines("NumaCollect", "site")["as-is"])
    worker = next(t for t in site["threads"] if t["thread"] == "worker-1")
    assert worker["by_node"][0] > 0 and worker["by_node"][1] > 0, worker  # it went on at node 0
    assert site["known"] == site["samples"] > 200


@pytest.mark.slow
def test_nodes_without_memory_and_without_cpus(numa_guest, numa_programs, tmp_path):
    program = numa_case(numa_programs, "NumaCollect", "as-is", 2, java=["-Dstatus=%d" % STATUS], pin=False)
    jobs = {"bare": (["numactl", "--physcpubind=1"], ENGINES, program)}
    options = ("--no-memory=1", "--no-cpus=2", "--distance=1,0,30", EXACT)
    run = profile_in_guest(numa_guest, numa_programs, tmp_path / "out", jobs, *options, nodes=3)["bare"]
    assert (run.returncode, complaints(run.stderr)) == (STATUS, []), run.stderr
    numa = run.numa()
    assert numa["state"] == "on" and numa["error"] is None
    assert [n["cpus"] for n in numa["nodes"]] == ["0", "1", ""]
    assert [n["memory"] for n in numa["nodes"]] == [True, False, True]
    assert numa["nodes"][1]["memory_bytes"] == 0 < numa["nodes"][2]["memory_bytes"]
    site = site_at(numa, "NumaCollect", marked_lines("NumaCollect", "site")["as-is"])
    print(site["matrix"], "%.1f s" % run.seconds)
    assert site["remote_share"] == 1 and sum(site["matrix"][1]) == site["samples"] > 100
    actions = [a["action"] for a in site["diagnosis"]["advice"]]
    # Nothing can be allocated on node 1, and nothing can run on node 2.
    assert not any("thread of node 1" in a or "--cpunodebind=2" in a for a in actions), actions
    assert "no memory" in run.numa_text()


@pytest.mark.slow
def test_a_kernel_told_to_ignore_its_nodes(numa_guest, numa_programs, tmp_path):
    program = numa_case(numa_programs, "NumaCollect", "as-is", 0.5, java=["-Dstatus=%d" % STATUS], pin=False)
    options = ("--kernel-options=numa=off", EXACT)
    jobs = {"off": ([], ENGINES, program)}
    run = profile_in_guest(numa_guest, numa_programs, tmp_path / "out", jobs, *options)["off"]
    assert (run.returncode, complaints(run.stderr)) == (STATUS, []), run.stderr
    assert run.numa()["state"] == "one-node"
    check_short(run, "one NUMA node")
