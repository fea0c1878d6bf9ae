# SPDX-License-Identifier: Apache-2.0
"""Tests that fail once: what `scripts/test` makes of them, and what tests/flaky.md may hold."""

import datetime

import pytest
from conftest import BUILD, ROOT, run_command

TODAY = datetime.date(2026, 3, 20)
HEAD = "# List\n\n| test | date | what was seen | whose it is |\n| --- | --- | --- | --- |\n"
HERE = "tests/e2e/test_flaky.py::test_a_list_that_is_in_order"
FAILS = '''import pathlib
import pytest

def fails(name, times):
    """Fails so many times."""
    file = pathlib.Path(__file__).with_name(name)
    count = int(file.read_text()) if file.exists() else 0
    file.write_text(str(count + 1))
    assert count >= times, "failed | for the %d. time" % (count + 1)

@pytest.mark.parametrize("case", ["a|b"])
def test_first(case):
    fails("first", FIRST)

def test_second():
    pass

@pytest.mark.quiet
def test_third():
    fails("third", THIRD)
'''
ONCE = "tests/e2e/test_once.py::test_first[a|b]"


def check(path, text):
    path.write_text(text)
    return run_command([ROOT / "scripts/flaky", "check", "--list", path, "--today", TODAY.isoformat()])


def entry(test=HERE, days=0, seen="3 != 4", owner="Jo"):
    return "| %s | %s | %s | %s |\n" % (test, TODAY - datetime.timedelta(days), seen, owner)


def test_a_list_that_is_in_order(tmp_path):
    done = check(tmp_path / "list", HEAD + 9 * entry(days=14) + entry(test=HERE + "[jdk17-a\\|b]"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("strict, status", [("", 1), ("Strict from 2026-03-20.", 1), ("Strict from 2026-03-21.", 0)])
def test_a_new_list_is_filled_before_it_is_strict(tmp_path, strict, status):
    (tmp_path / "list").write_text("%s\n\n%s" % (strict, HEAD))
    (tmp_path / "failed").write_text(HERE + "\t3 != 4\n")
    done = run_command([ROOT / "scripts/flaky", "judge", tmp_path / "failed", "--list", tmp_path / "list", "--today", TODAY.isoformat()])
    assert done.returncode == status and HERE in done.stdout


@pytest.mark.parametrize("rows, why", [
    (11 * entry(), "11 entries, 10 at most"),
    (entry(days=15), "listed for 15 days, 14 at most"),
    (entry(days=-1), "is to come"),
    (entry(test="tests/e2e/test_flaky.py::test_none"), "there is no such test"),
    (entry(test="tests/e2e/test_none.py::test_none"), "there is no such test"),
    (entry(owner=""), "four cells"),
    ("| %s | 3.4. | x | y |\n" % HERE, "'3.4.' is no date"),
], ids=["many", "old", "early", "test", "file", "owner", "date"])
def test_a_list_that_is_not(tmp_path, rows, why):
    done = check(tmp_path / "list", HEAD + rows)
    assert done.returncode == 1 and why in done.stderr, done.stderr


def test_the_list_of_this_tree_is_in_order():
    done = run_command([ROOT / "scripts/flaky", "check"])
    assert done.returncode == 0, done.stderr


@pytest.fixture
def tree(tmp_path):
    """tree(first, third, *rows) runs `scripts/test end-to-end` of a tree with three tests, two of which fail so many times."""
    for of, target, but in ((ROOT, tmp_path, ("tests", "build")), (ROOT / "tests", tmp_path / "tests", ("e2e", "flaky.md")), (BUILD, tmp_path / "build", ())):
        target.mkdir(exist_ok=True)
        for path in of.iterdir():
            if path.name not in but and (of != BUILD or path.is_file()) and path.suffix != ".log" and not path.name.startswith("failed"):
                (target / path.name).symlink_to(path)
    tests = tmp_path / "tests" / "e2e"
    tests.mkdir()
    for name in ("conftest.py", "browser.py"):
        (tests / name).symlink_to(ROOT / "tests/e2e" / name)

    def run(first, third, *rows):
        (tests / "test_once.py").write_text(FAILS.replace("FIRST", str(first)).replace("THIRD", str(third)))
        (tmp_path / "tests" / "flaky.md").write_text(HEAD + "".join(rows))
        done = run_command([tmp_path / "scripts/test", "end-to-end"], env={"LOCUS_BUILD": str(tmp_path / "build"), "TEST_WORKERS": "2"}, cwd=tmp_path)
        return done, done.stdout.partition("== totals\n")[2]

    return run


def listed(test=ONCE):
    return "| %s | %s | seen | Jo |\n" % (test.replace("|", "\\|"), datetime.date.today())


def test_what_fails_once_and_is_not_listed_is_red(tree):
    done, totals = tree(1, 0)
    assert done.returncode == 1, done.stdout + done.stderr
    row = "| tests/e2e/test_once.py::test_first[a\\|b] | %s | AssertionError: failed \\| for the 1. time" % datetime.date.today()
    assert row in totals and "again: 3 of 3" in totals and "FAIL" not in totals
    assert "\n3 passed in" in totals


def test_what_fails_once_and_is_listed_is_green(tree):
    done, totals = tree(1, 1, listed(), listed("tests/e2e/test_once.py::test_third"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "listed in tests/flaky.md: " + ONCE in totals and "| %s |" % datetime.date.today() not in totals


def test_what_fails_twice_is_red_though_it_is_listed(tree):
    done, totals = tree(0, 2, listed(), listed("tests/e2e/test_once.py::test_third"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL  end to end, what failed, again: 1 of 3" in totals and "1 failed" in totals
