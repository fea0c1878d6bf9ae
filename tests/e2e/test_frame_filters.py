# SPDX-License-Identifier: Apache-2.0
"""--include, --exclude, --hide and --simple: each number is that of the rows of the whole report that pass."""

import collections
import fnmatch
import json

import pytest
from conftest import JDKS, QUICK_JAVAC, run_command
from test_golden_reports import PROFILES

PARTIAL = 3  # exit status


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    return PROFILES["objects"](tmp_path_factory.mktemp("filters") / "objects")


def read(locus, profile, *options, status=0):
    done = locus("report", "--format=json", *options, profile)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def fits(pattern, frame):
    name = "%s.%s" % (frame["class"], frame["method"])
    pattern, _, lines = pattern.partition(":")
    first, _, last = lines.partition("-")
    if lines and not int(first) <= frame["line"] <= int(last or first):
        return False
    return fnmatch.fnmatchcase(name, pattern) if set(pattern) & set("*?") else pattern in name


def passes(path, include, exclude):
    some = [any(fits(p, f) for f in path) for p in include]
    return (any(some) or not include) and not any(fits(p, f) for p in exclude for f in path)


def key(path):
    return tuple((f["class"], f["method"], f["line"], f["bci"]) for f in path)


def rows(report, shorten=lambda path: path, name=lambda cls: cls):
    """(list, class, allocation path, access path) to samples, of all rows with a path; and allocations."""
    samples, allocations = collections.Counter(), collections.Counter()
    for kind in "sites", "classes":
        for site in report[kind]:
            start = kind, name(site["class"]), key(shorten(site.get("allocation_path", [])))
            for a in site["accesses"]:
                samples[(*start, key(shorten(a["path"])))] += a["samples"]
            if site.get("allocations"):
                allocations[start] += site["allocations"]
    for a in report["other_accesses"]:
        samples["other", a["bucket"], (), key(shorten(a["path"]))] += a["samples"]
    return samples, allocations


def kept(report, include, exclude):
    """The rest of a whole report after the filters, from its rows."""
    samples, allocations = collections.Counter(), collections.Counter()
    buckets = collections.Counter({b: n for b, n in report["samples"].items() if b != "total"})
    lists = [("object", "sites"), ("heap_class", "classes"), (None, "other_accesses")]
    for bucket, kind in lists:
        for site in report[kind]:
            accesses = [site] if kind == "other_accesses" else site["accesses"]
            for a in accesses:
                of = bucket or a["bucket"]
                if passes(a["path"], include, exclude):
                    if kind == "other_accesses":
                        samples["other", of, (), key(a["path"])] += a["samples"]
                    else:
                        start = kind, site["class"], key(site.get("allocation_path", []))
                        samples[(*start, key(a["path"]))] += a["samples"]
                else:
                    buckets[of] -= a["samples"]
            if site.get("allocations") and passes(site["allocation_path"], include, exclude):
                allocations[kind, site["class"], key(site["allocation_path"])] += site["allocations"]
    if include:  # what has no path has no frame
        with_path = collections.Counter()
        for bucket, kind in lists:
            for site in report[kind]:
                for a in [site] if kind == "other_accesses" else site["accesses"]:
                    with_path[bucket or a["bucket"]] += a["samples"]
        for b in buckets:
            buckets[b] -= report["samples"][b] - with_path[b]
    return samples, allocations, buckets


FILTERS = {
    "include": (["Chaser.chase"], []),
    "exclude": ([], ["Streamer"]),
    "both": (["com.acme.Main.*"], ["com.acme.*.chase"]),
    "two of each": (["Loader", "bump"], ["x.y.Nothing", "Main.main"]),
    "glob": (["*.str?am"], []),
    "exclude all": ([], ["com.acme"]),
    "a line": (["Chaser.chase:33"], []),
    "lines": (["com.acme.*:1-40", "Streamer.stream:45"], ["Main.main:99", "Main.load:20-25"]),
}


@pytest.mark.parametrize("engine", ["1", "2"])
@pytest.mark.parametrize("name", FILTERS)
def test_filters_leave_the_rows_that_pass(locus, objects, name, engine):
    include, exclude = FILTERS[name]
    options = [o for p in include for o in ("--include", p)] + ["--exclude=" + p for p in exclude]
    whole = read(locus, objects, "--engine", engine)
    wanted, allocations, buckets = kept(whole, include, exclude)
    done = locus("report", "--format=json", "--engine", engine, *options, objects)
    if done.returncode == 1:
        assert not +wanted and not +allocations and not +buckets and done.stderr.count("\n") == 1
        return
    found = json.loads(done.stdout)
    assert +rows(found)[0] == +wanted and rows(found)[1] == allocations
    assert {b: n for b, n in found["samples"].items() if b != "total"} == dict(buckets)
    assert found["samples"]["total"] == sum(buckets.values())
    assert found["filter"] == {"samples_of": whole["samples"]["total"], "include": include, "exclude": exclude}
    assert sum(t["samples"] for t in found["threads"]) == found["samples"]["total"]
    assert sum(r["samples"] for r in found["ranking"]["rows"]) == found["ranking"]["samples"]
    for site in found["sites"]:
        assert site["share"] == pytest.approx(site["samples"] / max(1, found["samples"]["total"]))
    text = locus("report", "--engine", engine, *options, objects).stdout
    line = "%d of %d samples pass the filters" % (found["samples"]["total"], whole["samples"]["total"])
    assert text.splitlines()[1] == line
    assert line in locus("report", "--engine", engine, "--view=code", *options, objects).stdout
    collapsed = locus("report", "--engine", engine, "--format=collapsed", *options, objects).stdout
    assert sum(int(l.rsplit(" ", 1)[1]) for l in collapsed.splitlines()) == found["samples"]["total"]


