# SPDX-License-Identifier: Apache-2.0
"""--loop and --keep: one recording in several profiles, of which nothing is lost and each stands alone."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
from conftest import BUILD, JDK_MAJORS
from helpers import COLLECTORS, allocations, collector, command, complaints, each_pair, sites_through, truth


def parts(directory):
    """The profiles of a loop, in order; their names have no gaps but those of removed ones."""
    return sorted(path for path in directory.iterdir() if path.name.isdigit())


def read(locus, directory):
    done = locus("report", "--format=json", "--top=100000", directory)
    if done.returncode and "is empty" in done.stderr:
        return {"sites": [], "samples": {"total": 0}, "threads": []}
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def manifest(directory):
    (process,) = json.loads((directory / "manifest.json").read_text())["processes"]
    return process


def made_in(report, method="make"):
    return allocations(sites_through(report, method, "Loop$Maker"))


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_nothing_is_lost_between_two_profiles(profile, workload, locus, tmp_path, jdk, gc):
    run = profile(command(workload, jdk, "Loop", 3000, 3, java=["-Xmx256m", *collector(gc)]), "--loop=300ms")
    assert complaints(run.stderr) == []
    all_parts = parts(run.directory)
    assert [int(p.name) for p in all_parts] == list(range(1, len(all_parts) + 1)) and len(all_parts) >= 4
    reports = [read(locus, p) for p in all_parts]
    assert sum(made_in(r) for r in reports) == truth(run)["made"]
    assert sum(made_in(r, "early") for r in reports) == truth(run)["kept"]
    manifests = [manifest(p) for p in all_parts]
    assert all(m["complete"] for m in manifests)
    for before, after in zip(manifests, manifests[1:]):
        assert before["start_monotonic_ns"] < before["end_monotonic_ns"] <= after["start_monotonic_ns"]
    # Counters are of each alone: together they are of as many samples as there are, and those that wait.
    samples = sum(r["samples"]["total"] for r in reports)
    counted = sum(sum(m["counters"].get("engine_timer_" + of, 0) for of in ("samples", "lost", "overruns")) for m in manifests)
    assert counted == samples
    # All of them, as one profile.
    done = locus("merge", "-o", tmp_path / "all", *all_parts)
    assert done.returncode == 0, done.stderr
    whole = read(locus, tmp_path / "all")
    assert made_in(whole) == truth(run)["made"] and whole["samples"]["total"] == samples


def test_the_directory_is_one_recording(profile, workload, locus, tmp_path, jdk):
    run = profile(command(workload, jdk, "Loop", 3000, 3, "calm", java=["-Xmx256m"]), "--loop=400ms")
    all_parts = parts(run.directory)
    reports = [read(locus, p) for p in all_parts]
    whole = read(locus, run.directory)
    assert made_in(whole) == truth(run)["made"] and made_in(whole, "early") == truth(run)["kept"]
    assert whole["samples"]["total"] == sum(r["samples"]["total"] for r in reports)
    (process,) = whole["processes"]
    assert [p["name"] for p in process["periods"]] == [p.name for p in all_parts] and process["complete"]
    manifests = [manifest(p) for p in all_parts]
    assert process["start_monotonic_ns"] == manifests[0]["start_monotonic_ns"]
    assert process["end_monotonic_ns"] == manifests[-1]["end_monotonic_ns"]
    assert process["counters"]["engine_timer_samples"] == sum(m["counters"]["engine_timer_samples"] for m in manifests)
    assert process["counters"]["sites"] == manifests[-1]["counters"]["sites"]  # a level, not a sum
    names = [t["name"] for t in whole["threads"]]
    assert sorted(n for n in names if n.startswith("maker-")) == ["maker-0", "maker-1", "maker-2"]  # each once
    assert "note: read from 000001 to %s of --loop" % all_parts[-1].name in locus("report", run.directory).stdout
    # Read as one profile, as one side of a difference, and where the current directory holds it.
    for options in ((), ("--keep-threads",)):
        target = tmp_path / ("all" + "".join(options))
        assert locus("merge", *options, "-o", target, run.directory).returncode == 0
        merged = read(locus, target)
        assert made_in(merged) == made_in(whole) and len(merged["threads"]) == len(names)
        assert len(merged["processes"]) == 1 and merged["processes"][0]["periods"] == process["periods"]
    same = json.loads(locus("diff", "--format=json", run.directory, tmp_path / "all").stdout)
    assert [p["samples"] for p in same["profiles"]] == [whole["samples"]["total"]] * 2
    (tmp_path / "here").mkdir()
    os.rename(run.directory, tmp_path / "here" / "p")
    newest = locus("report", "--format=json", "--top=100000", cwd=tmp_path / "here")
    assert made_in(json.loads(newest.stdout)) == truth(run)["made"] and "profile p" in newest.stderr


def test_the_last_line_of_a_run_names_the_recording(locus, workload, tmp_path, jdk):
    line = command(workload, jdk, "Loop", 1500, 1, "calm", java=["-Xmx256m"])
    done = locus("run", "-o", tmp_path / "p", "--loop=400ms", "--", *line)
    assert done.returncode == 0, done.stderr
    assert len(parts(tmp_path / "p")) > 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("locus: profile in %s: " % (tmp_path / "p"))
    assert last.endswith("; see: locus report %s" % (tmp_path / "p"))


def test_periods_are_chosen_by_time(profile, workload, locus, tmp_path, jdk):
    run = profile(command(workload, jdk, "Loop", 4000, 1, "calm", java=["-Xmx256m"]), "--loop=700ms")
    all_parts = parts(run.directory)
    made = [made_in(read(locus, p)) for p in all_parts]
    times = [manifest(p) for p in all_parts]

    def chosen(*options):
        done = locus("report", "--format=json", "--top=100000", *options, run.directory)
        assert done.returncode == 0, done.stderr
        whole = json.loads(done.stdout)
        return made_in(whole), [p["name"] for p in whole["processes"][0]["periods"]], whole["processes"][0]["shown"]

    middle = len(all_parts) // 2
    at = (times[middle]["start_monotonic_ns"] + times[middle]["end_monotonic_ns"]) // 2
    before_end = "%dms" % ((times[-1]["end_monotonic_ns"] - at) // 1000000)
    late, names, shown = chosen("--since", before_end)
    assert names == [p.name for p in all_parts[middle:]]
    assert sum(made[middle + 1 :]) <= late <= sum(made[middle:])
    assert shown["end_ns"] > at and shown["begin_ns"] >= times[middle - 1]["start_monotonic_ns"]
    early, names, shown = chosen("--until", before_end)
    assert names == [p.name for p in all_parts[: middle + 1]]
    assert sum(made[:middle]) <= early <= sum(made[: middle + 1])
    # Each block is in one of both, and the one at that time in both.
    assert early + late >= truth(run)["made"]
    start = times[0]["start_wall_ns"] // 1000000000
    whole = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(start)), time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(start + 100))
    assert chosen("--since", whole[0], "--until", whole[1])[0] == truth(run)["made"]
    nothing = locus("report", "--until", whole[0], run.directory)
    assert nothing.returncode == 1 and "no data in that time" in nothing.stderr
    text = locus("report", "--since", before_end, run.directory).stdout
    assert "only what was recorded since '%s'" % before_end in text
    asked = times[-1]["end_monotonic_ns"] - int(before_end[:-2]) * 1_000_000
    seconds = re.search(r",\s+from\s+([\d.]+)\s+(s|ms)\s+to\s", text)
    assert float(seconds[1]) * (1 if seconds[2] == "s" else 1e-3) == pytest.approx(
        (asked - times[0]["start_monotonic_ns"]) / 1e9, abs=0.06), text
    assert chosen("--since", before_end)[2]["asked_begin_ns"] == asked
    assert re.search(r"in\s+blocks\s+from\s+[\d.]+", text), text
    assert locus("report", "--since=soon", run.directory).returncode == 2
    assert locus("merge", "-o", tmp_path / "all", run.directory).returncode == 0
    merged = locus("report", "--since=1s", tmp_path / "all")
    assert merged.returncode == 1 and "has no times" in merged.stderr


def test_periods_that_are_gone_are_left_out(profile, workload, locus, jdk):
    run = profile(command(workload, jdk, "Loop", 2000, 1, "calm"), "--loop=400ms")
    all_parts = parts(run.directory)
    made = [made_in(read(locus, p)) for p in all_parts]
    shutil.rmtree(all_parts[1])
    (all_parts[2] / "manifest.json").unlink()
    for file in all_parts[2].glob("*.lcb"):
        file.unlink()
    whole = read(locus, run.directory)
    assert made_in(whole) == sum(made) - made[1] - made[2]


def test_a_profile_is_over_at_its_size(profile, workload, locus, jdk):
    line = command(workload, jdk, "Duration", 3000, 0, "spans")
    run = profile(line, "--loop=256kb", "--spans=streams,tasks", "--trace")
    all_parts = parts(run.directory)
    sizes = [sum(f.stat().st_size for f in p.glob("*.lcb")) for p in all_parts]
    assert len(all_parts) > 1 and all(size > 128 << 10 for size in sizes[:-1])
    made = [allocations(sites_through(read(locus, p), "make", "Duration")) for p in all_parts]
    assert sum(made) == truth(run)["made"]
    spans = [json.loads(locus("spans", "--format=json", p).stdout) for p in all_parts]
    own = 10 * truth(run)["rounds"]
    assert own <= sum(s["totals"]["streams"] for s in spans) <= own + 10  # some are the JDK's


@each_pair(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_objects_of_an_earlier_profile_have_their_site_in_later_ones(profile, workload, locus, jdk, gc):
    line = command(workload, jdk, "Loop", 3000, 1, "calm", java=["-Xmx256m", *collector(gc)])
    run = profile(line, "--loop=500ms", "--interval=1ms", "--budget=none")
    reports = [read(locus, p) for p in parts(run.directory)]
    last = max(i for i, r in enumerate(reports) if made_in(r, "early"))
    later = reports[last + 1 : -1]
    assert later
    touched = [sites_through(r, "early", "Loop$Maker") for r in later]
    assert sum(s["samples"] for sites in touched for s in sites) > 50
    assert all(site["names"] for sites in touched for site in sites)  # each has those, too


def test_only_the_newest_are_kept_and_nothing_else_is_touched(locus, workload, tmp_path, jdk):
    line = [str(word) for word in command(workload, jdk, "Loop", 6000, 1, "calm")]
    target, outside = tmp_path / "p", tmp_path / "outside"
    outside.mkdir()
    (outside / "thread-0.lcb").write_text("mine")
    with subprocess.Popen([str(BUILD / "locus"), "run", "-q", "-o", target, "--loop=800ms", "--keep=2", "--", *line],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        # Locus makes a directory, opens it, and writes into it: a file says that it has opened this one.
        while not any((target / "000002").glob("*")):
            assert run.poll() is None
            time.sleep(0.01)
        # A link in the place of a profile that is to be removed, and a file of the user's in the next one.
        os.rename(target / "000002", tmp_path / "moved")
        os.symlink(outside, target / "000002")
        while not any((target / "000003").glob("*")):
            assert run.poll() is None
            time.sleep(0.01)
        (target / "000003" / "notes.txt").write_text("mine")
        (target / "unrelated").mkdir()
        err = run.communicate(timeout=300)[1]
    assert run.returncode == 0, err
    assert (outside / "thread-0.lcb").read_text() == "mine" and (tmp_path / "moved" / "manifest.json").exists()
    assert [p.name for p in (target / "000003").iterdir()] == ["notes.txt"]
    assert (target / "unrelated").exists() and not (target / "000001").exists()
    left = [int(p.name) for p in parts(target) if p.name not in ("000002", "000003")]
    assert len(left) == 2 and left[1] == left[0] + 1 and left[0] > 3


def test_after_kill_the_last_one_opens(locus, workload, tmp_path, jdk):
    line = [str(word) for word in command(workload, jdk, "Loop", 60_000, 1, "calm")]
    with subprocess.Popen([str(BUILD / "locus"), "run", "-q", "-o", tmp_path / "p", "--loop=1500ms", "--", *line],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        wanted = tmp_path / "p" / "000003"
        while not any(f.stat().st_size for f in wanted.glob("*.lcb")):
            assert run.poll() is None
            time.sleep(0.02)
        first = read(locus, tmp_path / "p" / "000001")  # while the program runs
        running = locus("report", "--format=json", "--top=100000", tmp_path / "p")
        os.killpg(run.pid, signal.SIGKILL)
    assert made_in(first) > 0 and manifest(tmp_path / "p" / "000001")["complete"]
    assert running.returncode == 0 and "is still running" in running.stderr
    assert made_in(json.loads(running.stdout)) >= made_in(first)
    assert not json.loads(running.stdout)["processes"][0]["complete"]
    last = parts(tmp_path / "p")[-1]
    assert not manifest(last)["complete"]
    if last == wanted:
        assert made_in(read(locus, last)) > 0


def thread_name(task):
    try:
        return (task / "comm").read_text()
    except OSError:
        return ""  # it has ended


def test_a_jvm_that_is_attached_to_is_recorded_so(locus, workload, tmp_path, jdk):
    line = [str(word) for word in command(workload, jdk, "Loop", 60_000, 1, "calm")]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as program:
        try:
            while not any("maker" in thread_name(task) for task in pathlib.Path("/proc", str(program.pid), "task").iterdir()):
                assert program.poll() is None
                time.sleep(0.05)
            done = locus("attach", program.pid, "-o", tmp_path / "p", "--loop=300ms", "--keep=3")
            assert done.returncode == 0, done.stderr
            # A class whose method runs all the time is changed in a moment when it does not, which may take some periods.
            first = None
            while not first:
                assert program.poll() is None, "no period has an allocation"
                first = next((int(p.name) for p in parts(tmp_path / "p")[-2:-1] if made_in(read(locus, p)) > 0), None)
                time.sleep(0.05)
            while not any(int(p.name) >= max(5, first + 3) for p in parts(tmp_path / "p")):
                assert program.poll() is None
                time.sleep(0.05)
            assert locus("detach", program.pid).returncode == 0
            assert program.poll() is None
        finally:
            program.kill()
    kept = parts(tmp_path / "p")
    assert len(kept) == 3 and all(manifest(p)["complete"] for p in kept)
    assert all(made_in(read(locus, p)) > 0 for p in kept[:2])


def test_all_profiles_together_have_a_limit(profile, workload, jdk):
    """Cases in which none is to be removed; tests/unit/test_profile_loop.c has the others."""
    line = command(workload, jdk, "Duration", 5000, 0, "spans")
    run = profile(line, "--spans=streams,tasks", "--trace", "--max-profile-size=256k", "--loop=300ms")
    last = manifest(parts(run.directory)[-1])
    assert parts(run.directory)[0].name == "000001"
    assert [limit["kind"] for limit in last["limits"]] == ["profile_size"] and last["limited"]


@pytest.mark.parametrize("options, word", [(("--loop=10m",), "min"), (("--loop=1ms",), "out of range"),
                                           (("--loop=5",), "must end in"), (("--keep=3",), "loop"),
                                           (("--loop=1kb",), "out of range"), (("--loop=x",), "neither")])
def test_what_means_nothing_is_refused(locus, tmp_path, options, word):
    done = locus("run", *options, "-o", tmp_path / "p", "--", "true")
    assert done.returncode == 2 and word in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_directory_that_holds_a_loop_is_not_written_to(profile, locus, workload, jdk):
    run = profile(command(workload, jdk, "Loop", 500, 1, "calm"), "--loop=1h")
    assert [p.name for p in run.directory.iterdir()] == ["000001"]
    for options in ((), ("--loop=1h",)):
        done = locus("run", "-o", run.directory, *options, "--", "true")
        assert done.returncode != 0 and "holds a profile" in done.stderr
