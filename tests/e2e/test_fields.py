# SPDX-License-Identifier: Apache-2.0
"""Fields, ranges of elements, and shared cache lines, against programs of which they are known."""

import json
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, COMMAND_SECONDS, EXPORTS, JDK_MAJORS, QUICK_JAVAC, ROOT, run_command
from helpers import COLLECTORS, collector, command, each_pair, each_value, has_frame, page_data, report, truth

TOOLS = ROOT / "tests" / "tools"
AGENT_SOURCES = [
    "jvm/layout/field.c",
    "jvm/layout/field_ask.c",
    "jvm/layout/field_layout.c",
    "jvm/layout/unsafe.c",
    "core/refs.c",
    "base/options.c",
    "jvm/layout/vmstructs.c",
    "core/epoch.c",
    "core/jvmti.c",
    "core/own_cost.c",
    "jvm/layout/layout.c",
    "jvm/layout/layout_classes.c",
    "jvm/os/peek.c",
]
TIMER = ("-e", "timer", "--interval=1ms")


@pytest.fixture(scope="module")
def agent(shared):
    """field_agent as a shared library, for the headers of whichever JDK there is."""
    return shared("field-agent", build_agent) / "libfield_agent.so"


def build_agent(directory):
    compiler = shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        pytest.skip("no C compiler")
    home = run_command([ROOT / "scripts" / "find-jdk"]).stdout.strip()
    subprocess.run(
        [compiler, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-w", "-I", ROOT]
        + ["-I", home + "/include", "-I", home + "/include/linux", "-o", directory / "libfield_agent.so"]
        + [TOOLS / "field_agent.c"]
        + [ROOT / "src" / source for source in AGENT_SOURCES]
        + ["-lJudy", "-ldl"],
        check=True,
        timeout=COMMAND_SECONDS,
    )


@pytest.fixture
def field_check(shared, jdk):
    """The class path of FieldCheck."""

    def make(directory):
        subprocess.run(
            [jdk.javac, *QUICK_JAVAC, *EXPORTS, "-d", directory, TOOLS / "FieldCheck.java"],
            check=True,
            timeout=COMMAND_SECONDS,
            stderr=subprocess.DEVNULL,
        )

    return shared("field-check-%d" % jdk.major, make)


LAYOUTS = {
    "default": [],
    "wide-references": ["-XX:-UseCompressedOops"],
    "wide-classes": ["-XX:-UseCompressedClassPointers"],
    "compact-headers": ["-XX:+UseCompactObjectHeaders"],
}


def has_layout(jdk, layout, **_):
    return layout != "compact-headers" or jdk >= 25


@pytest.mark.few(4)
@each_pair(has_layout, jdk=JDK_MAJORS, gc=COLLECTORS, layout=list(LAYOUTS))
def test_every_field_of_every_class_has_its_name(agent, field_check, jdk, gc, layout):
    """Offsets as Unsafe gives them, in all loaded classes, hidden ones too, while mirrors move."""
    done = run_command(
        [jdk.java, *EXPORTS, *collector(gc), *LAYOUTS[layout], "-Xmx64m"]
        + ["-agentpath:%s" % agent, "-cp", field_check, "FieldCheck"]
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["wrong"] == 0, done.stderr
    assert told["unlearnt"] == 0, told
    assert told["classes"] > 400 and told["fields"] > 1500, told


def rows(entries, cls, method=None):
    """The fields of the sites (or classes) of that class, allocated in that method."""
    return [
        field
        for entry in entries
        if entry["class"] == cls
        and (method is None or has_frame(entry["allocation_path"][:1], method))
        for field in entry.get("fields", [])
    ]


def part(fields, wanted):
    return sum(f["samples"] for f in fields if wanted(f)) / max(1, sum(f["samples"] for f in fields))


def touched_fields(workload, profile_once, jdk, layout):
    java = ["-Xmx512m", "-XX:+UseSerialGC", *LAYOUTS[layout]]
    name = "fields-%d-%s" % (jdk.major, layout)
    return profile_once(name, command(workload, jdk, "Fields", 4, java=java), *TIMER)


@pytest.mark.few(2)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_samples_of_a_class_are_in_the_field_that_is_touched(workload, profile_once, jdk, layout):
    """Parts of time against parts of samples; a field that nobody touches has none."""
    if not has_layout(jdk.major, layout):
        pytest.skip("JDK %d has no compact headers" % jdk.major)
    run = touched_fields(workload, profile_once, jdk, layout)
    told, r = truth(run), report(run)
    node = rows(r["classes"], "Fields$Node")
    # The collector's or the verifier's class check touches the header.
    own = [f for f in node if not f["name"].startswith("(")]
    assert sum(f["samples"] for f in own) >= 0.9 * sum(f["samples"] for f in node), node
    time = {name: told[name] for name in ("often", "inherited", "written")}
    assert {f["name"] for f in own if f["samples"] >= 10} == set(time), own
    for name in ("often", "inherited"):
        true = time[name] / (time["often"] + time["inherited"])
        reads = [f for f in own if f["name"] in ("often", "inherited")]
        assert abs(part(reads, lambda f, n=name: f["name"] == n) - true) <= 0.08, (name, reads, told)
    written = [f for f in own if f["name"] == "written"]
    assert sum(f["stores"] for f in written) >= 0.9 * sum(f["samples"] for f in written), written
    read = [f for f in own if f["name"] != "written"]
    assert sum(f["loads"] for f in read) >= 0.9 * sum(f["samples"] for f in read), read
    shadowing = rows(r["classes"], "Fields$Shadowing")
    assert part(shadowing, lambda f: f["name"] == "Shadowed.value") >= 0.9, shadowing


def test_samples_of_an_array_are_in_the_elements_that_are_touched(workload, profile_once, jdk):
    run = touched_fields(workload, profile_once, jdk, "default")
    told, r = truth(run), report(run)
    n = told["elements"]
    ranges = {"newLower": (0, n // 2), "newUpper": (n // 4 * 3, n)}
    for method, (first, end) in ranges.items():
        # The bounds checks read the length, and `new` writes zeros to all of the array.
        fields = [f for f in rows(r["sites"], "int[]", method) if f["name"] != "(length)"]
        loads = sum(f["loads"] for f in fields)
        assert loads >= 100, fields
        inside = sum(f["loads"] for f in fields if f["name"] == "" and first <= f["first"] and f["last"] < end)
        assert inside >= 0.98 * loads, (method, fields)
        # All of the range: each sixteenth of the array is seen.
        assert len({f["first"] for f in fields if f["name"] == ""}) >= 16 * (end - first) // n, fields


def shared(r):
    """The falsely shared objects: the method that allocated, or the class where that is not known."""
    names = set()
    for finding in r["false_sharing"]:
        for side in finding["sides"]:
            path = side.get("allocation_path")
            names.add(path[0]["method"] if path else side["class"])
    return names


# Threads share a line falsely only while they run at the same time: beside other tests they may not.
@pytest.mark.quiet
@each_value(jdk=JDK_MAJORS, gc=COLLECTORS)
def test_false_sharing_is_found_where_it_is_and_nowhere_else(workload, profile, jdk, gc):
    java = ["-Xmx256m", *collector(gc)]
    run = profile(command(workload, jdk, "FalseSharing", 1.5, java=java), *TIMER)
    told, r = truth(run), report(run)
    assert shared(r) == set(told["false_sharing"]), json.dumps(r["false_sharing"], indent=1)
    for finding in r["false_sharing"]:
        # The timer sees where threads wait, not what the caches do.
        assert finding["certainty"] == "suspicion" and finding["hitm"] == 0
        left, right = finding["sides"]
        assert left["thread"] != right["thread"]
        assert left["path"] and right["path"]
    text = run_locus_report(run)
    assert "newPadded" not in sharing_section(text), text


def run_locus_report(run):
    done = run_command([BUILD / "locus", "report", "--view=sharing", run.directory])
    assert done.returncode == 0, done.stderr
    return done.stdout


def sharing_section(text):
    """The part of the text report under "False sharing"."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("False sharing"))
    end = next((i for i in range(begin + 1, len(lines)) if lines[i] and lines[i][0] not in " "), len(lines))
    return "\n".join(lines[begin:end])


WIDTHS = {"base": 8, "small": 1, "a": 4, "wide": 8, "flag": 1, "s": 2}


@pytest.mark.parametrize("wide", (False, True))
def test_a_page_knows_where_fields_lie(profile, workload, locus, jdk, wide, tmp_path):
    """The fields as Unsafe tells the program, of a class and the class that it extends; merged profiles know it too."""
    line = command(workload, jdk, "FieldPlaces", 500, java=["-XX:-UseCompressedOops"] if wide else [])
    run = profile(line, *TIMER)
    assert locus("merge", "-o", tmp_path / "merged", run.directory).returncode == 0
    for path in run.directory, tmp_path / "merged":
        assert locus("report", path, "-f", tmp_path / "page.html").returncode == 0
        data = page_data((tmp_path / "page.html").read_text())
        (layout,) = (x for x in data["layouts"] if data["strings"][x["class"]] == "FieldPlaces$Record")
        found = {data["strings"][name]: offset for name, offset, _ in layout["fields"]}
        assert found == truth(run)
        width = {data["strings"][name]: n for name, _, n in layout["fields"]}
        assert width == {**WIDTHS, "next": 8 if wide else 4}
        end = max(offset + n for _, offset, n in layout["fields"])
        assert end <= layout["bytes"] < end + 8 and layout["bytes"] % 8 == 0


def test_a_footprint_that_is_known_is_within_its_interval(profile, workload, locus, jdk17, tmp_path):
    """Half as much again is granted to either end, since one interval in twenty is wrong; a merged profile knows it too."""
    found = {}
    for size in (32 << 10, 2 << 20):
        run = profile(command(workload, jdk17, "CacheLines", size, 2), *TIMER)
        assert locus("merge", "-o", tmp_path / "merged", run.directory).returncode == 0
        for path in run.directory, tmp_path / "merged":
            done = locus("report", "--format=json", "--include=CacheLines.touch", path)
            found[size] = json.loads(done.stdout)["footprint"]
            assert found[size]["low"] / 1.5 <= size <= (found[size]["high"] or size) * 1.5, found
        shutil.rmtree(tmp_path / "merged")
    assert found[32 << 10]["high"] < found[2 << 20]["low"], found


@each_value(jdk=JDK_MAJORS, gc=("Serial", "Parallel"))
def test_fields_are_learnt_although_the_jvm_lets_nobody_in(workload, profile, jdk, gc):
    """To wait for a collection costs nothing, so it uses up nothing of what looking for classes may cost."""
    java = ["-Xmx256m", "-XX:+Use%sGC" % gc, "-XX:-UseCountedLoopSafepoints"]
    run = profile(command(workload, jdk, "LateSafepoints", 7, java=java), "--interval=1ms")
    rows = [r for r in run.report("--group=class")["ranking"]["rows"] if re.fullmatch(r"LateSafepoints\$C\d+", r["class"])]
    known = {r["class"]: r["touched"]["known"] / r["samples"] for r in rows if r["samples"] >= 50}
    assert len(known) >= 8 and min(known.values()) > 0.9, known