def test_thread_and_frames_filter_together(locus, objects):
    whole = read(locus, objects, "--thread=worker")
    found = read(locus, objects, "--thread=worker", "--include=Chaser.chase")
    assert +rows(found)[0] == +kept(whole, ["Chaser.chase"], [])[0]
    assert found["filter"]["samples_of"] == read(locus, objects)["samples"]["total"]


def test_hidden_frames_change_no_number(locus, objects):
    whole, found = read(locus, objects), read(locus, objects, "--hide=Chaser.chase", "--hide", "*.main")
    shorten = lambda path: [f for f in path if not fits("Chaser.chase", f) and not fits("*.main", f)]
    assert rows(found) == rows(whole, shorten)
    assert rows(found) != rows(whole)
    for member in "samples", "threads", "engines":
        assert found[member] == whole[member]
    text = locus("report", "--full", "--hide=Chaser.chase", objects).stdout
    assert "Chaser.chase" not in text.split("== Streams and tasks")[0]
    assert "filter" not in found and "pass the filters" not in text


def test_simple_names_have_no_package_and_the_same_numbers(locus, objects):
    short = lambda cls: cls.rsplit(".", 1)[-1]
    shorten = lambda path: [dict(f, **{"class": short(f["class"])}) for f in path]
    whole, found = read(locus, objects), read(locus, objects, "--simple")
    assert rows(found) == rows(whole, shorten, short)
    assert {s["class"] for s in found["classes"]} == {short(s["class"]) for s in whole["classes"]}
    assert found["samples"] == whole["samples"]
    done = locus("report", "--simple", "--source-path=/", objects)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--exclude", "--hide"])
def test_pattern_that_fits_nothing_costs_a_line_and_the_rest_is_shown(locus, objects, option):
    done = locus("report", option, "NoSuchFrame", objects)
    assert done.returncode == PARTIAL
    assert done.stderr == "locus: %s: 'NoSuchFrame' matches no frame of the profile\n" % option
    assert "samples" in done.stdout.splitlines()[0]


def test_filter_that_leaves_nothing_is_one_line(locus, objects):
    done = locus("report", "--include=NoSuchFrame", objects)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "locus: no sample or allocation passes --include and --exclude\n"


def test_numa_takes_the_filters_too(locus, tmp_path):
    profile = PROFILES["numa"](tmp_path / "numa")
    whole = json.loads(locus("numa", "--format=json", profile).stdout)["numa"]
    found = json.loads(locus("numa", "--format=json", "--include=Chaser.chase", profile).stdout)["numa"]
    assert 0 < found["all"]["samples"] < whole["all"]["samples"]


WORK = """
public class Work {
    static long[] left = new long[1 << 21], right = new long[1 << 21];
    static void touch(long[] a, int seed) {
        for (int i = 0; i < 3_000_000; i++) a[(i * 8191 + seed) & (a.length - 1)]++;
    }
    static void one(int i) { touch(left, i); }
    static void two(int i) { touch(right, i); touch(right, i); }
    public static void main(String[] args) {
        java.lang.management.ThreadMXBean clock = java.lang.management.ManagementFactory.getThreadMXBean();
        for (int i = 0; clock.getCurrentThreadCpuTime() < 2_000_000_000L; i++) { one(i); two(i); }
    }
}
"""


def test_callers_of_one_method_on_a_real_program(locus, profile, shared):
    jdk = JDKS[min(JDKS)]

    def make(directory):
        (directory / "Work.java").write_text(WORK)
        run_command([jdk.javac, *QUICK_JAVAC, "-d", directory, directory / "Work.java"])

    run = profile([jdk.java, "-cp", str(shared("work", make)), "Work"])
    whole = run.report()
    for pattern in "Work.one", "Work.two":
        found = run.report("--include", pattern)
        wanted = kept(whole, [pattern], [])
        assert +rows(found)[0] == +wanted[0]
        assert found["samples"]["total"] == sum(wanted[2].values()) > 30
        rest = run.report("--exclude", pattern)
        assert rest["samples"]["total"] + found["samples"]["total"] == whole["samples"]["total"]
