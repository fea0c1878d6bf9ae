# SPDX-License-Identifier: Apache-2.0
"""--format=pprof: read by a decoder of protobuf, and by Go's pprof, it holds what JSON holds."""

import collections
import gzip
import json
import re
import shutil

import pytest
from conftest import BUILD, run_command
from synthetic import Block, Profile, frame
from test_labels import FLEET, fleet, merge, record  # noqa: F401 (fleet is a fixture)
from test_formats import MADE, NAMES, SAME, collapsed, escaped, profiles, report, wanted


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
        assert self.strings[0] == "" and len(set(self.strings)) >= len(self.strings) - 20
        functions = {}
        for f in map(message, top[5]):
            functions[f[1][0]] = self.strings[f[2][0]], self.strings[f[4][0]]
        places = {}
        for location in map(message, top[4]):
            line = message(location[4][0])
            places[location[1][0]] = functions[line[1][0]][0], line[2][0] if line[2] else None
        assert 0 not in places and 0 not in functions
        self.files = {name: file for name, file in functions.values()}
        self.types = [tuple(self.strings[message(t)[i][0]] for i in (1, 2)) for t in top[1]]
        self.period_type = tuple(self.strings[message(top[11][0])[i][0]] for i in (1, 2))
        self.period, self.shown = top[12][0], self.strings[top[14][0]]
        self.samples = []  # stack from the root, labels, values by type
        for sample in map(message, top[2]):
            stack = tuple("%s:%d" % p if p[1] is not None else p[0]
                          for p in (places[i] for i in reversed(numbers(sample[1][0]))))
            labels = {self.strings[l[1][0]]: self.strings[l[2][0]] for l in map(message, sample[3])}
            values = numbers(sample[2][0])
            assert len(values) == len(self.types) and any(values)
            self.samples.append((stack, labels, dict(zip((t[0] for t in self.types), values))))

    def stacks(self, value, label=None, unless="[no call path]"):
        """The stacks of the collapsed form, with a label's text on top."""
        made = collections.Counter()
        for stack, labels, values in self.samples:
            frames = [f for f in stack if f != unless]
            if label:
                frames.append("[%s]" % labels.get(label, labels.get("bucket")))
            made[";".join(f.replace(";", "_") for f in frames or stack)] += values[value]
        return +made

    def sum(self, value, **labels):
        return sum(v[value] for _, l, v in self.samples if labels.items() <= l.items())


def pprof(directory, *arguments):
    file = directory / "x.pb.gz"
    done = run_command([BUILD / "locus", "report", "-f", file, *arguments])
    assert (done.returncode in (0, 3), done.stdout) == (True, ""), done.stderr
    return Pprof(file.read_bytes())


@pytest.mark.parametrize("name, options", [*SAME, ("objects", ["--hide=main", "--simple"])])
def test_stacks_are_those_of_the_collapsed_format(profiles, tmp_path, name, options):
    found = pprof(tmp_path, profiles / name, *options)
    for value, kind, label in (("samples", "access", "class"), ("samples", "code", None),
                               ("bytes", "alloc-bytes", "class"), ("allocations", "alloc-count", "class")):
        assert found.stacks(value, label) == collapsed(profiles, name, kind, *options), kind


@pytest.mark.parametrize("name, options", SAME)
def test_sums_and_latencies_are_those_of_json(profiles, tmp_path, name, options):
    found, total = wanted(profiles, name, options)
    made = pprof(tmp_path, profiles / name, *options)
    assert {value: made.sum(value) for value in total} == total
    latency = found.get("metrics", {}).get("latency_samples", 0) * found.get("metrics", {}).get("latency_mean", 0)
    assert (("latency", "cycles") in made.types) == bool(latency)
    if latency:
        assert made.sum("latency") == round(latency) > 0
    for bucket, n in found["samples"].items():
        if bucket != "total":
            assert made.sum("samples", bucket=bucket) == n, bucket
    for s in found["classes"]:
        assert made.sum("samples", bucket="heap_class", **{"class": escaped(s["class"])}) == s["samples"]


def test_types_period_and_files(tmp_path):
    path = MADE["objects"](tmp_path / "p")
    timer, pebs = pprof(tmp_path, "--engine=timer", path), pprof(tmp_path, "--engine=pebs", path)
    types = [("samples", "count"), ("bytes", "bytes"), ("allocations", "count")]
    assert timer.types == [*types, ("cpu", "nanoseconds")] and timer.period_type == ("cpu", "nanoseconds") and timer.period == 5_000_000
    assert pebs.types == [*types, ("latency", "cycles")] and timer.shown == pebs.shown == "samples"
    for _, _, values in timer.samples:
        assert values["cpu"] == 5_000_000 * values["samples"]
    assert timer.sum("cpu") == 5_000_000 * json.loads(report("--format=json", "--engine=timer", path))["samples"]["total"] > 0
    assert pebs.period_type == ("pebs", "count") and pebs.period == 100_003
    assert pebs.files["com.acme.Chaser.chase"] == "Chaser.java"


