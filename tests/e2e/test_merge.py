# SPDX-License-Identifier: Apache-2.0
"""`locus merge` at scale: the same bytes in any order, grouping and number of threads; bad inputs among good ones;
and no output where it ends early."""

import json
import random
import shutil
import signal
import subprocess
import time

import pytest
import synthetic
from conftest import BUILD
from synthetic import Block, Profile, engine, frame
from test_report import random_profile, refusal, report, simple


def files(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def merge(locus, out, *args, status=0):
    shutil.rmtree(out, ignore_errors=True)
    done = locus("merge", "-o", out, *args)
    assert done.returncode == status, done.stderr
    return out


def rich_profile(path, rng, pid):
    """Like random_profile(), with spans, nodes and names besides, a later thread name, and its own engine at times."""
    frames = [frame("com.acme.K%d" % i, "m%d" % (i % 3), i + 1) for i in range(8)]

    def walk():
        return tuple(rng.choice(frames) for _ in range(rng.randrange(1, 6)))

    engines = [engine()] + [engine("watch", "watchpoint", 1, "hits")] * rng.randrange(2)
    profile = Profile(path, pid=pid, command="run %d" % pid, engines=engines, spans=synthetic.spans())
    for index in range(0, 40, 13):
        for part in range(rng.randrange(1, 3)):
            block = Block()
            site = ("com.acme.T%d" % rng.randrange(4), walk())
            block.access("object", walk(), rng.randrange(1, 9), site).allocate(*site, 2, 64)
            block.named(site, "com.acme.K.f%d" % rng.randrange(3)).step("object", site, 8, 1, 3)
            block.place("object", site, walk(), 5, rng.randrange(2), None).ran(rng.randrange(2), 7, 1)
            block.home(site, 1, 2, 64).copied(*site, 3, 96).spread(*site, 1).recursion(walk(), 2)
            block.span("task", walk(), [rng.randrange(10**6) for _ in range(5)], type="com.acme.Task", overhead=50,
                       intervals=[(10**9 * part, 10**9 * part + 5)])
            block.span("anonymous", walk(), [7, 900], nested=(1, 0, 0, 2), intervals=[(10**8, 3 * 10**8)])
            block.made("com.acme.Task", walk(), 3).look(walk(), 4, 3, 2)
            block.span_access("task", walk(), "object", site, walk(), 2, type="com.acme.Task")
            profile.append(block, index=index, name="t%d-%d" % (index, part), begin=10**9 * (part + 1),
                           end=10**9 * (part + 2))
    return profile.close()


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    rng = random.Random(7)
    path = tmp_path_factory.mktemp("several")
    make = [random_profile, rich_profile]
    return [make[i % 2](path / str(i), rng, 100 + 7 * (i * 5 % 11)) for i in range(11)]


@pytest.mark.parametrize("options", [(), ("--keep-threads",)], ids=["together", "threads"])
def test_order_groups_and_threads_change_no_byte(locus, several, tmp_path, options):
    rng = random.Random(3)
    expected = files(merge(locus, tmp_path / "all", *options, "--jobs=1", *several))
    assert len(expected) > 2 if options else set(expected) == {"manifest.json", "merged.lcb"}
    for jobs in (1, 2, 5):
        order = rng.sample(several, len(several))
        assert files(merge(locus, tmp_path / "again", *options, "--jobs=%d" % jobs, *order)) == expected
        groups, left = [], list(order)
        while left:
            size = rng.randrange(1, 5)
            groups.append(merge(locus, tmp_path / ("g%d" % len(groups)), *options, *left[:size]))
            left = left[size:]
        rng.shuffle(groups)
        assert files(merge(locus, tmp_path / "again", *options, "--jobs=%d" % jobs, *groups)) == expected
    assert files(merge(locus, tmp_path / "more", *options, tmp_path / "all")) == expected


def test_threads_that_were_kept_merge_to_the_same_as_those_that_were_not(locus, several, tmp_path):
    expected = files(merge(locus, tmp_path / "all", *several))
    kept = merge(locus, tmp_path / "kept", "--keep-threads", *several)
    assert files(merge(locus, tmp_path / "again", kept)) == expected


def test_threads_of_one_file_are_kept_apart(locus, tmp_path):
    """The agent writes 32 threads to a file, and blocks of version 2, which refer to earlier ones."""
    paths = [tmp_path / "p", tmp_path / "q"]
    for path in paths:
        profile = Profile(path)
        for index in (0, 1):
            for _ in range(2):
                block = Block().access("native", (frame("com.acme.T%d" % index, "run", 3),), 10 + index)
                profile.append(block, index=index, name="t%d" % index)
        profile.close()
        data = b"".join((path / ("thread-%d.lcb" % i)).read_bytes() for i in (0, 1))
        (path / "thread-0.lcb").write_bytes(data)
        (path / "thread-1.lcb").unlink()
    merged = merge(locus, tmp_path / "m", "--keep-threads", *paths, status=0)
    assert report(locus, merged, "--thread=t0")["samples"]["total"] == 40
    assert report(locus, merged, "--thread=t1")["samples"]["total"] == 44
    assert sorted(f.name for f in merged.iterdir()) == ["manifest.json", "thread-0.lcb", "thread-1.lcb"]


# Duplicates


def test_what_is_given_twice_is_counted_once(locus, tmp_path):
    a, b = simple(tmp_path / "a"), simple(tmp_path / "b")
    copy = shutil.copytree(a, tmp_path / "copy")
    once = files(merge(locus, tmp_path / "once", a, b))
    for twice in ([a, b, a], [copy, a, b], [b, a, copy, b]):
        shutil.rmtree(tmp_path / "m", ignore_errors=True)
        done = locus("merge", "-o", tmp_path / "m", *twice)
        assert done.returncode == 0 and files(tmp_path / "m") == once
        assert done.stderr.count("a duplicate") == len(twice) - 2, done.stderr


def test_a_merged_profile_knows_that_a_disk_was_full(locus, tmp_path):
    full, whole = (simple(tmp_path / name, pid=pid) for name, pid in (("full", 71), ("whole", 72)))
    manifest = json.loads((full / "manifest.json").read_text())
    manifest["processes"][0]["complete"] = False
    (full / "manifest.json").write_text(json.dumps(manifest))
    (full / "disk-full").touch()
    merged = merge(locus, tmp_path / "merged", full, whole)
    rows = {row["pid"]: row for row in json.loads((merged / "manifest.json").read_text())["processes"]}
    assert rows[71]["disk_full"] is True and "disk_full" not in rows[72]
    again = merge(locus, tmp_path / "again", merged)
    assert files(again) == files(merged)


def test_a_process_in_two_merged_profiles_leaves_one_of_them_out(locus, tmp_path):
    a, b, c = (simple(tmp_path / name) for name in "abc")
    ab = merge(locus, tmp_path / "ab", a, b)
    bc = merge(locus, tmp_path / "bc", b, c)
    done = locus("merge", "-o", tmp_path / "with", ab, a, b)  # both are in it
    assert done.returncode == 0 and files(tmp_path / "with") == files(ab), done.stderr
    for order in ([ab, bc], [bc, ab]):
        shutil.rmtree(tmp_path / "m", ignore_errors=True)
        refusal(locus("merge", "-o", tmp_path / "m", *order), "bc", "left out", "another profile", status=3)
        assert report(locus, tmp_path / "m")["samples"]["total"] == 160
        assert json.loads((tmp_path / "m/manifest.json").read_text())["missing"] == {"inputs": 1, "blocks": 0}


def test_of_a_profile_and_a_later_copy_the_later_one_counts(locus, tmp_path):
    late = simple(tmp_path / "late")
    early = shutil.copytree(late, tmp_path / "early")
    manifest = json.loads((early / "manifest.json").read_text())
    manifest["processes"][0].update(complete=False, end_wall_ns=1_750_000_005_000_000_000)
    (early / "manifest.json").write_text(json.dumps(manifest))
    for order in ([late, early], [early, late]):
        done = locus("merge", "-o", merge(locus, tmp_path / "m", *order) / "x", late)
        assert report(locus, tmp_path / "m")["processes"][0]["complete"] is True, done


# Bad inputs


def spoiled(path, rng, i):
    """One of the kinds of bad profiles; and whether something of it is used."""
    kind = i % 8
    if kind == 0:  # empty
        path.mkdir()
        return False
    if kind == 1:
        return False  # it is not there
    if kind == 2:
        path.write_text("no directory")
        return False
    simple(path)
    block, manifest = path / "thread-0.lcb", path / "manifest.json"
    data = block.read_bytes()
    if kind == 3:  # cut
        block.write_bytes(data[:rng.randrange(1, len(data))])
    elif kind == 4:
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 9}))
        return False
    elif kind == 5:
        manifest.write_text("{")
    elif kind == 6:  # hostile: anything, in the middle of a block
        at = rng.randrange(len(data))
        block.write_bytes(data[:at] + rng.randbytes(100) + data[at + 100:])
    else:
        block.unlink()
        block.mkdir()  # cannot be read
    return True


