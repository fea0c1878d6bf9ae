"""`locus numa` on synthetic profiles, the numbers expected of them worked out by hand."""

import json

import pytest
from synthetic import Block, Profile, engine, frame

MAIN = frame("com.acme.Main", "main", 10)
FILL = frame("com.acme.Solver", "<init>", 20)
READ = frame("com.acme.Solver", "relax", 31)
GRID = ("double[]", (FILL, MAIN))
OWN = ("byte[]", (frame("com.acme.Worker", "run", 44),))
FAULT = engine("fault", "page-faults", 1, "page faults")


def node(number, *distances, cpus="", memory=1 << 30):
    return {"node": number, "memory_bytes": memory, "cpus": cpus, "memory_allowed": memory > 0,
            "distances": list(distances)}


def numa(*nodes, active=True, error=None, **more):
    return {"active": active, "balancing": False, "error": error, "pages_migrated": 0,
            "pages_asked": 9, "pages_unknown": 0, "owner_changes": 0, "samples_dropped": 0,
            "nodes": list(nodes), **more}


TWO = numa(node(0, 10, 21, cpus="0-1"), node(1, 21, 10, cpus="2-3"))


def write(path, threads, machine=TWO, **more):
    """`threads`: name to block."""
    profile = Profile(path, engines=[engine(), FAULT], **more)
    if machine:
        profile.manifest["processes"][0]["numa"] = machine
    for index, (name, block) in enumerate(threads.items()):
        profile.append(block, index=index, name=name)
    return profile.close()