def test_profile_without_samples(profiles, tmp_path):
    """Allocations alone: pprof opens it, and shows them."""
    options = ["--engine=watch", "--include=Streamer.stream"]
    _, total = wanted(profiles, "objects", options)
    made = pprof(tmp_path, *options, profiles / "objects")
    assert total["samples"] == made.sum("samples") == 0 < made.sum("bytes") == total["bytes"]
    assert made.shown == "bytes"


def test_labels_tell_thread_and_nodes_where_they_were_recorded(profiles, tmp_path):
    """The same as the matrices of `locus numa`."""
    numa = json.loads(report("--format=json", profiles / "numa"))["numa"]
    made = pprof(tmp_path, profiles / "numa")
    nodes = [n["node"] for n in numa["nodes"]]
    for i, cpu in enumerate(nodes):
        for k, page in enumerate(nodes):
            n = numa["all"]["matrix"][i][k]
            assert made.sum("samples", cpu_node=str(cpu), node=str(page)) == n, (cpu, page)
    for t in numa["threads"]:
        if "\n" not in t["thread"]:
            assert made.sum("samples", thread=t["thread"]) == t["accesses"]["samples"], t
    assert not any("thread" in l or "node" in l for _, l, _ in pprof(tmp_path, profiles / "objects").samples)


def test_labels_tell_on_which_node_threads_allocated(tmp_path):
    """More homes than allocations, as in a profile that lost some, add nothing to the sums."""
    site = ("int[]", (frame("com.acme.Solver", "<init>", 20),))
    profile = Profile(tmp_path / "p")
    profile.append(Block().allocate(*site, 4, 4096).home(site, 0, 1, 1024).home(site, 1, 2, 2048), name="one")
    profile.append(Block().home(site, 1, 9, 9000).access("native", (), 1), name="two", index=1)
    made = pprof(tmp_path, profile.close())
    found = [(l.get("thread"), l.get("node"), v["allocations"], v["bytes"]) for _, l, v in made.samples if v["bytes"]]
    assert found == [("one", "0", 1, 1024), ("one", "1", 2, 2048), ("two", "1", 1, 1024)]


def test_labels_tell_what_was_allocated_where(profiles, tmp_path):
    made = pprof(tmp_path, profiles / "objects")
    found, _ = wanted(profiles, "objects", [])
    (long_array,) = [s for s in found["sites"] if s["class"] == "long[]"]
    row = {"class": "long[]", "allocated": "com.acme.Main.load:20"}
    assert made.sum("samples", bucket="object", **row) == long_array["samples"]
    assert (made.sum("bytes", **row), made.sum("allocations", **row)) == (long_array["bytes"], 2)
    assert made.sum("bytes", estimated="yes") == sum(int(e["bytes"] + 0.5) for e in found["estimates"])


# Labels of processes, which Pyroscope and Parca make series of


HOSTS = {"web1": 17, "web2": 20, "db": 5}  # what the numbers of the fleet's profiles are multiples of


def common(paths, key):
    """The values of a label in all of the fleet's profiles."""
    values = {what.get("labels", {}).get(key) for name, what in FLEET.items() if name in paths}
    return values.pop() if len(values) == 1 else None


def test_one_process_labels_each_sample(fleet, tmp_path):
    for name, what in FLEET.items():
        made = pprof(tmp_path, fleet / "root" / name)
        known = {"pid": str(what.get("pid", 10)), "jdk": what.get("jdk", "17.0.15"), **what.get("labels", {})}
        if what.get("host", "web1"):
            known["host"] = what.get("host", "web1")
        for _, labels, _ in made.samples:
            own = {k: v for k, v in labels.items() if k not in ("class", "bucket", "allocated", "estimated", "thread", "node", "cpu_node")}
            assert own == known, name


@pytest.mark.parametrize("source", ["root", "by-host"])
def test_groups_have_the_labels_of_their_processes(fleet, tmp_path, source):
    """Only the host is the same for web1's two processes: pid, JDK and team differ."""
    made = pprof(tmp_path, "--by=host", fleet / source)
    for host, n in HOSTS.items():
        assert made.sum("samples", host=host) == 20 * n and made.sum("allocations", host=host) == 13 * n, host
        of_host = [labels for _, labels, _ in made.samples if labels.get("host") == host]
        paths = [p for p, what in FLEET.items() if what.get("host", "web1") == host]
        for key in ("team", "zone"):
            assert {l.get(key) for l in of_host} == {common(paths, key)}, (host, key)
        assert {l.get("pid") for l in of_host} == {{"web1": None, "web2": "10", "db": "12"}[host]}
    assert all(stack[0].startswith("host=") for stack, _, _ in made.samples)