def test_good_profiles_are_merged_and_bad_ones_are_named(locus, tmp_path):
    rng = random.Random(5)
    good = [simple(tmp_path / ("good%d" % i)) for i in range(40)]
    bad = {tmp_path / ("bad%d" % i): spoiled(tmp_path / ("bad%d" % i), rng, i) for i in range(24)}
    paths = good + list(bad)
    rng.shuffle(paths)
    done = locus("merge", "-o", tmp_path / "m", *paths)
    assert done.returncode == 3
    lines = done.stderr.splitlines()
    for path, used in bad.items():
        of = [line for line in lines if str(path) + "'" in line or str(path) + ":" in line or str(path) + "/" in line]
        assert of, path
        assert used or (len(of) == 1 and of[0].endswith("it is left out")), of
    assert not any("/good" in line for line in lines), lines
    found = report(locus, tmp_path / "m")
    assert found["samples"]["total"] >= 40 * 80
    missing = json.loads((tmp_path / "m/manifest.json").read_text())["missing"]
    assert missing["inputs"] == sum(not used for used in bad.values()) and missing["blocks"] >= 6
    said = locus("report", tmp_path / "m").stderr
    assert "merged without %d profiles" % missing["inputs"] in said
    rng.shuffle(paths)
    assert files(merge(locus, tmp_path / "again", *paths, status=3)) == files(tmp_path / "m")


