# SPDX-License-Identifier: Apache-2.0
"""`locus diff`: over synthetic profiles with known contents, and of a real program before and after its fix."""

import json
import math
import re
import subprocess
import sys

import pytest
from conftest import BUILD, ROOT
from synthetic import Block, Profile, engine, frame

MAIN = frame("com.acme.Main", "main", 10)
CHASE = frame("com.acme.Chaser", "chase", 33)
Z95 = 1.959964
GROUPS = ("class+line", "class", "field", "package", "site")


def site(cls, line, method="load"):
    return cls, (frame("com.acme.Main", method, line), MAIN)


NODE, PAGE, VALUE, ROWS = (site("com.acme." + c, 20 + i) for i, c in enumerate(("Node", "Page", "ValueInt", "Row[]")))


def profile(path, hits, others=0, allocated=(), **more):
    """`hits`: of each site its samples. `allocated`: of each site how many and how many bytes."""
    block = Block()
    for where, count, size in allocated:
        block.allocate(*where, count, size)
    for where, samples in hits.items():
        if samples:
            block.access("object", (CHASE, MAIN), samples, where)
    if others:
        block.count("native", others)
    return Profile(path, **more).append(block).close()


def diff(locus, *args, status=0):
    done = locus("diff", "--format=json", *args)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def sides(before, after):
    return [w for p in before for w in ("--before", p)] + [w for p in after for w in ("--after", p)]


def place_of(row):
    return row["after"] or row["before"]


def row_of(found, cls, line=None):
    rows = [r for r in found["rows"] if place_of(r)["class"] == cls
            and line in (None, (place_of(r).get("allocated_at") or {}).get("line"))]
    assert len(rows) == 1, found["rows"]
    return rows[0]


def lines_of(done):
    return done.stderr.splitlines()


# The statistics, through the command


@pytest.mark.parametrize("after, of, before, of_before, low, high", [
    (56, 70, 48, 80, 0.0524, 0.3339), (9, 10, 3, 10, 0.1705, 0.8090), (5, 56, 0, 29, -0.0381, 0.1926)])
def test_newcombes_published_intervals_are_those_of_a_row(locus, tmp_path, after, of, before, of_before, low, high):
    found = diff(locus, profile(tmp_path / "b", {NODE: before}, of_before - before, [(NODE, 1, 2000)]),
                 profile(tmp_path / "a", {NODE: after}, of - after, [(NODE, 1, 2000)]))
    share = row_of(found, "com.acme.Node")["share"]
    assert share["before"] == pytest.approx(before / of_before) and share["after"] == pytest.approx(after / of)
    assert (share["low"], share["high"]) == pytest.approx((low, high), abs=6e-5)


def test_the_answer_comes_first_and_names_what_changed_most(locus, tmp_path):
    before = profile(tmp_path / "b", {VALUE: 106, NODE: 200, PAGE: 5}, 689)
    after = profile(tmp_path / "a", {VALUE: 31, NODE: 205, PAGE: 6}, 758)
    done = locus("diff", before, after)
    assert done.returncode == 0 and not done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("c.a.ValueInt 10.6% to 3.1%, significant")
    assert all(len(line) <= 80 for line in lines), lines
    found = diff(locus, before, after)
    assert [r["verdict"] for r in found["rows"]] == ["significant"] + 2 * ["no significant change"]
    assert found["significant"] == 1 and found["compared"] == 3
    # 5 ms each: 530 ms and 155 ms; the limits of the difference are those of the shares, times the sum.
    cpu = found["rows"][0]["cpu_ns"]
    assert (cpu["before"], cpu["after"]) == pytest.approx((530e6, 155e6))
    share = found["rows"][0]["share"]
    assert (cpu["low"], cpu["high"]) == pytest.approx((5e9 * share["low"], 5e9 * share["high"]))
    assert cpu["significant"] is None  # how far the CPU time of runs differs is not known


