# SPDX-License-Identifier: Apache-2.0
"""The first screen says where samples are if most are at no object, and fits 60 columns and 40 lines.

Narrower screens may have more lines, and keep methods whole.
"""

import json
import re

import pytest
from conftest import ROOT

PROFILES = ROOT / "tests" / "data" / "profiles"


def screen(locus, name, *options, columns=80):
    return locus("report", *options, PROFILES / name, env={"COLUMNS": str(columns)}).stdout


@pytest.mark.parametrize("name", ("lucene", "google-java-format"))
def test_most_samples_elsewhere_are_divided_by_what_ran(locus, name):
    found = json.loads(locus("report", "--format=json", PROFILES / name).stdout)
    total, where = found["samples"]["total"], found["details"]["where"]
    line = next(x for x in screen(locus, name, columns=400).splitlines() if "% are elsewhere: " in x)
    assert line.startswith("%.1f%% are" % (100 * (1 - found["ranking"]["samples"] / total)))
    parts = {text: int(share) for text, share in re.findall(r"[:,] ([A-Za-z ]+?) (\d+)%", line)}
    # Code of the JVM and of the interpreter may also be at objects, so these are bounds.
    assert parts["interpreter"] <= round(100 * where["interpreter"] / total)
    assert parts["libjvm"] <= round(100 * where["jvm"] / total)
    jvm = found["samples"]["jvm"]
    assert parts["interpreter"] + parts["libjvm"] + parts["stack or JVM memory"] == pytest.approx(100 * jvm / total, abs=1.5)
    largest = max(parts, key=parts.get)
    assert line.endswith("--since leaves the warm-up out" if largest == "interpreter" else "--view=code shows where compiled code calculates")


@pytest.mark.parametrize("name", ("spectrum", "h2", "numa-collect"))
def test_nothing_is_said_if_most_samples_are_at_objects(locus, name):
    assert "elsewhere" not in screen(locus, name)


@pytest.mark.parametrize("options", ((), ("--app=nothing.*",), ("--group=class",), ("--app=java.util.*", "--app=org.*")), ids=" ".join)
@pytest.mark.parametrize("name", ("lucene", "google-java-format", "h2", "spectrum", "numa-collect"))
def test_the_first_screen_of_a_real_program_fits(locus, name, options):
    for columns in (60, 80):
        lines = screen(locus, name, *options, columns=columns).splitlines()
        assert len(lines) <= 40 and max(map(len, lines)) <= columns, "\n".join(lines)


@pytest.mark.parametrize("columns", (40, 60, 66, 80))
@pytest.mark.parametrize("name", ("lucene", "google-java-format", "h2", "spectrum", "numa-collect"))
def test_tables_of_a_narrow_screen_fit_and_keep_methods_whole(locus, name, columns):
    table = re.compile(r"^ {21}\S|^ *\d+\.\d%")
    lines = [x for x in screen(locus, name, columns=columns).splitlines() if table.match(x)]
    assert lines and max(map(len, lines)) <= columns
    method = re.compile(r"[\w$<>]+:\d+")
    known = {m for x in screen(locus, name, columns=1000).splitlines() if table.match(x) for m in method.findall(x)}
    assert len(known) >= 2
    cut = {m for x in lines for m in method.findall(x)} - known
    # With 40 columns, 19 are left beside the shares.
    assert not cut if columns > 40 else len(cut) <= 2, cut
