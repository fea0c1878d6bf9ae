# SPDX-License-Identifier: Apache-2.0
"""Which cases `make test` runs: a test's own name draws its JDK, collector and tier, and some tests name what they cover."""

import collections
import re
import shutil
import sys

import pytest
from conftest import JDK_MAJORS, ROOT, RUNTIME_MAJORS, of_shard, recording_of, run_command, shard_of
from helpers import COLLECTORS

SOME = ("test_copies.py", "test_watch.py")
NAMED = {  # what each test covers whatever the hash draws
    ("test_before_attach.py", "test_what_has_moved_has_a_site"): ("G1", "Parallel"),
    ("test_gc.py", "test_no_interval_is_wrong_when_the_heap_is_tight"): ("Parallel", "Serial"),
    ("test_allocation.py", "test_every_bytecode_and_intrinsic_is_counted_exactly"): ("interpreted", "C1"),
    ("test_small_objects.py", "test_every_object_is_counted_exactly"): ("interpreted", "C1"),
    ("test_runtimes.py", "test_no_interval_is_wrong_over_two_hundred_collections"): ["jdk21-" + gc for gc in COLLECTORS],
    ("test_runtimes.py", "test_share_of_each_site_is_its_share_of_cpu_time"): ["jdk%d" % major for major in RUNTIME_MAJORS],
    ("test_intervals.py", "test_intervals_hold_the_truth_as_often_as_they_say"): ("few",),
}


@pytest.fixture
def copied(tmp_path):
    """A directory with copies of all tests, so that a further one can lie beside them."""
    directory = tmp_path / "tests" / "e2e"
    directory.mkdir(parents=True)
    for of, target in ((ROOT, tmp_path), (ROOT / "tests", tmp_path / "tests")):
        for path in of.iterdir():
            if not (target / path.name).exists():
                (target / path.name).symlink_to(path)
    for file in (ROOT / "tests" / "e2e").glob("*.py"):
        shutil.copy(file, directory)
    return directory


def drawn(directory, *files):
    """The cases that `make test` runs, by file and test."""
    words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-m", "not slow"]
    done = run_command([*words, *(directory / file for file in files)])
    assert done.returncode == 0, done.stdout + done.stderr
    cases = collections.defaultdict(set)
    for file, test, case in re.findall(r"(\w+\.py)::(\w+)(?:\[(.*)\])?$", done.stdout, re.M):
        cases[file, test].add(case)
    return cases


def test_a_further_test_moves_no_other(copied):
    before = drawn(copied, *SOME)
    (copied / "test_aaa.py").write_text("def test_first(jdk):\n    pass\n")
    after = drawn(copied, "test_aaa.py", *SOME)
    assert len(after.pop(("test_aaa.py", "test_first"))) == 1
    assert after == before
    # A run of one file alone, which pytest names in another way, has the same cases.
    assert drawn(copied, "test_watch.py") == {key: of for key, of in before.items() if key[0] == "test_watch.py"}


class Item:
    """A case as pytest has it: its number, its markers, and its parameters."""

    def __init__(self, number=0, **more):
        self.number, self.markers = number, {name: getattr(pytest.mark, name)(*args).mark for name, args in more.pop("markers", {}).items()}
        self.callspec = type("Callspec", (), {"params": more})

    def get_closest_marker(self, name):
        return self.markers.get(name)


def test_each_slow_test_is_in_one_shard():
    slow = [Item(i, markers={"slow": (), **({"seconds": (1000 + i,)} if i % 7 == 0 else {})}) for i in range(50)]
    others = [Item(i) for i in range(50, 60)]
    parts = [of_shard([*slow, *others], k, 3) for k in (1, 2, 3)]
    numbers = [sorted(item.number for item in part) for part in parts]
    assert all(part[-10:] == list(range(50, 60)) for part in numbers)
    assert sorted(n for part in numbers for n in part[:-10]) == list(range(50))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    for wrong in ("4/3", "0/3"):
        with pytest.raises(ValueError):
            shard_of(wrong)


def test_the_option_chooses_the_shard():
    def slow(shard):
        words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-m", "slow", "--shard=" + shard]
        return re.findall(r"(\w+\.py::.*)$", run_command([*words, ROOT / "tests/e2e/test_watch.py"]).stdout, re.M)

    every, part = slow("1/1"), slow("2/3")
    assert len(every) > 20 and set(part) < set(every) and abs(3 * len(part) - len(every)) <= 3


def test_tests_of_one_recording_have_the_same_name_to_draw_by():
    asked = [Item(markers={"recording": ("findings-{of[mode]}",)}, of={"mode": "header", "site": "square"}),
             Item(markers={"recording": ("findings-{mode}",)}, mode="header"), Item(markers={"recording": ("findings-header",)})]
    assert {recording_of(item) for item in asked} == {("findings-header",)} and recording_of(Item(mode="header")) == ()


def drawn_of(request, copied):
    """The cases of all tests that `make test` runs: those of this run, if it has collected all, since to collect them takes seconds."""
    option, asked = request.config.option, {(request.config.invocation_params.dir / arg).resolve() for arg in request.config.args}
    if ROOT / "tests/e2e" not in asked or option.keyword or option.only_of:
        return drawn(copied, ".")
    cases = collections.defaultdict(set)
    for item in request.session.items:
        if not item.get_closest_marker("slow"):
            cases[item.path.name, item.originalname].add(item.callspec.id if hasattr(item, "callspec") else "")
    return cases


def test_all_places_come_up_and_what_is_named_does_in_any_case(request, copied):
    """The hash favours no JDK and no collector."""
    cases, count = drawn_of(request, copied), collections.Counter()
    for case in (case for of in cases.values() for case in of):
        count.update(re.findall(r"jdk\d+|Serial|Parallel|G1", case))
    for places in (["jdk%d" % major for major in JDK_MAJORS], COLLECTORS):
        assert min(count[p] for p in places) > 0.6 * max(count[p] for p in places), count
    for key, words in NAMED.items():
        for word in words:
            assert any(set(word.split("-")) <= set(case.split("-")) for case in cases[key]), (key, word, cases[key])