def test_a_row_says_that_its_objects_are_reached_in_another_way(locus, tmp_path):
    def of(name, node, page):
        block = Block().access("object", (CHASE, MAIN), 300, NODE).access("object", (CHASE, MAIN), 300, PAGE).count("native", 400)
        for where, references in ((NODE, node), (PAGE, page)):
            for reference, samples in references.items():
                block.reach("object", where, (CHASE, MAIN), samples, "com.acme." + reference, "field")
        return Profile(tmp_path / name).append(block).close()

    before = of("b", {"Tree.rows[]": 280, "Tree.root": 20}, {"Tree.pages[]": 140, "Tree.first": 160})
    after = of("a", {"Tree.keys": 300}, {"Tree.pages[]": 160, "Tree.first": 140})
    text = " ".join(locus("diff", before, after).stdout.split())
    assert text.count("before through") == 2
    assert "reached through Tree.keys, before through Tree.rows[]" in text
    assert "reached through Tree.pages[], before through Tree.first" in text
    row = row_of(diff(locus, before, after), "com.acme.Node")
    assert row["before"]["reached_through"] == [{"name": "com.acme.Tree.rows[]", "share": pytest.approx(280 / 300)},
                                                {"name": "com.acme.Tree.root", "share": pytest.approx(20 / 300)}]
    assert row["after"]["reached_through"] == [{"name": "com.acme.Tree.keys", "share": 1}]
    assert "before through" not in locus("diff", before, before).stdout


def test_of_significant_rows_the_one_with_the_largest_change_is_first(locus, tmp_path):
    before = profile(tmp_path / "b", {NODE: 500, PAGE: 100, VALUE: 20}, 1380)
    after = profile(tmp_path / "a", {NODE: 650, PAGE: 400, VALUE: 20}, 930)
    found = diff(locus, before, after)
    assert [place_of(r)["class"] for r in found["rows"]] == ["com.acme.Page", "com.acme.Node", "com.acme.ValueInt"]
    assert found["significant"] == 2
    assert locus("diff", before, after).stdout.startswith(
        "c.a.Page 5.0% to 20.0%, significant; so is 1 of the 2 other rows\n")


def test_interrupts_count_where_the_kernels_tick_is_longer_than_the_interval(locus, tmp_path):
    """Four samples at a time: 56 of 70 and 48 of 80 interrupts, as in Newcombe's first example."""
    slow = [engine(tick_ns=20_000_000)]
    found = diff(locus, profile(tmp_path / "b", {NODE: 192}, 128, engines=slow),
                 profile(tmp_path / "a", {NODE: 224}, 56, engines=slow))["rows"][0]["share"]
    assert (found["low"], found["high"]) == pytest.approx((0.0524, 0.3339), abs=6e-5)


def test_the_error_of_an_estimated_line_is_part_of_the_interval(locus, tmp_path):
    klass, where = ("com.acme.Small", ()), site("com.acme.Small", 50)

    def of(name, hits, variance):
        block = Block().access("heap_class", (CHASE,), hits, klass).count("native", 1000 - hits)
        block.split("hits", klass, where, hits / 2, variance)
        block.split("hits", klass, site("com.acme.Small", 60, "other"), hits / 2, variance)
        return Profile(tmp_path / name).append(block).close()

    before = of("b", 200, 0)
    exact, rough = (next(r["share"] for r in diff(locus, before, of(name, 300, variance))["rows"]
                         if place_of(r)["allocated_at"]["line"] == 50)
                    for name, variance in (("a", 0), ("r", 400)))
    assert exact["change"] == rough["change"] == pytest.approx(0.05)
    # Half of one variance is left in x / (x + y) with two equal ones of 400: squared and added.
    assert exact["change"] - rough["low"] == pytest.approx(
        math.hypot(exact["change"] - exact["low"], Z95 * math.sqrt(200) / 1000), rel=0.05)