def test_where_nothing_is_good_nothing_is_written(locus, tmp_path):
    (tmp_path / "a").mkdir()
    done = locus("merge", "-o", tmp_path / "m", tmp_path / "a", tmp_path / "b")
    assert done.returncode == 1 and not (tmp_path / "m").exists()
    assert done.stderr.splitlines()[-1] == "locus: nothing to merge: none of the 2 profiles can be read"


def test_numbers_that_are_as_large_as_can_be_stay_readable(locus, tmp_path):
    most = 2**64 - 1
    paths = []
    for i in range(3):
        block = Block().access("native", (frame("com.acme.A", "a", 1),), most - 5).span(
            "task", (frame("com.acme.A", "a", 1),), [2**62], type="com.acme.T", intervals=[(0, most)])
        block.pause(most, 0)
        profile = Profile(tmp_path / str(i)).append(block, begin=most - 1, end=most)
        profile.manifest["missing"] = {"inputs": 2**63 - 1, "blocks": 2**63 - 1}
        profile.manifest["pruned"] = 1e300
        paths.append(profile.close())
    merged = merge(locus, tmp_path / "m", *paths)
    manifest = json.loads((merged / "manifest.json").read_text())
    assert manifest["missing"] == {"inputs": 2**63 - 1, "blocks": 2**63 - 1} and manifest["pruned"] == 1
    assert "damaged" not in locus("report", merged).stderr
    first = merge(locus, tmp_path / "first", *paths[:2])
    assert files(merge(locus, tmp_path / "again", paths[2], first)) == files(merged)