def seen(locus, path, *options):
    done = locus("numa", "--format=json", *options, path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["format"] == 1
    return found["numa"]


def reader(on, samples, owner=0):
    return (Block().access("object", (READ,), samples, GRID)
            .place("object", GRID, (READ,), samples, on, owner).ran(on, samples))


@pytest.fixture
def master(tmp_path):
    """Main fills a grid on node 0; two threads of each node read it."""
    main = (Block().allocate(*GRID, 1, 1 << 20).home(GRID, 0, 1, 1 << 20)
            .count("object", 20, engine=1)
            .place("object", GRID, (FILL, MAIN), 20, 0, 0, engine=1).ran(0, 5))
    return write(tmp_path / "p", {"main": main, "r0": reader(0, 200), "r1": reader(1, 300),
                                  "r2": reader(0, 200), "r3": reader(1, 300)})


def test_a_grid_that_main_fills_and_all_read(locus, master):
    found = seen(locus, master)
    assert found["state"] == "on"
    assert found["engine"] == {"name": "timer", "event": "thread-cpu-time", "folded": 1}
    assert [n["distances"] for n in found["nodes"]] == [[10, 21], [21, 10]]
    (site,) = found["sites"]
    assert site["matrix"] == [[400, 0, 0], [600, 0, 0], [0, 0, 0]]
    assert (site["samples"], site["known"], site["remote"]) == (1000, 1000, 600)
    assert site["remote_share"] == pytest.approx(0.6)
    assert site["weighted_remote_share"] == pytest.approx(600 * 21 / (600 * 21 + 400 * 10))
    assert site["mean_distance"] == pytest.approx(16.6)
    assert site["first_touch"]["by_node"] == [20, 0, 0]
    assert site["first_touch"]["thread"] == "main"
    assert site["allocated"]["total"] == 1 << 20
    diagnosis = site["diagnosis"]
    assert (diagnosis["pattern"], diagnosis["confidence"]) == ("master-initialised", "high")
    assert diagnosis["allocation_line"] == "com.acme.Solver.<init>(Solver.java:20)"
    assert diagnosis["access_line"] == "com.acme.Solver.relax(Solver.java:31)"
    assert any("first touched by thread 'main' to 100.0%" in e for e in diagnosis["evidence"])
    assert "parallel first touch" in diagnosis["advice"][0]["action"]
    assert "0.0% remote where threads keep" in diagnosis["advice"][0]["cost"]
    assert "48.0% where all use all" in diagnosis["advice"][0]["cost"]  # 1 - 0.4^2 - 0.6^2
    assert "--interleave=all" in diagnosis["advice"][1]["action"]
    assert [t["samples"] for t in site["threads"]] == [300, 300, 200, 200]
    assert {t["thread"]: t["by_node"] for t in found["threads"]}["r1"] == [0, 300, 0]


@pytest.mark.parametrize("policy, share, matrix", [
    ("interleave", 0.5, [[200, 200], [300, 300]]),
    ("first-touch-by-reader", 0, [[400, 0], [0, 600]]),
    ("bind:1", 0.4, [[0, 400], [0, 600]]),
])
def test_other_placements(locus, master, policy, share, matrix):
    found = seen(locus, master, "--simulate", policy)["sites"][0]
    assert found["remote_share"] == pytest.approx(0.6)
    assert found["simulated"]["policy"] == policy
    assert found["simulated"]["remote_share"] == pytest.approx(share)
    assert found["simulated"]["matrix"] == matrix
    text = locus("numa", "--simulate=" + policy, master).stdout
    assert "with %s: %.1f%% remote" % (policy, 100 * share) in text


def test_text(locus, master):
    text = locus("numa", master).stdout
    assert text.startswith("machine   2 NUMA nodes; the kernel's NUMA balancing is off\n")
    assert "60.0% remote" in text
    assert "diagnosis: master-initialised (confidence: high)" in text
    assert "com.acme.Solver.<init>(Solver.java:20)" in text
    assert "com.acme.Solver.relax(Solver.java:31)" in text
    assert "\n                  0        400         0         0\n" in text
    assert "\n                  1        600         0         0\n" in text


def test_used_from_another_node_moved_and_fine(locus, tmp_path):
    far = {"main": Block().home(GRID, 0, 1, 100), "r": reader(1, 500)}
    (site,) = seen(locus, write(tmp_path / "far", far))["sites"]
    assert site["diagnosis"]["pattern"] == "used-from-another-node"
    assert "node 1" in site["diagnosis"]["advice"][0]["action"]
    moved = reader(1, 400).ran(0, 100).ran(1, 1, 1).home(GRID, 0, 1, 100)
    found = seen(locus, write(tmp_path / "moved", {"t": moved}))
    assert found["sites"][0]["diagnosis"]["pattern"] == "thread-migrated"
    assert found["threads"][0]["migrations"] == 1
    assert found["threads"][0]["by_node"] == [100, 401, 0]
    near = {"a": reader(0, 500), "b": reader(1, 500, owner=1)}
    (site,) = seen(locus, write(tmp_path / "near", near))["sites"]
    assert site["diagnosis"]["pattern"] == "fine"
    assert site["diagnosis"]["advice"] == []
    assert site["remote_share"] == 0


def test_unknown_nodes_are_shown_and_do_not_count(locus, tmp_path):
    block = (Block().access("object", (READ,), 130, OWN)
             .place("object", OWN, (READ,), 50, 0, 1)
             .place("object", OWN, (READ,), 50, 1, 1, source="remote_dram")
             .place("object", OWN, (READ,), 20, 1, None)
             .place("object", OWN, (READ,), 10, None, 0))
    (site,) = seen(locus, write(tmp_path / "p", {"t": block}))["sites"]
    assert site["matrix"] == [[0, 50, 0], [0, 50, 20], [10, 0, 0]]
    assert (site["samples"], site["known"], site["remote"]) == (130, 100, 50)
    assert site["sources"] == {"remote_dram": 50}
    assert any("23.1% of its samples" in e for e in site["diagnosis"]["evidence"])


def test_sparse_nodes_of_which_one_has_no_memory(locus, tmp_path):
    machine = numa(node(0, 10, 21, 17), node(2, 21, 10, 28), node(8, 17, 28, 10, memory=0))
    path = write(tmp_path / "p", {"a": reader(8, 300), "b": reader(2, 100)}, machine)
    found = seen(locus, path, "--simulate=first-touch-by-reader")
    assert [n["node"] for n in found["nodes"]] == [0, 2, 8]
    assert found["sites"][0]["matrix"][2] == [300, 0, 0, 0]
    assert found["sites"][0]["simulated"]["matrix"] == [[0, 0, 0], [0, 100, 0], [300, 0, 0]]
    done = locus("numa", "--simulate=bind:1", path)
    assert done.returncode == 1
    assert done.stderr == "locus: --simulate: the machine of the profile has no node 1\n"


@pytest.mark.parametrize("machine, line", [
    (numa(node(0, 10), active=False), "one NUMA node: all memory is local"),
    (numa(node(0, 10, 20), node(1, 20, 10), active=False, error="cpuset of one"), "cpuset of one"),
    (None, "says nothing of NUMA nodes"),
])
def test_nothing_to_say_is_one_line(locus, tmp_path, machine, line):
    path = write(tmp_path / "p", {"main": Block().access("object", (READ,), 10, GRID)}, machine)
    done = locus("numa", "--simulate=interleave", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert line in done.stdout


def test_merging_keeps_nodes_apart_by_thread(locus, master, tmp_path):
    before = seen(locus, master)
    for options in ([], ["--keep-threads"]):
        merged = tmp_path / ("m%d" % len(options))
        assert locus("merge", "-o", merged, *options, master, master).returncode == 0
        after = seen(locus, merged)
        assert after["sites"][0]["matrix"] == [[800, 0, 0], [1200, 0, 0], [0, 0, 0]]
        assert after["sites"][0]["diagnosis"]["pattern"] == "master-initialised"
        assert len(after["threads"]) == 2 * len(before["threads"])
        assert after["nodes"] == before["nodes"]


def test_options_that_make_no_sense_are_refused_in_one_line(locus, master, tmp_path):
    for options, line in [
        ([], "numa: name the profile directory"),
        (["--simulate=first-touch", master], "no 'first-touch'"),
        (["--simulate=bind:x", master], "no 'bind:x'"),
        (["--format=html", master], "no 'html'"),
        (["--top=0", master], "not a number of sites"),
        (["--engine=pebs", master], "no samples of 'pebs'"),
        ([tmp_path / "none"], "cannot read profile"),
    ]:
        done = locus("numa", *options)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.count("\n") == 1 and line in done.stderr


def test_one_thread_and_one_engine(locus, master):
    found = seen(locus, master, "--thread=r1")
    assert found["sites"][0]["samples"] == 300
    found = seen(locus, master, "--engine=fault")
    assert found["sites"][0]["samples"] == 20
    assert seen(locus, master, "--top=1")["sites"]


def test_names_of_any_bytes_give_valid_json(locus, tmp_path):
    site = (b"\xff\"<\n", ())
    block = (Block().access("object", (READ,), 100, site)
             .place("object", site, (READ,), 50, 0, 0).place("object", site, (READ,), 50, 1, 0)
             .home(site, 0, 1, 1))
    found = seen(locus, write(tmp_path / "p", {"t\"\n\\": block, "u": reader(1, 1)}))
    assert found["sites"][0]["class"] == "\ufffd\"<\n"
    assert "\n" not in locus("numa", tmp_path / "p").stdout.split("by threads")[1].split("(")[0][1:]