def test_of_many_rows_one_must_change_more_to_be_significant(locus, tmp_path):
    def of(name, hits, rows):
        sites = {site("com.acme.C%d" % i, 100 + i): 10 for i in range(rows)}
        return profile(tmp_path / name, {**sites, NODE: hits}, 2000 - hits - 10 * rows)

    few = diff(locus, of("b2", 120, 2), of("a2", 205, 2))
    many = diff(locus, of("b90", 120, 90), of("a90", 205, 90))
    assert row_of(few, "com.acme.Node")["share"]["low"] == row_of(many, "com.acme.Node")["share"]["low"] > 0
    assert row_of(few, "com.acme.Node")["share"]["significant"]
    assert not row_of(many, "com.acme.Node")["share"]["significant"]


def test_runs_that_differ_among_themselves_show_no_change(locus, tmp_path):
    def runs(side, hits):
        return [profile(tmp_path / (side + str(i)), {NODE: n}, 1000 - n) for i, n in enumerate(hits)]

    before, after = runs("b", (100, 300, 200)), runs("a", (250, 450, 320))
    assert diff(locus, before[0], after[0])["significant"] == 1
    found = diff(locus, *sides(before, after))
    assert found["significant"] == 0
    share = found["rows"][0]["share"]
    # Student's interval with 4 degrees of freedom, over shares of .1 .3 .2 and .25 .45 .32.
    squares = 0.02 + sum((x - 0.34) ** 2 for x in (0.25, 0.45, 0.32))
    half = 2.77645 * math.sqrt(squares / 4 * 2 / 3)
    assert (share["before"], share["after"]) == pytest.approx((0.2, 0.34))
    assert (share["low"], share["high"]) == pytest.approx((0.14 - half, 0.14 + half), abs=1e-4)
    steady = diff(locus, *sides(runs("c", (198, 203, 200)), runs("d", (340, 338, 343))))
    assert steady["significant"] == 1 and steady["rows"][0]["cpu_ns"]["significant"]


def test_a_class_whose_lines_are_estimates_changes_only_as_a_whole(locus, tmp_path):
    """Untracked objects are dealt out to lines by sampled allocations, which two runs sample differently."""
    klass = ("com.acme.Small", ())
    first, second = site("com.acme.Small", 50), site("com.acme.Small", 60, "other")

    def of(name, where, hits):
        block = Block().access("heap_class", (CHASE,), hits, klass).count("native", 1000 - hits)
        block.estimate(where, 40, 40_000, 40_000 * 1000, 640_000, 640_000 << 24, [0] * 5)
        block.split("hits", klass, where, hits, 1)
        return Profile(tmp_path / name).append(block).close()

    same = diff(locus, of("b", first, 200), of("a", second, 200))
    assert same["significant"] == 0
    assert sorted(abs(r["share"]["change"]) for r in same["rows"])[-1] == pytest.approx(0.2)
    other = diff(locus, tmp_path / "b", of("c", second, 500))
    assert other["significant"] == 1 and other["rows"][0]["share"]["change"] > 0


@pytest.mark.parametrize("group", ["class+line", "site"])
def test_a_class_whose_lines_one_side_cannot_tell_is_one_row(locus, tmp_path, group):
    """By line the same objects would be gone where a line was told, and new where none was."""
    klass, where = ("com.acme.Small", ()), site("com.acme.Small", 50)

    def of(name, objects):
        block = Block().access("heap_class", (CHASE,), 200, klass).access("object", (CHASE,), 100, NODE).count("native", 700)
        if objects:
            block.split("hits", klass, where, 200, 200**2 / objects)
        return Profile(tmp_path / name).append(block).close()

    told, other, few, none = of("told", 6), of("other", 7), of("few", 4), of("none", 0)
    for untold in (few, none):
        found = diff(locus, "--group", group, told, untold)
        small, node = (row_of(found, "com.acme." + c) for c in ("Small", "Node"))
        assert (small["state"], small["all_lines"]) == ("both", True)
        assert not {"allocated_at", "allocation_path"} & {name for name, value in place_of(small).items() if value}
        assert small["share"]["before"] == small["share"]["after"] == 0.2
        assert "all_lines" not in node
    assert "some profiles do not know the lines" in " ".join(locus("diff", told, few).stdout.split())
    assert "all lines, no significant change" in locus("diff", "--format=markdown", told, few).stdout
    both = diff(locus, "--group", group, told, other)
    assert "all_lines" not in row_of(both, "com.acme.Small") and "some profiles do not" not in locus("diff", told, other).stdout
    neither = row_of(diff(locus, "--group", group, few, none), "com.acme.Small")
    assert "all_lines" not in neither and not place_of(neither).get("allocated_at")