def test_samples_of_many_processes_have_what_all_have(fleet, tmp_path):
    made = pprof(tmp_path, fleet / "root/web1/a", fleet / "root/web2/a")
    assert {(l.get("host"), l.get("pid"), l.get("jdk"), l.get("team"), l.get("zone")) for _, l, _ in made.samples} == {
        (None, "10", "17.0.15", "core", None)}


def test_labels_of_a_process_hide_none_of_a_sample(tmp_path):
    """A label that is called as one of ours has another name, and each key comes once in a sample."""
    path = record(tmp_path / "p", 1, labels={"class": "gold", "thread": "blue", "odd": "a\nb"})
    made = pprof(tmp_path, path)
    assert made.sum("samples", **{"class": "byte[]", "label_class": "gold", "label_thread": "blue", "odd": "a\\u000ab"}) == 10
    for sample in map(message, message(gzip.decompress((tmp_path / "x.pb.gz").read_bytes()))[2]):
        keys = [message(label)[1][0] for label in sample[3]]
        assert len(keys) == len(set(keys))


# Go's


@pytest.fixture(scope="module")
def go_pprof():
    go = shutil.which("go")
    if not go:
        pytest.skip("there is no Go, whose pprof would read the profile")

    def top(file, *options):
        done = run_command([go, "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", *options, file])
        if "no such tool" in done.stderr:
            pytest.skip("Go came without its pprof: " + done.stderr.splitlines()[0])
        assert done.returncode == 0, done.stderr
        rows = re.findall(r"^ *(\d+)\w* +\S+% +\S+% +(\d+)\w* +\S+% +(.*)$", done.stdout, re.M)
        return done.stdout, {name: (int(flat), int(whole)) for flat, whole, name in rows}

    return top


@pytest.mark.slow
def test_go_reads_the_same_numbers(profiles, tmp_path, go_pprof):
    for name in ("objects", "odd"):
        file = tmp_path / (name + ".pb.gz")
        report("-f", file, profiles / name)
        found, total = wanted(profiles, name, [])
        for value in ("samples", "bytes", "allocations"):
            said, rows = go_pprof(file, "-sample_index=" + value, "-unit=B")
            assert "Type: " + value in said
            assert sum(flat for flat, _ in rows.values()) == total[value], said
        said, rows = go_pprof(file)
        for m in found["code"]["methods"]:
            assert rows[escaped(m["class"] + "." + m["method"])] == (m["samples"], m["total"]), said
        said, rows = go_pprof(file, "-tagleaf=class")
        for s in found["classes"]:
            samples = s["samples"] + sum(o["samples"] for o in found["sites"] if o["class"] == s["class"])
            assert rows[escaped(s["class"])][0] == samples, said


@pytest.mark.slow
def test_constructors_keep_their_names_in_go(tmp_path, go_pprof):
    """Angle brackets are C++ to it where it may take a name apart."""
    profile = Profile(tmp_path / "p").append(Block().access("jvm", (frame("com.acme.Solver", "<init>", 20),), 5))
    file = tmp_path / "x.pb.gz"
    report("-f", file, profile.close())
    assert go_pprof(file)[1] == {"com.acme.Solver.<init>": (5, 5)}


def test_names_survive(profiles, tmp_path, go_pprof):
    made = pprof(tmp_path, profiles / "odd")
    for i, name in enumerate(NAMES):
        assert made.sum("allocations", **{"class": escaped(name)}) == 3 + i
    file = tmp_path / "x.pb.gz"
    _, rows = go_pprof(file)
    for i, name in enumerate(NAMES):
        assert rows["%s.%s" % (escaped(name), escaped(name))][0] == 16 + 2 * i, name


def test_go_chooses_by_the_labels_of_processes(fleet, tmp_path, go_pprof):
    file = tmp_path / "x.pb.gz"
    report("--by=host", "-f", file, fleet / "by-host")
    for host, n in HOSTS.items():
        _, rows = go_pprof(file, "-tagfocus=host=^%s$" % host)
        assert rows["host=" + host][1] == sum(flat for flat, _ in rows.values()) == 20 * n


def test_cpu_time_that_no_number_holds_is_the_largest(tmp_path):
    """A negative one would be read from it."""
    path = Profile(tmp_path / "p").append(Block().access("jvm", (frame("com.acme.Solver", "solve", 20),), 2**62)).close()
    assert pprof(tmp_path, path).sum("cpu") == 2**63 - 1