def test_more_engines_than_a_profile_holds_leave_out_those_that_few_have(locus, tmp_path):
    good = [Profile(tmp_path / ("good%d" % i), engines=[engine(), engine("watch", "w", 1, "hits")]).append(
        Block().access("native", (), 5)).close() for i in range(4)]
    bad = [Profile(tmp_path / ("many%d" % i), engines=[engine("x%d-%d" % (i, k)) for k in range(40)]).append(
        Block().access("native", (), 5)).close() for i in range(2)]
    done = locus("merge", "-o", tmp_path / "m", bad[0], *good, bad[1])
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1 and "/many" in done.stderr, done.stderr
    assert [e["name"] for e in json.loads((tmp_path / "m/manifest.json").read_text())["engines"]][-1] == "watch"
    assert report(locus, tmp_path / "m", "--engine=timer")["samples"]["total"] == 20


# Ending early


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Profiles that take a while to merge."""
    rng = random.Random(1)
    path = tmp_path_factory.mktemp("large")
    frames = [frame("com.acme.pkg%d.Class%d" % (i % 40, i), "method%d" % (i % 7), i) for i in range(3000)]
    first = Profile(path / "0")
    for _ in range(2):
        block = Block()
        for i in range(4000):
            site = ("com.acme.Type%d" % (i % 500), tuple(rng.choice(frames) for _ in range(20)))
            block.access("object", tuple(rng.choice(frames) for _ in range(20)), 3, site)
        first.append(block)
    first.close()
    return [first.path] + [synthetic.another(first.path, path / str(i)) for i in range(1, 100)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("options", [(), ("--keep-threads",)], ids=["together", "threads"])
def test_a_signal_leaves_nothing(large, tmp_path, number, options):
    for wait in (0.02, 0.1):
        run = subprocess.Popen([BUILD / "locus", "merge", *options, "-o", tmp_path / "m", *large],
                               stderr=subprocess.PIPE)
        time.sleep(wait)
        run.send_signal(number)
        said = run.communicate(timeout=300)[1]
        if run.returncode == 0:
            pytest.skip("this machine is too quick")
        assert run.returncode == -number and said == b""
        assert not (tmp_path / "m").exists()


def test_what_is_killed_leaves_nothing_that_looks_like_a_profile(locus, large, tmp_path):
    run = subprocess.Popen([BUILD / "locus", "merge", "--keep-threads", "-o", tmp_path / "m", *large])
    while run.poll() is None and not (tmp_path / "m").exists():
        time.sleep(0.01)
    time.sleep(0.05)
    run.kill()
    if run.wait() == 0:
        pytest.skip("this machine is too quick")
    assert all(file.suffix == ".part" for file in (tmp_path / "m").iterdir())
    refusal(locus("report", tmp_path / "m"), "is not a profile")


def test_an_output_directory_that_was_there_stays(locus, tmp_path):
    (tmp_path / "m").mkdir()
    refusal(locus("merge", "-o", tmp_path / "m", tmp_path / "none"), "none")
    assert list((tmp_path / "m").iterdir()) == []


@pytest.mark.parametrize("jobs", ["0", "x", "-1", "1025", ""])
def test_a_number_of_jobs_that_is_none_is_refused(locus, tmp_path, jobs):
    refusal(locus("merge", "--jobs=" + jobs, "-o", tmp_path / "m", simple(tmp_path / "p")), "--jobs", status=2)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("options", [(), ("--keep-threads",)], ids=["together", "threads"])
@pytest.mark.parametrize("size", ["4k", "24k"])
def test_a_full_disk_leaves_nothing(locus, large, tmp_path, options, size):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=" + size, "none", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("may not mount a file system")
    try:
        done = locus("merge", *options, "-o", disk / "m", *large[:2])
        refusal(done, "cannot write", "No space left")
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# Pruning, and memory


def test_pruning_keeps_sums_and_says_what_may_lack(locus, tmp_path):
    """One path in each of 3 profiles has most samples, and a hundred have one each."""
    paths = []
    for i in range(3):
        block = Block().access("object", (frame("com.acme.Hot", "run", 1), frame("com.acme.Main", "main", 1)), 900,
                               ("com.acme.Thing", (frame("com.acme.Hot", "make", 2),)))
        block.allocate("com.acme.Thing", (frame("com.acme.Hot", "make", 2),), 10, 10**6)
        for k in range(100):
            cold = (frame("com.acme.Cold%d" % k, "run", k + 1), frame("com.acme.Main", "main", 1))
            block.access("object", cold, 1, ("com.acme.Thing", (frame("com.acme.Cold%d" % k, "make", 2),)))
            block.allocate("com.acme.Thing", (frame("com.acme.Cold%d" % k, "make", 2),), 1, 16)
        paths.append(Profile(tmp_path / str(i)).append(block).close())
    exact = report(locus, merge(locus, tmp_path / "exact", *paths))
    pruned = merge(locus, tmp_path / "pruned", "--prune=1%", *paths)
    assert json.loads((pruned / "manifest.json").read_text())["pruned"] == 0.01
    found = report(locus, pruned)
    assert found["samples"] == exact["samples"]
    assert sum(s["samples"] for s in found["sites"]) == sum(s["samples"] for s in exact["sites"]) == 3000
    assert sum(s["bytes"] for s in found["sites"]) == sum(s["bytes"] for s in exact["sites"])
    assert [s["samples"] for s in found["sites"]] == [2700, 300] and len(exact["sites"]) == 101
    folded = locus("report", "--format=collapsed", pruned)
    assert "(pruned)" in folded.stdout and "Cold" not in folded.stdout
    assert "may lack up to 1%" in folded.stderr, folded.stderr
    assert (pruned / "merged.lcb").stat().st_size < (tmp_path / "exact/merged.lcb").stat().st_size / 3
    rng = random.Random(2)
    for jobs in (1, 3):  # at the end, so that it does not depend on who has read what
        again = merge(locus, tmp_path / "again", "--prune=0.01", "--jobs=%d" % jobs, *rng.sample(paths, 3))
        assert files(again) == files(pruned)
    twice = merge(locus, tmp_path / "twice", "--prune=2%", pruned)
    assert json.loads((twice / "manifest.json").read_text())["pruned"] == 0.03
    assert report(locus, twice)["samples"] == exact["samples"]


@pytest.mark.parametrize("options", [["--prune=0"], ["--prune=100%"], ["--prune=x"], ["--prune=nan"], ["--prune=1%x"],
                                     ["--prune=1%", "--keep-threads"], ["--max-memory=1m"], ["--max-memory=-1"],
                                     ["--max-memory=500x"], ["--max-memory=500mb"], ["--max-memory=99999999t"]])
def test_shares_and_sizes_that_are_none_are_refused(locus, tmp_path, options):
    refusal(locus("merge", *options, "-o", tmp_path / "m", simple(tmp_path / "p")), "merge: --", status=2)
    assert not (tmp_path / "m").exists()


def wide(path, seed):
    """Some 20,000 call paths, most of them of no other seed."""
    rng = random.Random(seed)
    block = Block()
    for _ in range(700):
        walk = [frame("com.acme.C%d" % rng.randrange(3000), "m", rng.randrange(99)) for _ in range(30)]
        block.access("native", tuple(walk), 1)
    block.access("native", (frame("com.acme.Hot", "run", 1),), 700)
    return Profile(path).append(block).close()


@pytest.mark.slow
def test_memory_is_bounded(locus, tmp_path):
    """If the result does not fit, nothing is written; pruned it does."""
    if b"__asan_init" in (BUILD / "locus").read_bytes() or b"__tsan_init" in (BUILD / "locus").read_bytes():
        pytest.skip("a sanitizer takes memory of its own")
    paths = [wide(tmp_path / str(i), i) for i in range(30)]
    code = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)")
    for options, status in (["--max-memory=64m"], 1), (["--max-memory=64m", "--prune=1%"], 0), (["--max-memory=1g"], 0):
        shutil.rmtree(tmp_path / "m", ignore_errors=True)
        done = subprocess.run(["python3", "-c", code, BUILD / "locus", "merge", *options, "-o", tmp_path / "m", *paths],
                              capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        assert status or report(locus, tmp_path / "m")["samples"]["total"] == 30 * 1400
        if status:
            assert "--max-memory" in done.stderr and not (tmp_path / "m").exists()
        if options[0] == "--max-memory=64m":
            assert int(done.stdout) < 64 << 10