# Matching rows


def test_rows_of_a_method_whose_lines_moved_are_matched(locus, tmp_path):
    """26 and 27 became 27 and 28: what stands at 27 in both is not the same."""
    before = profile(tmp_path / "b", {}, 9, [(site("int[]", 26), 1, 1000), (site("int[]", 27), 2, 2000),
                                            (site("int[]", 90, "gone"), 3, 3000)])
    after = profile(tmp_path / "a", {}, 9, [(site("int[]", 27), 1, 1000), (site("int[]", 28), 2, 2000),
                                           (site("int[]", 90, "made"), 4, 4000)])
    found = diff(locus, before, after)
    states = {(r["state"], r["allocations"]["before"], r["allocations"]["after"]) for r in found["rows"]}
    assert states == {("moved", 1, 1), ("moved", 2, 2), ("gone", 3, 0), ("new", 0, 4)}
    shown = locus("diff", before, after).stdout
    assert "gone; allocations 3 to 0" in shown and "new; allocations 0 to 4" in shown
    moved = profile(tmp_path / "m", {NODE: 50}, 50), profile(tmp_path / "n", {site(NODE[0], 77): 52}, 48)
    shown = locus("diff", *moved, env={"COLUMNS": "120"}).stdout
    assert "c.a.Node <- c.a.Main.load:77 (line 20 before)" in shown and "the line moved" in shown


def test_names_that_the_program_gives_speak_against_a_match(locus, tmp_path):
    def of(name, *stored):
        block = Block().count("native", 5)
        for line, field in stored:
            where = site("int[]", line)
            block.allocate(*where, line, 1000).named(where, "com.acme.Main." + field)
        return Profile(tmp_path / name).append(block).close()

    def states(before, after):
        return {(r["state"], r["allocations"]["before"], r["allocations"]["after"])
                for r in diff(locus, before, after)["rows"]}

    # A row is left on each side; it is the same where the field is.
    assert states(of("b", (20, "re")), of("a", (40, "buffer"))) == {("gone", 20, 0), ("new", 0, 40)}
    assert states(tmp_path / "b", of("c", (40, "re"))) == {("moved", 20, 40)}
    # Another field stands where it stood, and it has moved.
    assert states(tmp_path / "b", of("d", (20, "im"), (40, "re"))) == {("moved", 20, 40), ("new", 0, 20)}
    # The same line, and a new name for the field.
    assert states(tmp_path / "b", of("e", (20, "real"))) == {("both", 20, 20)}


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_has_all_samples_and_allocations_once(locus, tmp_path, group):
    before = profile(tmp_path / "b", {NODE: 40, PAGE: 30, ROWS: 20}, 10, [(NODE, 3, 300), (ROWS, 2, 4000)])
    after = profile(tmp_path / "a", {NODE: 45, VALUE: 7}, 48, [(NODE, 5, 500), (VALUE, 1, 24)])
    found = diff(locus, before, after, "--group", group)
    for i, (samples, allocations, size) in enumerate([(90, 5, 4300), (52, 6, 524)]):
        runs = [row["runs"][i] for row in found["rows"]]
        assert sum(r["samples"] for r in runs) == samples
        if group != "field":
            assert sum(r["allocations"] for r in runs) == allocations
            assert sum(r["bytes"] for r in runs) == size
    if group == "package":
        assert {place_of(r)["package"] for r in found["rows"]} == {"com.acme"}


