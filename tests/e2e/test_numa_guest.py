# SPDX-License-Identifier: Apache-2.0
"""The guest that the NUMA tests run in, and the programs that tell the truth there.

Nothing here is about what Locus says of nodes: it is about the ground that such tests stand on.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
from conftest import BUILD, Profile, jdk_of, run_command
from guest import (  # noqa: F401
    NUMA_GUEST,
    numa_guest,
    numa_programs,
    phase_of,
    placement,
    processes_with,
    run_in_guest,
)
from helpers import report, sites_through, wait_until

MB = 1 << 20


def in_turn(*commands):
    """A shell command that runs several, to its end or to the first that fails."""
    return ["sh", "-c", "set -e\n" + "\n".join(shlex.join(map(str, c)) for c in commands)]


def lines_of_json(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


# The machine


def boot(numa_guest, directory, nodes):
    """A guest that does all that a boot is needed for: what it said, and the directory that came back."""
    seen, out = directory / "seen file", directory / "out"
    seen.write_text("from here\n")
    script = (
        "cd %s; cat %s; echo complaint >&2; mkdir d; echo made >d/file; ln -s d/file link;"
        " cat /sys/devices/system/node/online; cd /sys/devices/system/node;"
        " for n in node[0-9]*; do echo $n $(cat $n/cpulist) : $(cat $n/distance)"
        " : $(awk '/MemTotal/ { print $4 }' $n/meminfo); done; numactl -H; echo much; seq 100000; exit 7"
    ) % (out, shlex.quote(str(seen)))
    options = ["--cpus", 2 * nodes, "--memory", 400 * nodes, "--distance=17", "--distance=1,0,33"]
    return numa_guest(["sh", "-c", script], *options, nodes=nodes, share=[seen], out=out), out


@pytest.fixture(scope="module")
def two_nodes(numa_guest, tmp_path_factory):
    return boot(numa_guest, tmp_path_factory.mktemp("two"), 2)


@pytest.mark.parametrize("nodes", (2, pytest.param(4, marks=pytest.mark.slow)))
def test_topology_is_what_was_asked_for(request, numa_guest, tmp_path, nodes):
    done, _ = request.getfixturevalue("two_nodes") if nodes == 2 else boot(numa_guest, tmp_path, nodes)
    said = done.stdout.partition("from here\n")[2].partition("much\n")[0]
    lines = said.splitlines()
    assert lines[0] == "0-%d" % (nodes - 1)
    for node in range(nodes):
        cpus, distance, memory = lines[1 + node].split(" : ")
        assert cpus == "node%d %d-%d" % (node, 2 * node, 2 * node + 1)
        want = [10 if n == node else 33 if (node, n) == (1, 0) else 17 for n in range(nodes)]
        assert [int(word) for word in distance.split()] == want
        assert 330 * 1024 < int(memory) <= 400 * 1024, memory  # the kernel keeps its own part
    assert "available: %d nodes (0-%d)" % (nodes, nodes - 1) in said


def test_streams_status_and_files_come_back(two_nodes):
    done, out = two_nodes
    assert (done.returncode, done.stderr) == (7, "complaint\n")
    assert done.stdout.startswith("from here\n")
    assert (out / "d" / "file").read_text() == "made\n"
    assert os.readlink(out / "link") == "d/file"


@pytest.mark.slow
def test_settings_arrive(numa_guest, jdk17):
    script = (
        "cat /proc/sys/kernel/numa_balancing /sys/kernel/mm/transparent_hugepage/enabled;"
        " grep -c ' extra=1' /proc/cmdline; echo $NAME; pwd; which java"
    )
    command = ["sh", "-c", script]
    want = ["a=b c", os.getcwd(), jdk17.java]
    done = numa_guest(command, "--env=NAME=a=b c", jdk=jdk17)
    assert done.stdout.splitlines() == ["0", "[always] madvise never", "0", *want]
    options = ["--balancing", "--huge-pages=madvise", "--kernel-options=extra=1", "--env=NAME=a=b c"]
    done = numa_guest(command, *options, jdk=jdk17)
    assert done.stdout.splitlines() == ["1", "always [madvise] never", "1", *want]


def test_much_output_arrives_whole(two_nodes):
    assert two_nodes[0].stdout.partition("much\n")[2].split() == [str(n) for n in range(1, 100001)]


@pytest.mark.slow  # other tests say that a status comes back
def test_a_command_that_is_absent_has_the_shells_status(numa_guest):
    assert numa_guest(["no-such-command"]).returncode == 127


@pytest.mark.slow
def test_the_time_limit_ends_the_guest(numa_guest, tmp_path):
    begin = time.monotonic()
    done = numa_guest(
        ["sh", "-c", "echo begun; sleep 1000"], seconds=20, env={"TMPDIR": str(tmp_path)}
    )
    assert (done.returncode, done.stdout) == (124, "begun\n")
    assert "not done after 20 s" in done.stderr
    assert time.monotonic() - begin < 40
    assert not processes_with(str(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_guest_that_dies_is_told_from_a_command_that_fails(numa_guest):
    done = numa_guest(["sh", "-c", "echo c >/proc/sysrq-trigger; sleep 60"])
    assert done.returncode == 126, done.stderr
    assert "Kernel panic" in done.stderr and "ended before the command did" in done.stderr


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGKILL), ids=lambda n: n.name)
def test_no_qemu_outlives_the_script(numa_guest, tmp_path, number):
    """Whatever the guest does: it need not have booted. Before QEMU is one, it is setpriv, with the same words after its own."""
    process = subprocess.Popen(
        [NUMA_GUEST, "--", "sh", "-c", "sleep 1000"],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "LOCUS_BUILD": str(BUILD), "TMPDIR": str(tmp_path)},
    )
    try:
        wait_until("QEMU", lambda: any(re.match(r"\S*qemu-system", line) for line in processes_with(str(tmp_path))))
        process.send_signal(number)
        assert process.wait(300) in (143, -signal.SIGKILL)
        end = time.monotonic() + 180
        while processes_with(str(tmp_path)) and time.monotonic() < end:
            time.sleep(0.05)
        assert not processes_with(str(tmp_path))
    finally:
        process.kill()
        process.communicate()


def test_a_machine_without_qemu_says_so(tmp_path):
    done = run_command([sys.executable, NUMA_GUEST, "--check"], env={"PATH": str(tmp_path)})
    assert done.returncode == 125
    assert re.fullmatch(r"numa-guest: unavailable: no qemu-system-x86_64; .*\n", done.stderr)


@pytest.mark.parametrize(
    "options",
    (
        ["--nodes=2", "--cpus=3", "--", "true"],
        ["--distance=5", "--", "true"],
        ["--no-cpus=0", "--no-cpus=1", "--", "true"],
        ["--no-memory=0", "--no-memory=1", "--", "true"],
        ["--no-memory=2", "--", "true"],
        ["--env=NAME", "--", "true"],
        ["--share=/no/such/file", "--", "true"],
        [],
    ),
)
def test_a_wrong_option_is_refused(options):
    done = run_command([sys.executable, NUMA_GUEST, *options])
    assert done.returncode == 2 and "usage:" in done.stderr


# The truth: one guest answers all that is asked of a kind

COLLECTORS = {
    "Serial": ([], 2 << 20),
    "Parallel": ([], 2 << 20),
    "G1": (["-XX:G1HeapRegionSize=32m"], 1 << 20),
}


def truth_job(programs, nodes):
    """The output of numa_truth for memory on known nodes."""
    truth, last = programs.truth, nodes - 1
    watch = (
        "%s touch %d 30 >/tmp/far & until [ -s /tmp/far ]; do sleep 0.5; done; cat /tmp/far;"
        " %s pages $! $(sed %s /tmp/far) %d"
    ) % (
        *("numactl --membind=%d %s" % (last, truth), 16 * MB),
        *(truth, shlex.quote("s/.*address[^0-9]*//; s/,.*//"), 32 * MB),
    )
    return in_turn(
        ["numactl", "--cpunodebind=%d" % last, "--membind=0", truth, "touch", 16 * MB],
        ["numactl", "--cpunodebind=0", "--localalloc", truth, "touch", 16 * MB],
        ["numactl", "--interleave=all", truth, "touch", 16 * MB],
        ["sh", "-c", watch],
    )


def placement_jobs(programs):
    jobs = {mode: placement(programs, mode, 1) for mode in ("master", "parallel", "interleaved")}
    return {**jobs, "interleaved": ["numactl", "--interleave=all", *jobs["interleaved"]]}


def gc_jobs(programs):
    return {
        gc: placement(programs, "gc", 1, longs, collector=gc, java=java)
        for gc, (java, longs) in COLLECTORS.items()
    }


@pytest.fixture(scope="module")
def guest_runs(numa_guest, numa_programs, tmp_path_factory):
    """guest_runs(nodes, huge_pages) returns what ran in such a guest, by name."""
    done = {}

    def runs(nodes, huge_pages):
        key = (nodes, huge_pages)
        if key not in done:
            jobs = placement_jobs(numa_programs)
            if huge_pages == "never":
                jobs["truth"] = truth_job(numa_programs, nodes)
            if key == (2, "never"):
                jobs.update(gc_jobs(numa_programs))
            done[key] = run_in_guest(
                numa_guest,
                tmp_path_factory.mktemp("guest"),
                jobs,
                "--huge-pages=" + huge_pages,
                nodes=nodes,
                seconds=480,
                share=[numa_programs.directory],
            )
        return done[key]

    return runs


@pytest.mark.slow
@pytest.mark.parametrize("nodes", (2, 4))
def test_numa_truth_tells_where_pages_are(guest_runs, nodes):
    pages, last = 16 * MB // 4096, nodes - 1
    bound, local, interleaved, far, seen = lines_of_json(guest_runs(nodes, "never")["truth"])
    assert (bound["node"], bound["pages"]) == (last, {"0": pages})
    assert (local["node"], local["pages"]) == (0, {"0": pages})
    assert interleaved["pages"] == {str(n): pages // nodes for n in range(nodes)}
    assert far["pages"] == {str(last): pages}
    # Read from outside; what follows the range is not the program's, or was never touched.
    assert seen["pages"][str(last)] >= pages
    assert sum(seen["pages"].values()) + seen["absent"] == 2 * pages


def test_numa_truth_reports_what_the_kernel_refuses(numa_programs):
    done = run_command([numa_programs.truth, "pages", 2**22 + 1, 0, 4096])
    assert done.returncode == 1
    assert done.stderr == "numa_truth: move_pages: No such process\n"


@pytest.mark.slow
@pytest.mark.parametrize("nodes,huge_pages", ((2, "never"), (4, "never"), (2, "always")))
def test_placement_is_what_its_mode_says(guest_runs, nodes, huge_pages):
    runs = guest_runs(nodes, huge_pages)
    modes = ("master", "parallel", "interleaved")
    master, parallel, interleaved = [line for mode in modes for line in lines_of_json(runs[mode])]
    # A huge page at the border of two rows is on one node for both.
    near = 0.005 if huge_pages == "never" else 0.15
    for truth in (master, parallel, interleaved):
        assert truth["nodes"] == nodes
        assert truth["unknown"] == 0, truth
        for phase in truth["phases"]:
            counted = sum(map(sum, phase["accesses"]))
            assert sum(phase["elements"]) == truth["longs"], phase
            assert counted >= truth["longs"], phase
            if phase["name"] == "read":
                rows = [sum(row) > 0 for row in phase["accesses"]]
                assert rows == [n > 0 or truth is parallel for n in range(nodes)], phase
    assert phase_of(master, "init")["remote_share"] <= near
    assert phase_of(master, "read")["remote_share"] >= 1 - near
    assert master["remote_share"] >= 0.97 - near  # with the stores of the master
    # One page of a row of 8 MB may be the other's; how often each row is read depends on its thread's speed.
    assert parallel["remote_share"] <= (near if huge_pages == "never" else 0.25)
    assert abs(interleaved["remote_share"] - (1 - 1 / nodes)) <= near
    for elements in phase_of(interleaved, "read")["elements"]:
        assert abs(elements / interleaved["longs"] - 1 / nodes) <= near


@pytest.mark.slow
@pytest.mark.parametrize("collector", COLLECTORS)
def test_a_collection_takes_the_array_to_its_own_node(guest_runs, collector):
    (truth,) = lines_of_json(guest_runs(2, "never")[collector])
    before, after = phase_of(truth, "before"), phase_of(truth, "after")
    assert truth["unknown"] == 0
    assert before["address"] != after["address"]
    assert before["remote_share"] >= 0.995, truth
    assert after["remote_share"] <= 0.02, truth


# Locus


@pytest.mark.slow  # test_numa_locus.py runs Locus in a guest, too
@pytest.mark.parametrize("major", (17, 25))
def test_locus_runs_in_the_guest(numa_guest, numa_programs, major, tmp_path):
    out, jdk = tmp_path / "out", jdk_of(major)
    command = ["locus", "run", "-o", out / "profile", "--"]
    command += placement(numa_programs, "master", 4)
    done = numa_guest(command, share=[numa_programs.directory], out=out, jdk=jdk)
    assert done.returncode == 0, done.stderr
    truth = json.loads(done.stdout.splitlines()[-1])
    assert truth["unknown"] == 0
    r = report(Profile(done, out / "profile"))
    assert r["samples"]["lost"] == 0
    # How much of all samples that is depends on how long the JVM takes to start here.
    array = sum(site["samples"] for site in sites_through(r, "newMaster", "NumaPlacement"))
    assert array > 0.9 * r["samples"]["object"] and array > 200, r["samples"]
    readers = [t["samples"] for t in r["threads"] if t["name"] == "reader-1"]
    # The master's first stores are samples of the array, too, and more of them where the guest is slow.
    read, init = (sum(map(sum, phase_of(truth, name)["cpu_ns"])) for name in ("read", "init"))
    assert sum(readers) > 0.9 * array * read / (read + init), (r["threads"], truth)
