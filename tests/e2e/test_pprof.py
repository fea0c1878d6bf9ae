"""--format=pprof: read by a decoder of protobuf, it holds the stacks of --format=collapsed."""

import collections
import gzip
import json

import pytest
from conftest import BUILD, run_command
from test_golden_reports import PROFILES


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def message(data):
    """Field number to its values, in the order in which they stand."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        else:
            assert tag & 7 == 0
        fields[tag >> 3].append(value)
    return fields


def numbers(data):
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


class Pprof:
    """Fields are numbered as in profile.proto."""

    def __init__(self, data):
        top = message(gzip.decompress(data))
        self.strings = [s.decode() for s in top[6]]
        assert self.strings[0] == ""
        functions = {}
        for f in map(message, top[5]):
            functions[f[1][0]] = self.strings[f[2][0]], self.strings[f[4][0]]
        places = {}
        for location in map(message, top[4]):
            line = message(location[4][0])
            places[location[1][0]] = functions[line[1][0]][0], line[2][0] if line[2] else None
        assert 0 not in places and 0 not in functions
        self.files = {name: file for name, file in functions.values()}
        self.stacks = collections.Counter()
        for sample in map(message, top[2]):
            stack = [places[i] for i in numbers(sample[1][0])]
            (count,) = numbers(sample[2][0])
            self.stacks[tuple("%s:%d" % p if p[1] is not None else p[0] for p in reversed(stack))] += count
        self.types = [tuple(self.strings[message(t)[i][0]] for i in (1, 2)) for t in (top[1][0], top[11][0])]
        self.period = top[12][0]


def collapsed(locus, *arguments):
    stacks = collections.Counter()
    for line in locus("report", "--format=collapsed", "--stacks=objects", *arguments).stdout.splitlines():
        stack, count = line.rsplit(" ", 1)
        stacks[stack] += int(count)
    return stacks


def pprof(directory, *arguments):
    file = directory / "x.pb.gz"
    done = run_command([BUILD / "locus", "report", "-f", file, *arguments])
    assert (done.returncode in (0, 3), done.stdout) == (True, ""), done.stderr
    return Pprof(file.read_bytes())


@pytest.mark.parametrize("name, options", [
    ("objects", []), ("objects", ["--engine=timer"]), ("objects", ["--include=Chaser.chase"]), ("numa", []),
    ("spans", []), ("damaged", []), ("objects", ["--hide=main", "--simple"]),
])
def test_stacks_are_those_of_the_collapsed_format(locus, tmp_path, name, options):
    path = PROFILES[name](tmp_path / name)
    found = pprof(tmp_path, path, *options)
    joined = collections.Counter()
    for stack, count in found.stacks.items():
        joined[";".join(frame.replace(";", "_") for frame in stack)] += count
    wanted = collapsed(locus, path, *options)
    assert joined == wanted and sum(wanted.values()) > 0


def test_types_period_and_files(tmp_path):
    path = PROFILES["objects"](tmp_path / "p")
    timer, pebs = pprof(tmp_path, "--engine=timer", path), pprof(tmp_path, "--engine=pebs", path)
    assert timer.types == [("samples", "count"), ("cpu", "nanoseconds")] and timer.period == 5_000_000
    assert pebs.types == [("samples", "count"), ("pebs", "count")] and pebs.period == 100_003
    assert pebs.files["com.acme.Chaser.chase"] == "Chaser.java"


def test_profile_without_samples(locus, tmp_path):
    """Allocations alone: pprof opens it, and finds no sample."""
    path = PROFILES["objects"](tmp_path / "p")
    found = json.loads(locus("report", "--format=json", "--engine=watch", "--include=Chaser.chase", path).stdout)
    assert found["samples"]["total"] == 0
    assert not pprof(tmp_path, "--engine=watch", "--include=Chaser.chase", path).stacks