def test_a_path_of_the_allocation_is_matched_where_only_its_lines_moved(locus, tmp_path):
    def path(line, call):
        return "int[]", (frame("com.acme.Main", "load", line), frame("com.acme.Main", "main", call))

    found = diff(locus, profile(tmp_path / "b", {}, 1, [(path(20, 10), 1, 2000)]),
                 profile(tmp_path / "a", {}, 1, [(path(21, 12), 1, 2000)]), "--group=site")
    assert [r["state"] for r in found["rows"]] == ["moved"]


# Allocations


def test_counts_of_one_profile_a_side_are_exact(locus, tmp_path):
    found = diff(locus, profile(tmp_path / "b", {}, 5, [(NODE, 1000, 64_000_001)]),
                 profile(tmp_path / "a", {}, 5, [(NODE, 1030, 64_000_002)]))
    for name, change in (("allocations", 30), ("bytes", 1)):
        number = found["rows"][0][name]
        assert number["exact"] and number["significant"] and not number["estimate"]
        assert number["change"] == number["low"] == number["high"] == change


def test_counts_of_several_profiles_are_means_with_the_noise_between_them(locus, tmp_path):
    def runs(side, counts):
        return [profile(tmp_path / (side + str(i)), {}, 5, [(NODE, n, 100 * n)]) for i, n in enumerate(counts)]

    found = diff(locus, *sides(runs("b", (9, 11)), runs("a", (18, 22))))["rows"][0]["allocations"]
    assert not found["exact"] and (found["before"], found["after"]) == (10, 20)
    half = 4.30265 * math.sqrt(5)  # Student's, 2 degrees of freedom; squares 2 and 8
    assert (found["low"], found["high"]) == pytest.approx((10 - half, 10 + half), abs=1e-3)
    assert found["significant"]
    same = diff(locus, *sides(runs("c", (9, 9)), runs("d", (9, 9))))["rows"][0]["allocations"]
    assert same["exact"] and not same["significant"]


