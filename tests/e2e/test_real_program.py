# SPDX-License-Identifier: Apache-2.0
"""Real programs from Maven Central, end to end: the profile makes sense to who knows them."""

import pytest
from conftest import run_command
from helpers import command, complaints, has_frame, maven, page_text, report

PROGRAMS = {
    "Database": {
        "jars": ["com.h2database:h2:2.2.224"],
        "args": [200_000],
        "package": "org.h2.",
        "classes": {"byte[]", "java.lang.Object[]", "long[]", "org.h2.value.Value[]"},
        "object_share": 0.0,  # rows: far below the threshold, they are "heap, unknown"
    },
    "SearchEngine": {
        "jars": ["org.apache.lucene:lucene-core:9.12.1"],
        "args": [20_000, 10_000],
        "package": "org.apache.lucene.",
        "classes": {"byte[]", "int[]", "long[]", "float[]", "double[]"},
        "object_share": 0.05,
    },
}


def ours(site, package):
    return any(f["class"].startswith(package) for f in site["allocation_path"])


def is_entry(frame):
    """The first frame of a Java thread, or of the launcher."""
    return frame["method"] in ("main", "run")


def run_of(profile_once, workload, jdk, name):
    jars = [maven(j) for j in PROGRAMS[name]["jars"]]
    line = command(workload, jdk, name, *PROGRAMS[name]["args"], java=["-Xmx512m"], jars=jars)
    return profile_once("%s-%d" % (name, jdk.major), line)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", PROGRAMS)
def test_profile_of_a_real_program_makes_sense(workload, profile_once, jdk, name):
    p = PROGRAMS[name]
    run = run_of(profile_once, workload, jdk, name)
    assert complaints(run.stderr) == []
    r = report(run)
    samples = r["samples"]
    assert samples["total"] > 200, samples
    assert samples["lost"] <= 0.01 * samples["total"], samples
    heap = samples["object"] + samples["heap_class"] + samples["heap_unknown"]
    assert 0.2 * samples["total"] < heap, samples
    assert samples["object"] > p["object_share"] * samples["total"], samples

    mine = [s for s in r["sites"] if ours(s, p["package"])]
    by_bytes = sorted(mine, key=lambda s: -s["bytes"])[:10]
    assert len(by_bytes) == 10
    assert {s["class"] for s in by_bytes} & p["classes"], [s["class"] for s in by_bytes]
    by_samples = sorted(mine, key=lambda s: -s["samples"])[:3]
    assert by_samples[0]["samples"] > 0
    for s in [s for s in by_samples if s["samples"]]:
        assert any(has_frame(a["path"], "main") or has_frame(a["path"], "run") for a in s["accesses"]), s

    broken = [s for s in mine if len(s["allocation_path"]) < 256 and not is_entry(s["allocation_path"][-1])]
    assert broken == []
    for s in mine:
        for f in s["allocation_path"]:
            assert f["class"] and f["method"]


def small_database(workload, jdk):
    return command(workload, jdk, "Database", 50_000, jars=[maven(j) for j in PROGRAMS["Database"]["jars"]])


@pytest.mark.parametrize("form", ["text", "html", "collapsed"])
def test_report_of_a_real_program_in_every_form(workload, profile_once, locus, jdk, tmp_path, form):
    run = profile_once("DatabaseSmall-%d" % jdk.major, small_database(workload, jdk))
    done = locus("report", run.directory, "--format=" + form, "-f", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert ("o.h2." if form == "text" else "org.h2.") in (page_text(text) if form == "html" else text)


@pytest.mark.slow
def test_output_of_a_real_program_stays_its_own(workload, profile, jdk):
    line = small_database(workload, jdk)
    bare, run = run_command(line), profile(line)
    assert (run.stdout, run.stderr) == (bare.stdout, bare.stderr)
