# SPDX-License-Identifier: Apache-2.0
"""An interrupt is one observation, however many samples it counts as: in heads, intervals, thresholds, merges and diffs."""

import json

import helpers
import pytest
from synthetic import Block, Profile, engine, frame

MAIN = frame("com.acme.Main", "main", 10)
USE = (frame("com.acme.User", "use", 33), MAIN)


def site(cls, line):
    return cls, (frame("com.acme.Main", "load", line), MAIN)


NODE, PAGE = site("com.acme.Node", 20), site("com.acme.Page", 21)


def stretched(path, rows, **more):
    """`rows`: site, samples and what each interrupt counted as, in this order."""
    block = Block(tells_pairs=True)
    for where, samples, weight in rows:
        block.access("object", USE, samples, where, weight=weight)
    return Profile(path, **more).append(block).close()


def report(locus, *args):
    done = locus("report", "--format=json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def row_of(found, where):
    (row,) = [r for r in found["ranking"]["rows"] if r["class"] == where[0]]
    return row


def wilson(p, n, z=1.959964):
    centre, half = (p + z * z / (2 * n)), z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return [(centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)]


def test_the_head_says_how_many_interrupts_there_were_and_what_they_weighed(locus, tmp_path):
    path = stretched(tmp_path / "p", [(NODE, 100, 1), (NODE, 400, 4), (PAGE, 320, 16)])
    head = locus("report", path).stdout.splitlines()[0]
    assert head.endswith(", 820 samples by 220 interrupts, weights 1 to 16"), head
    full = locus("report", "--full", path).stdout
    assert "\nsamples   820 by 220 interrupts, weights 1 to 16, as good as 99 of equal weight\n" in full
    found = report(locus, path)
    squares = 100 + 100 * 4**2 + 20 * 16**2
    assert found["observations"] == {"effective": pytest.approx(820**2 / squares, abs=0.01), "interrupts": 220,
                                     "lightest": 1, "heaviest": 16}
    assert row_of(found, PAGE)["effective"] == 20 and row_of(found, PAGE)["samples"] == 320


def test_one_weight_is_said_in_fewer_words_and_none_not_at_all(locus, tmp_path):
    def head(name, weight):
        path = stretched(tmp_path / name, [(NODE, 400, weight)])
        return locus("report", path).stdout.splitlines()[0].partition(" s, ")[2]

    assert head("four", 4) == "400 samples by 100 interrupts of weight 4"
    assert head("one", 1) == "400 samples"


def test_intervals_are_of_interrupts(locus, tmp_path):
    found = report(locus, stretched(tmp_path / "p", [(NODE, 400, 8), (PAGE, 1200, 8)]))
    row = row_of(found, NODE)
    assert [row["low"], row["high"]] == pytest.approx(wilson(0.25, 200), abs=1e-4)


def test_a_row_of_four_interrupts_is_part_of_the_rest(locus, tmp_path):
    found = report(locus, stretched(tmp_path / "p", [(NODE, 2000, 1), (PAGE, 64, 16)]))
    assert row_of(found, PAGE)["rest"] and not row_of(found, NODE)["rest"]
    found = report(locus, stretched(tmp_path / "q", [(NODE, 2000, 1), (PAGE, 80, 16)]))
    assert not row_of(found, PAGE)["rest"]


def test_ninety_nine_interrupts_allow_no_verdict(locus, tmp_path):
    found = report(locus, stretched(tmp_path / "few", [(NODE, 99 * 16, 16)]))
    assert found["no_finding"].startswith("too few samples for a verdict (1584, as good as 99 independent ones): ")
    found = report(locus, stretched(tmp_path / "enough", [(NODE, 100 * 16, 16)]))
    assert [f["kind"] for f in found["findings"]] == ["hot-object"]


def test_false_sharing_takes_five_interrupts_of_each_thread(locus, tmp_path):
    def found(name, interrupts):
        profile = Profile(tmp_path / name)
        for index in range(2):
            block = Block(tells_pairs=True)
            block.access("object", USE, 16 * interrupts, NODE, weight=16)
            block.line(1, "object", NODE, USE, 16 * interrupts, 8 * index, access=2, name="count", weight=16)
            profile.append(block, index=index)
        return report(locus, profile.close())["false_sharing"]

    assert not found("four", 4)
    assert len(found("five", 5)) == 1


def test_merging_adds_observations_up_in_any_order(locus, tmp_path):
    inputs = [stretched(tmp_path / "a", [(NODE, 100, 1), (PAGE, 320, 16)], pid=1),
              stretched(tmp_path / "b", [(NODE, 400, 4), (PAGE, 30, 2)], pid=2),
              stretched(tmp_path / "c", [(PAGE, 7, 7)], pid=3)]
    for options in ((), ("--prune=1%",), ("--keep-threads",)):
        merged = []
        for i, order in enumerate((inputs, inputs[::-1])):
            path = tmp_path / ("m%d%s" % (i, options and options[0].strip("-%=1")))
            done = locus("merge", "-o", path, *options, *order)
            assert done.returncode == 0, done.stderr
            merged.append(path)
        files = [{f.name: f.read_bytes() for f in path.iterdir()} for path in merged]
        assert files[0] == files[1]
        found, apart = report(locus, merged[0]), report(locus, *inputs)
        assert found["observations"] == apart["observations"]
        assert found["observations"]["interrupts"] == 100 + 20 + 100 + 15 + 1
        for where in (NODE, PAGE):
            assert {k: row_of(found, where)[k] for k in ("samples", "effective", "low", "high")} == {
                k: row_of(apart, where)[k] for k in ("samples", "effective", "low", "high")}


def test_samples_that_are_chosen_keep_their_observations(locus, tmp_path):
    profile = Profile(tmp_path / "p")
    for index, (where, samples, weight) in enumerate(((NODE, 100, 1), (PAGE, 320, 16))):
        block = Block(tells_pairs=True).access("object", USE, samples, where, weight=weight)
        profile.append(block, index=index, name="t%d" % index)
    path = profile.close()
    assert report(locus, "--thread=t1", path)["observations"] == {
        "effective": 20, "interrupts": 20, "lightest": 16, "heaviest": 16}
    # For some call paths, nothing says what single interrupts weighed.
    some = report(locus, "--include=com.acme.User.use", path)["observations"]
    assert some == report(locus, path)["observations"] | {"interrupts": None, "lightest": None, "heaviest": None}


def old(path, samples=1000, interrupts=250, **more):
    """A profile of before that was told: the manifest has how many interrupts there were."""
    counters = {"engine_timer_samples": interrupts, "engine_timer_overruns": samples - interrupts}
    block = Block().access("object", USE, samples // 4, NODE).access("object", USE, samples - samples // 4, PAGE)
    return Profile(path, counters=counters, **more).append(block).close()


def test_an_old_profile_has_as_many_observations_as_its_manifest_has_interrupts(locus, tmp_path):
    path = old(tmp_path / "old")
    found = report(locus, path)
    assert found["observations"] == {"effective": pytest.approx(250, abs=0.1), "interrupts": None, "lightest": None,
                                     "heaviest": None}
    row = row_of(found, NODE)
    assert [row["low"], row["high"]] == pytest.approx(wilson(0.25, 250), abs=1e-4)
    assert locus("report", path).stdout.splitlines()[0].endswith(", 1000 samples (as good as 250 independent ones)")
    # The rows of a report with a filter, and of a merged profile, are read in another way.
    for other in (report(locus, "--include=*", path), report(locus, *[merge(locus, tmp_path / "m", path)])):
        assert other["observations"]["effective"] == pytest.approx(250, abs=0.1)


def merge(locus, to, *paths):
    done = locus("merge", "-o", to, *paths)
    assert done.returncode == 0, done.stderr
    return to


def test_an_old_profile_beside_a_new_one_keeps_its_own_mean(locus, tmp_path):
    both = merge(locus, tmp_path / "m", old(tmp_path / "old", pid=1),
                 stretched(tmp_path / "new", [(NODE, 100, 1)], pid=2))
    assert report(locus, both)["observations"]["effective"] == pytest.approx(1100**2 / (4 * 1000 + 100), abs=0.1)


def test_an_old_profile_of_a_long_tick_has_an_observation_for_each(locus, tmp_path):
    block = Block().access("object", USE, 400, NODE)
    path = Profile(tmp_path / "p", engines=[engine(interval_ns=1_000_000, tick_ns=4_000_000)]).append(block).close()
    assert report(locus, path)["observations"]["effective"] == pytest.approx(100, abs=0.1)


def test_a_diff_compares_interrupts(locus, tmp_path):
    """Four samples at a time: 56 of 70 and 48 of 80 interrupts, as in Newcombe's first example."""
    def share(name, *rows):
        return stretched(tmp_path / name, rows)

    done = locus("diff", "--format=json", share("b", (NODE, 224, 4), (PAGE, 56, 4)),
                 share("a", (NODE, 192, 4), (PAGE, 128, 4)))
    (row,) = [r for r in json.loads(done.stdout)["rows"] if r["before"]["class"] == NODE[0]]
    assert (row["share"]["low"], row["share"]["high"]) == pytest.approx((-0.3339, -0.0524), abs=6e-5)


def test_a_diff_has_no_verdict_on_a_row_of_four_interrupts(locus, tmp_path):
    def compared(name, interrupts):
        before = stretched(tmp_path / (name + "b"), [(NODE, 4000, 1)])
        after = stretched(tmp_path / (name + "a"), [(NODE, 4000, 1), (PAGE, 64 * interrupts, 64)])
        return json.loads(locus("diff", "--format=json", before, after).stdout)["compared"]

    assert (compared("four", 4), compared("five", 5)) == (1, 2)


def test_a_diff_takes_a_row_of_heavy_interrupts_for_what_they_are(locus, tmp_path):
    """The row has 1 of 6 samples, by 10 interrupts or by 200, among others of which as many are heavy."""
    def change(name, *rows):
        before = stretched(tmp_path / (name + "b"), [(NODE, 1000, 1), (PAGE, 200, 1)])
        after = stretched(tmp_path / (name + "a"), rows)
        (row,) = [r for r in json.loads(locus("diff", "--format=json", before, after).stdout)["rows"]
                  if r["before"]["class"] == PAGE[0]]
        return row["share"]["high"] - row["share"]["low"]

    heavy = change("heavy", (NODE, 1000, 1), (PAGE, 200, 20))
    assert heavy > 1.5 * change("light", (NODE, 800, 1), (NODE, 200, 20), (PAGE, 200, 1))


@pytest.mark.smoke
def test_a_report_counts_the_interrupts_that_the_agent_counted(profile, locus, workload, jdk):
    """With an interval shorter than the kernel's tick each interrupt counts as several samples."""
    run = profile(helpers.command(workload, jdk, "KnownShares", 1, 1.5), "--interval=500us", "--budget=none")
    found = report(locus, run.directory)
    counters = found["processes"][0]["counters"]
    interrupts, overruns = (counters["engine_timer_" + c] for c in ("samples", "overruns"))
    seen = found["observations"]
    lost = found["samples"]["lost"]
    assert found["samples"]["total"] - lost == interrupts + overruns
    assert seen["interrupts"] == interrupts > 20
    assert seen["heaviest"] >= 2 and seen["lightest"] >= 1
    assert seen["effective"] <= interrupts * 1.0001 and overruns > interrupts / 2