def test_what_sampled_allocations_say_is_marked_as_an_estimate(locus, tmp_path):
    def of(name, objects):
        block = Block().allocate(*ROWS, 3, 6000).count("native", 5)
        block.estimate(NODE, objects // 1000, objects, 2000 * objects, 16 * objects, objects << 20, [0] * 5)
        return Profile(tmp_path / name).append(block).close()

    before, after = of("b", 400_000), of("a", 900_000)
    found = diff(locus, before, after)
    node = row_of(found, "com.acme.Node")
    half = Z95 * math.sqrt(2000 * (400_000 + 900_000))
    assert node["objects"]["estimate"] and not node["objects"]["exact"] and "allocations" not in node
    assert (node["objects"]["low"], node["objects"]["high"]) == pytest.approx((5e5 - half, 5e5 + half), rel=1e-6)
    shown = locus("diff", before, after).stdout
    assert "~400000 to ~900000, +125.0%" in re.sub(r"\s+", " ", shown)
    assert "counted 3, equal" in shown
    # Both together are an estimate; what is counted alone is none.
    done = locus("diff", "--fail-on=bytes>+3%", "--fail-on=counted-bytes>+3%", before, after)
    assert done.returncode == 1 and len(lines_of(done)) == 1 and "'bytes>+3%' holds" in done.stderr


# --fail-on


@pytest.fixture
def pair(tmp_path):
    return (profile(tmp_path / "b", {VALUE: 40, NODE: 100, PAGE: 60}, 300, [(NODE, 100, 10_000), (PAGE, 7, 70_000)]),
            profile(tmp_path / "a", {VALUE: 140, NODE: 98, PAGE: 62}, 200, [(NODE, 100, 10_000), (PAGE, 8, 80_000)]))


@pytest.mark.parametrize("condition, holds", [
    ("bytes>+3%", "'bytes>+3%' holds: 78.1 KB to 87.9 KB, +12.5%"),
    ("bytes>+13%", None),
    ("bytes(Node)>0", None),
    ("bytes(com.acme.Page)>+9KB", "68.4 KB to 78.1 KB"),
    ("bytes(com.acme.Page)>+10KB", None),
    ("bytes<-1%", None),
    ("counted-allocations>0", "107 to 108"),
    ("allocations(P*)>+14%", "7 to 8"),
    ("allocations(P*)>+15%", None),
    ("share(Value*)>+2pp", "8.0% to 28.0% of the samples, +20.0 points"),
    ("share(Value*)>+29pp", None),
    ("share(*Node)<-9pp", None),
    ("cpu(ValueInt)>+499ms", "200 ms to 700 ms"),
    ("cpu(ValueInt)>+501ms", None),
    ("cpu<-1%", None),
])
def test_a_condition_that_holds_is_one_line_and_status_1(locus, pair, condition, holds):
    done = locus("diff", "--fail-on", condition, *pair)
    assert done.stdout.splitlines()[0].startswith("c.a.ValueInt 8.0% to 28.0%, significant")
    if holds is None:
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert done.returncode == 1 and len(lines_of(done)) == 1
        assert done.stderr.startswith("locus: --fail-on: '%s' holds: " % condition) and holds in done.stderr


@pytest.mark.parametrize("condition", ["share(Value*)>+21pp", "share(*Node)<-0.1pp"])
def test_a_limit_within_the_noise_cannot_be_decided(locus, pair, condition):
    """20.0 points more, and 20.0% to 19.6%: both changes may be beyond the limit."""
    done = locus("diff", "--fail-on", condition, *pair)
    assert done.returncode == 0 and len(lines_of(done)) == 1
    assert done.stderr.startswith("locus: --fail-on: '%s' cannot be decided: " % condition), done.stderr
    assert "several profiles per side" in done.stderr
    assert [c["holds"] for c in diff(locus, "--fail-on", condition, *pair)["fail_on"]] == [None]


def test_estimates_cannot_decide_what_counted_bytes_do(locus, tmp_path):
    """The bytes of 300 sampled objects a side are 32% more or less; the counted bytes are equal."""
    def of(name, objects):
        block = Block().allocate(*ROWS, 3, 6000).count("native", 5)
        block.estimate(NODE, objects // 1000, objects, 1000 * objects, 16 * objects, objects << 20, [0] * 5)
        return Profile(tmp_path / name).append(block).close()

    before, after = of("b", 300_000), of("a", 301_000)
    done = locus("diff", "--fail-on=bytes>+3%", "--fail-on=bytes>+50%", "--fail-on=counted-bytes>+3%", before, after)
    assert done.returncode == 0 and len(lines_of(done)) == 1, done.stderr
    low, high = map(float, re.search(r"'bytes>\+3%' cannot be decided: .*95% interval ([-+.0-9]+)% to ([-+.0-9]+)%; .* counted-bytes", done.stderr).groups())
    half = 100 * Z95 * math.sqrt(601_000 << 20) / (16 * 300_000 + 6000)
    assert low == pytest.approx(0.33 - half, abs=0.2) and high == pytest.approx(0.33 + half, abs=0.2)


def test_each_of_several_conditions_is_told(locus, pair):
    options = ["--fail-on=share(Value*)>+2pp", "--fail-on=bytes>+50%", "--fail-on=share(Nothing)>1pp"]
    done = locus("diff", *options, *pair)
    assert done.returncode == 1
    assert ["holds" in line for line in lines_of(done)] == [True, False]
    assert "'Nothing' matches no row" in lines_of(done)[1]
    found = diff(locus, *options, *pair, status=1)
    assert [(c["condition"], c["holds"]) for c in found["fail_on"]] == [
        ("share(Value*)>+2pp", True), ("bytes>+50%", False), ("share(Nothing)>1pp", None)]
    alone = locus("diff", options[2], *pair)
    assert alone.returncode == 3 and len(lines_of(alone)) == 1 and alone.stdout


@pytest.mark.parametrize("condition, why", [("byts>3%", "did you mean 'bytes'"), ("share>3", "the unit of share"),
                                           ("bytes>-3%", ">+N"), ("share(A>3pp", "')' is missing")])
def test_what_is_no_condition_is_a_wrong_command_line(locus, pair, condition, why):
    done = locus("diff", "--fail-on", condition, *pair)
    assert done.returncode == 2 and not done.stdout and len(lines_of(done)) == 1 and why in done.stderr


# Bad input


def refused(done, *words, status=1):
    assert done.returncode == status and not done.stdout, done
    assert len(lines_of(done)) == 1 and done.stderr.startswith("locus: "), done.stderr
    assert all(word in done.stderr for word in words), done.stderr


def newer(path):
    made = profile(path, {NODE: 5})
    manifest = json.loads((made / "manifest.json").read_text())
    (made / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    return made


def test_wrong_command_lines_are_one_line(locus, pair, tmp_path):
    refused(locus("diff", pair[0]), "name two profiles", status=2)
    refused(locus("diff", *pair, pair[0]), "name two profiles", status=2)
    refused(locus("diff", "--before", *pair), "--before or --after", status=2)
    refused(locus("diff", "--before", pair[0]), "--after is missing", status=2)
    refused(locus("diff", "--file=x.svg", *pair), ".md", status=2)
    refused(locus("diff", "--engine=pebs", *pair), "'pebs'")
    refused(locus("diff", "--file", tmp_path / "no" / "x.json", *pair), "cannot write")


def test_a_profile_that_cannot_be_read_costs_a_line_and_the_rest_is_compared(locus, pair, tmp_path):
    refused(locus("diff", pair[0], tmp_path / "none"), "none")
    refused(locus("diff", newer(tmp_path / "new"), pair[1]), "newer Locus")
    for bad in (tmp_path / "none", tmp_path / "new", Profile(tmp_path / "empty").close()):
        done = locus("diff", *sides([pair[0], bad], pair[1:]))
        assert done.returncode == 3 and len(lines_of(done)) == 1 and str(bad) in done.stderr
        assert "ValueInt 8.0% to 28.0%, significant" in done.stdout


def test_kinds_of_samples_are_never_mixed(locus, tmp_path):
    before = profile(tmp_path / "b", {NODE: 50}, 50, [(NODE, 3, 3000)])
    other = profile(tmp_path / "a", {NODE: 5}, 95, [(NODE, 4, 4000)], engines=[engine(interval_ns=1_000_000)])
    done = locus("diff", before, other)
    assert done.returncode == 3 and len(lines_of(done)) == 1
    assert "timer every 5000000" in done.stderr and "timer every 1000000" in done.stderr
    assert "allocations 3 to 4" in done.stdout and "significant" not in done.stdout
    found = diff(locus, before, other, status=3)
    assert found["engine"] is None and "only allocations are compared" in found["not_compared"]
    assert "share" not in found["rows"][0] and found["rows"][0]["bytes"]["change"] == 1000
    assert locus("diff", "--fail-on=share>1pp", before, other).stderr.count("\n") == 2
    # The one of two engines that both sides have is compared, though the other has more samples.
    block = Block().access("object", (CHASE,), 30, NODE, engine=1).access("object", (CHASE,), 900, NODE)
    both = Profile(tmp_path / "two", engines=[engine("pebs", "LOADS", 99, "loads"), engine()]).append(
        block.count("native", 70, engine=1)).close()
    found = diff(locus, before, both)
    assert found["engine"]["name"] == "timer" and found["rows"][0]["share"]["after"] == pytest.approx(0.3)


def test_a_program_that_still_runs_is_told(locus, tmp_path):
    code = "import mmap,sys; f=open(sys.argv[1]); m=mmap.mmap(f.fileno(),4096,prot=mmap.PROT_READ); " \
           "print(1,flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code, BUILD / "liblocus.so"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as runs:
        runs.stdout.readline()
        after = profile(tmp_path / "a", {NODE: 50}, 50, pid=runs.pid, complete=False)
        done = locus("diff", profile(tmp_path / "b", {NODE: 50}, 50), after)
        runs.stdin.close()
    assert done.returncode == 0 and len(lines_of(done)) == 1 and "is still running" in done.stderr
    assert done.stdout.startswith("no significant change")


# Formats


ODD = ("a|b`<script>alert(1)</script>\n@all #1 *x* [y](z)", (("a|b<i>", "m|`n", "()V", "A.java", 1, 2),))


def test_markdown_is_one_table_whatever_names_hold(locus, tmp_path):
    before, after = profile(tmp_path / "b", {ODD: 10, NODE: 20}, 70), profile(tmp_path / "a", {ODD: 60, NODE: 20}, 20)
    target = tmp_path / "diff.md"
    assert locus("diff", "--file", target, before, after).returncode == 0
    text = target.read_text()
    assert text.startswith("**") and "significant" in text.splitlines()[0]
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {9} and len(table) == 4
    assert "<script" not in text and "@all" not in text and "#1" not in text
    assert not re.search(r"(?<!\\)[`\[]", text)


def test_filters_are_those_of_the_report(locus, pair):
    found = diff(locus, *pair, "--include=Chaser.chase")
    assert [p["samples"] for p in found["profiles"]] == [200, 300]
    done = locus("diff", *pair, "--include=Chaser.chase", "--exclude=Nobody.nowhere")
    assert done.returncode == 3 and len(lines_of(done)) == 1 and "Nobody.nowhere" in done.stderr


# A real program


@pytest.fixture
def spectrum(jdk, shared, profile_once):
    """The demo as it was, and twice after its fix: spectra of three images."""

    def make(directory):
        subprocess.run([jdk.javac, "-g", "-nowarn", "-d", directory, ROOT / "scripts" / "demo" / "Spectrum.java"],
                       check=True, timeout=300)

    classes = shared("diff-spectrum-%d" % jdk.major, make)
    runs = {"before": "as-it-was", "after": "fixed", "again": "fixed"}
    return {name: profile_once("diff-%s-%d" % (name, jdk.major), [jdk.java, "-cp", classes, "Spectrum", how, 3])
            .directory for name, how in runs.items()}


def names_of(row):
    return {n["name"] for n in place_of(row).get("names", [])}


def test_the_demos_fix_names_the_fixed_objects_first(locus, spectrum):
    found = diff(locus, spectrum["before"], spectrum["after"])
    fixed = [r for r in found["rows"] if names_of(r) & {"Spectrum.re", "Spectrum.im"}]
    assert len(fixed) == 2 and found["rows"][0] in fixed and fixed[0]["verdict"] == "significant"
    for row in fixed:
        assert row["share"]["high"] < 0 and row["cpu_ns"]["high"] < 0
        assert row["allocations"]["exact"] and not row["allocations"]["change"]
    assert re.match(r"Spectrum\.(re|im) \(double\[\]\) [0-9.]+% to [0-9.]+%, significant", found["summary"])
    # The fix has two buffers for each image: 8 columns of 2,048 numbers, and an array's header of 16 bytes.
    made = [row for row in found["rows"] if row["state"] == "new" and "allocated_at" in row["after"]
            and row["after"]["allocated_at"]["method"] == "columnsByCopy"]
    assert [(r["allocations"]["after"], r["bytes"]["after"]) for r in made] == 2 * [(3, 3 * (8 * 2048 * 8 + 16))]


@pytest.mark.slow
def test_two_runs_of_one_program_show_no_significant_change(locus, spectrum):
    found = diff(locus, spectrum["after"], spectrum["again"])
    assert found["significant"] == 0 and found["compared"] >= 4
    assert found["summary"].startswith("no significant change")
    own = [r for r in found["rows"] if (place_of(r).get("allocated_at") or {}).get("class") == "Spectrum"
           and "allocations" in r]
    assert len(own) >= 6
    for row in own:
        assert row["allocations"]["exact"] and row["bytes"]["exact"], row
        assert row["allocations"]["change"] == row["bytes"]["change"] == 0, row
    assert locus("diff", "--fail-on=counted-bytes(double*)>0", spectrum["after"], spectrum["again"]).returncode == 0
