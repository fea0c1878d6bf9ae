# SPDX-License-Identifier: Apache-2.0
"""The cost of spans: measured once, kept, and measured again when the kept figure is no good."""

import json
import os
import re
import stat

import pytest

COSTS = ["inner", "anonymous", "primordial", "support", "task", "task_inner", "flat", "pulled", "created", "submitted", "entered",
         "counted", "yardstick"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    directory = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory))
    return directory / "locus"


def manifest_spans(directory):
    manifest = json.loads((directory / "manifest.json").read_text())
    return manifest.get("processes", [manifest])[0]["spans"]


@pytest.fixture
def run(locus, jdk, workload):
    """run(directory, "--option"...) returns the manifest's part about spans, of a short run."""

    def run_it(directory, *options, flags=(), env=None):
        command = ["--", jdk.java, *flags, "-cp", workload(jdk, "FewSpans"), "FewSpans", "0"]
        done = locus("run", "-o", directory, "--spans=streams,tasks", *options, *command, env=env)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "done\n"
        spans = manifest_spans(directory)
        # It takes seconds, in which a user should know what the program waits for.
        assert ("measuring the cost of a span once" in done.stderr) == (spans["calibration"] == "measured"), done.stderr
        return spans

    return run_it


@pytest.fixture
def measured(shared, run, jdk):
    """A directory with the profile of a run that measured what spans cost, and the cache that it left."""

    def make(directory):
        spans = run(directory / "profile", "--interval=1ms", env={"XDG_CACHE_HOME": str(directory / "cache")})
        assert spans["calibration"] == "measured"

    return shared("calibration-%d" % jdk.major, make)


def kept(cache):
    files = sorted(cache.glob("calibration-*"))
    return {f.name: f.read_text() for f in files}


@pytest.mark.smoke
def test_the_command_measures_and_the_next_run_uses_it(locus, jdk, run, cache, tmp_path):
    done = locus("calibrate", "--jdk=%s" % jdk.home)
    assert done.returncode == 0, done.stderr
    printed = dict(re.findall(r"^(\w+) +([0-9.]+) +[0-9.]+%$", done.stdout, re.M))
    assert list(printed) == COSTS
    assert all(0 < float(printed[name]) < 5000 for name in COSTS), printed
    assert len(kept(cache)) == 1
    spans = run(tmp_path / "p")
    assert spans["calibration"] == "cached"
    assert [c["name"] for c in spans["costs"]] == COSTS
    assert all(abs(c["mean_cycles"] - float(printed[c["name"]])) <= 0.06 for c in spans["costs"])


@pytest.mark.recording("calibration")
def test_what_measuring_takes_is_not_sampled(measured, run, locus, tmp_path):
    """It is no time of the program's, nor inside one of its spans."""
    spans = run(tmp_path / "cached", "--interval=1ms", env={"XDG_CACHE_HOME": str(measured / "cache")})
    assert spans["calibration"] == "cached"
    profiles = (measured / "profile", tmp_path / "cached")
    report, again = (json.loads(locus("report", p, "--format=json").stdout) for p in profiles)
    assert again["samples"]["total"] > 0
    # Measuring takes seconds, which are thousands of samples.
    assert report["samples"]["total"] < again["samples"]["total"] + 500, (report["samples"], again["samples"])
    assert "LocusCalibrate" not in json.dumps(report)


@pytest.mark.slow
@pytest.mark.parametrize("jdk", [17, 25], indirect=True)
def test_a_run_measures_once_and_again_what_is_damaged(run, cache, tmp_path):
    first = run(tmp_path / "first")
    assert first["calibration"] == "measured"
    before = kept(cache)
    assert len(before) == 1
    (name, text), = before.items()
    second = run(tmp_path / "second")
    assert second["calibration"] == "cached"
    assert second["costs"] == first["costs"]
    assert kept(cache) == before
    (cache / name).write_text(text.replace("inner ", "inner 9", 1))
    third = run(tmp_path / "third")
    assert third["calibration"] == "measured"
    assert kept(cache)[name] != text
    # Another clock, or another compiler, is another calibration; --calibrate measures what is known.
    assert run(tmp_path / "coarse", "--clock=coarse")["calibration"] == "measured"
    assert len(kept(cache)) == 2
    c1 = run(tmp_path / "c1", flags=["-XX:TieredStopAtLevel=1"])
    assert c1["calibration"] == "measured"
    assert len(kept(cache)) == 3
    assert run(tmp_path / "anew", "--calibrate")["calibration"] == "measured"
    assert len(kept(cache)) == 3


def test_without_a_place_to_keep_it_the_report_says_so(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/self")  # where nobody can make a directory
    spans = run(tmp_path / "p")
    assert spans["calibration"] == "measured"
    assert "not kept" in spans["calibration_warning"]
    assert len(spans["costs"]) == len(COSTS)


@pytest.mark.recording("calibration")
def test_only_the_user_can_read_the_directory(measured):
    assert stat.S_IMODE(os.stat(measured / "cache" / "locus").st_mode) == 0o700


@pytest.mark.recording("calibration")
def test_its_spans_are_none_of_the_program(locus, measured):
    done = locus("spans", measured / "profile", "--format=json")
    assert done.returncode == 0, done.stderr
    assert "LocusCalibrate" not in done.stdout
    report = json.loads(done.stdout)
    assert sum(row["executions"] for row in report["streams"] + report["tasks"]) < 10000


def test_a_jdk_that_is_none_is_refused(locus, tmp_path):
    done = locus("calibrate", "--jdk=%s" % tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("locus: no bin/java in ")
    assert locus("calibrate", "x").returncode == 2
