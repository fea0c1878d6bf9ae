# SPDX-License-Identifier: Apache-2.0
"""scripts/check-words: which beginnings of sentences it finds, and which it leaves alone."""

import pytest
from conftest import ROOT, run_command


def check(path, name, text, *folders):
    (path / "scripts").mkdir()
    (path / "scripts/check-words").symlink_to(ROOT / "scripts/check-words")
    (path / name).parent.mkdir(parents=True, exist_ok=True)
    (path / name).write_text(text)
    return run_command([path / "scripts/check-words", *folders])


@pytest.mark.parametrize("name, text, line", [
    ("src/a.c", "int a;\n\n/* Of a row. */\n", 3),
    ("src/b/a.h", "/*\n * A row. Others\n * follow. Then it ends.\n */\n", 3),
    ("analyzer/a.c", "int a; // Counts. As before\n", 1),
    ("src/a.def", "/*\n * A row.\n *\n * Where it begins: at 0.\n */\n", 4),
    ("src/a.c", "/*\n * - Those of threads.\n */\n", 2),
    ("src/a.java", "/** Of a row. */\n", 1),
    ("scripts/a.py", '"""A module."""\n\nX = 1  # Of a row.\n', 3),
    ("scripts/a.py", 'def f():\n    """A function. As before."""\n', 2),
    ("tests/e2e/a.py", 'def f():\n    """What it does."""\n    return "Of a row."\n', 2),
    ("docs/man/a.1.in", ".SH NAME\nA line.\n.SS What it does\n", 3),
    ("docs/man/a.1.in", "A line.\n.PP\nOf \\fBrows\\fR.\n", 3),
    ("README.md", "# Title\n\nA line. What it\nmeans.\n", 3),
    ("README.md", "# Title\n\n## What it does\n\nA line.\n", 3),
    ("docs/a/b.md", "| a | b |\n| - | - |\n| Whose it is | b |\n", 3),
])
def test_a_sentence_that_begins_so(tmp_path, name, text, line):
    done = check(tmp_path, name, text)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("%s:%d: " % (name, line))


@pytest.mark.parametrize("name, text", [
    ("src/a.c", "/* Where is it? Elsewhere: As said. Thenar, the top; then `Of`. */\n"),
    ("src/a.c", 'const char *Of = "/* Of a string. */ What";\n'),
    ("src/a.txt", "/* Of a row. */\n"),
    ("scripts/a.py", 'Of = "Of"  # the name\n'),
    ("docs/man/a.1.in", ".B Of\nall rows.\n"),
    ("README.md", "# What does it do?\n\n```\nWhat?\nOf code.\n```\n\n| What | Where |\n| --- | --- |\n| a | b |\n"),
    ("docs/a.md", "[What is it?](a.md) Ask `Of it`. See [a](b.md).\n"),
    ("docs/EVALUATION.md", "Of all programs.\n"),
])
def test_nothing_to_find(tmp_path, name, text):
    done = check(tmp_path, name, text)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("folder, status", [("src", 1), ("src/b", 0), ("src/none", 2)])
def test_only_the_files_below_a_folder(tmp_path, folder, status):
    (tmp_path / "src/b").mkdir(parents=True)
    assert check(tmp_path, "src/a.c", "/* Of a row. */\n", folder).returncode == status
