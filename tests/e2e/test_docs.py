# SPDX-License-Identifier: Apache-2.0
"""The parts of the documentation that a program can check: links, commands, options, and README's figures and sample."""

import functools
import re

import pytest
from conftest import BUILD, ROOT, run_command

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
IDS = [str(p.relative_to(ROOT)) for p in PAGES]
FOREIGN = {"--password", "--token", "--basetemp", "--cap-add", "--privileged", "--security-opt"}  # options of other programs


BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)


def prose(page):
    """The page without its blocks of code."""
    return BLOCK.sub("", page.read_text())


def anchor(title):
    """The anchor that GitHub makes of a heading's text."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def anchors(page):
    return {anchor(re.sub(r"[`*]", "", m[1])) for m in re.finditer(r"^#+ (.*?) *$", prose(page), re.M)}


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if not re.match(r"https?://", target):
            path, _, heading = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            assert there.exists(), target
            assert not heading or heading in anchors(there), target


@functools.lru_cache(None)
def help_of(command):
    done = run_command([BUILD / "locus", "help", *command.split()])
    return done.stdout if done.returncode == 0 else None


def commands_in(page):
    """[words of each `locus ...`] of a page: inline code and lines of code blocks."""
    lines = [line for block in BLOCK.findall(page.read_text()) for line in re.sub(r"\\\n", " ", block).splitlines()]
    inline = re.findall(r"`([^`]+)`", prose(page))
    for line in [*lines, *(" ".join(code.split()) for code in inline)]:
        found = re.match(r"\s*(?:\$ )?(?:sudo )?locus ([a-z][a-z-]+)\b(?!:)(.*)", line)
        if found and found[1] != "help":
            yield found[1], found[2]


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_commands_and_options_exist(page):
    """Options behind -- are of the program that is run."""
    for command, rest in commands_in(page):
        told = help_of(command)
        assert told, "locus " + command
        own = re.split(r" -- |[|;&#]", rest)[0]
        for option in re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", own):
            assert re.search(r"%s\b(?!-)" % option, told), "locus %s %s" % (command, option)


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_options_named_alone_are_some_commands(page):
    every = "\n".join(filter(None, (help_of(c) for c in re.findall(r"^  ([a-z][a-z-]+) ", help_of(""), re.M))))
    every += "".join((ROOT / "docs/man" / name).read_text().replace("\\-", "-") for name in ("locus-mpi.1.in", "locus-jmh.1.in"))
    scripts = "\n".join(p.read_text(errors="replace") for p in [ROOT / "Makefile", *(ROOT / "scripts").rglob("*"),
                                                               ROOT / "tests/e2e/conftest.py"] if p.is_file() and p.suffix != ".class")
    for option in set(re.findall(r"`(--[a-z][a-z-]*)[^`]*`", page.read_text())):
        assert option in FOREIGN or option in every or option in scripts, option


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 110 and max(map(len, lines)) <= 100 and sum(len(line.split()) for line in lines) <= 900


def test_the_readmes_finding_is_what_a_report_of_the_demo_prints(locus):
    """Each line of the sample is one of the report's, in order; the profile is kept."""
    sample = re.search(r"as `locus report` prints it[^`]*```\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    printed = iter(locus("report", ROOT / "tests/data/profiles/spectrum").stdout.splitlines())
    lines = [line for line in sample.splitlines() if line]
    assert len(lines) > 5
    for line in lines:
        assert line in printed, line  # an iterator: what comes before it is gone


def test_the_readmes_costs_are_those_of_the_evaluation():
    """The means with an interval are those of real programs, of Locus, async-profiler and JFR in this order."""
    readme = " ".join((ROOT / "README.md").read_text().split())
    table = (ROOT / "docs/EVALUATION.md").read_text().split("\n## CPU time\n", 1)[1]
    head = next(line for line in table.splitlines() if line.startswith("| program"))
    titles = [cell.strip() for cell in head.strip("|").split("|")]
    row = re.search(r"^\| \*(\d+) programs, geometric mean\*.*$", table, re.M)
    cells = dict(zip(titles, (cell.strip() for cell in row[0].strip("|").split("|"))))
    assert "geometric mean of %s real programs" % row[1] in readme
    told = [re.sub(r"\[([\d.]+), ([\d.]+)\]", r"(\1 to \2)", cells[of]) for of in ("Locus", "async-profiler cpu,alloc", "JFR profile")]
    assert re.findall(r"\d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\)", readme) == told
