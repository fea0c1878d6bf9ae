# SPDX-License-Identifier: Apache-2.0
"""The programs that `make evaluate` runs: their list, their build, and that each computes what it is to compute."""

import dataclasses
import importlib.util
import os
import re
import subprocess

import pytest
from conftest import JDK_MAJORS, ROOT, jdk_of

SECONDS = 300
# "Are We Fast Yet?" has these.
KERNELS = {"Bounce", "CD", "DeltaBlue", "Havlak", "Json", "List", "Mandelbrot", "NBody", "Permute", "Queens", "Richards",
           "Sieve", "Storage", "Towers"}
SOME = ("Eclipse Collections", "FFT", "Netty", "Reactor")  # programs that start quickly


def module():
    """scripts/evaluate.d/programs.py, under a name of its own: scripts/bench.d has a file of that name too."""
    spec = importlib.util.spec_from_file_location("evaluation_programs", ROOT / "scripts/evaluate.d/programs.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


programs = module()
ALL = {program.name: program for program in programs.load()}
QUICK = [program for program in ALL.values() if program.name in (*KERNELS, *SOME)]


@pytest.fixture(scope="session")
def built(jdk17):
    """The programs that these tests run, compiled; Maven fetches their libraries where it does not have them."""
    try:
        programs.build(jdk17.home, QUICK)
    except programs.Failed as failed:
        pytest.skip(str(failed))


def run(program, size, jdk, directory):
    """Runs a program in a directory, and returns how it ended, its last line and what it said of errors."""
    environment = dict(os.environ, JAVA_TOOL_OPTIONS="-Djava.io.tmpdir=%s" % directory)
    done = subprocess.run(programs.command(program, size, jdk.home), cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
    return done.returncode, (done.stdout.splitlines() or [""])[-1], done.stderr


def right(program, size, jdk, directory):
    status, last, errors = run(program, size, jdk, directory)
    assert (status, last) == (0, "result: " + program.result[size]), errors
    assert not list(directory.iterdir()), "the program left files behind"


def test_list_names_kernels_and_programs_once_each():
    entries = programs.load()
    assert len(ALL) == len(entries)
    assert {p.name for p in entries if p.kind == "kernel"} == KERNELS
    assert len([p for p in entries if p.kind == "program"]) >= 16
    assert {p.name for p in entries if p.kind == "server"} == {"Jetty", "Artemis", "Hazelcast"}
    assert len(entries) == len([p for p in entries if p.kind in ("kernel", "program", "server", "long")])


def test_long_forms_are_of_twelve_programs_of_which_six_are_on_another_jdk_and_three_with_each_collector():
    forms = [name.split(", long") for name in ALL if ALL[name].kind == "long"]
    count = {form: [name for name, of in forms if of.strip(", ") == form] for form in programs.FORMS}
    count["long"] = [name for name, of in forms if not of]
    assert {form: len(names) for form, names in count.items()} == {"long": 12, "JDK 17": 6, "Parallel": 3, "ZGC": 3}
    long = ALL["H2, long, ZGC"]
    assert long.main == "Rounds" and long.full == ["20", "30", "Transactions", *ALL["H2"].full] and long.java == ["-XX:+UseZGC"]
    assert long.result == ALL["H2"].result and (long.on, ALL["H2, long, JDK 17"].on) == (0, 17)


@pytest.mark.parametrize("name", ALL)
def test_entry_of_the_list_is_whole(name):
    program = ALL[name]
    module = "common" if program.kind == "long" else program.module
    assert (programs.SOURCES / module / (program.main + ".java")).exists()
    for size in programs.SIZES:
        arguments = getattr(program, size)
        assert arguments and all(isinstance(word, str) for word in arguments)
        assert re.fullmatch(r"\S+", program.result[size])
    assert set(program.result) == set(programs.SIZES) and program.full != program.quick
    assert program.jdk in JDK_MAJORS and program.about and isinstance(program.java, list)


def test_maven_builds_the_modules_of_the_list():
    pom = (programs.SOURCES / "pom.xml").read_text(encoding="utf-8")
    assert sorted(re.findall(r"<module>(.*)</module>", pom)) == programs.modules()


def test_versions_are_pinned():
    for pom in [programs.SOURCES / module / "pom.xml" for module in (".", *programs.modules())]:
        for version in re.findall(r"<version>(.*)</version>", pom.read_text(encoding="utf-8")):
            assert re.fullmatch(r"\d[\w.]*", version), (pom, version)


@pytest.mark.slow
@pytest.mark.seconds(SECONDS)
def test_what_is_built_is_not_built_again(built, jdk17, monkeypatch):
    monkeypatch.setenv("PATH", "")  # where no mvn is
    programs.build(jdk17.home, QUICK)


@pytest.mark.slow
@pytest.mark.seconds(SECONDS)
@pytest.mark.parametrize("at,name", enumerate(sorted(KERNELS)), ids=lambda value: str(value))
def test_kernel_computes_what_is_known(built, at, name, tmp_path):
    """The JDKs take turns."""
    right(ALL[name], "quick", jdk_of(JDK_MAJORS[at % len(JDK_MAJORS)]), tmp_path)


@pytest.mark.slow
@pytest.mark.seconds(SECONDS)
@pytest.mark.parametrize("at,name", enumerate(SOME), ids=lambda value: str(value))
def test_program_computes_what_it_did_before(built, at, name, tmp_path):
    right(ALL[name], "quick", jdk_of(JDK_MAJORS[at % len(JDK_MAJORS)]), tmp_path)


@pytest.mark.slow
@pytest.mark.seconds(SECONDS)
@pytest.mark.parametrize("name, told", (("FFT, long", r"cpu=[\d.]+ wall=[\d.]+ rounds=\d+ left_out=\d+ stable=[01]"),
                                        ("Jetty", r"cpu=[\d.]+ requests=100 p50=[\d.]+ p90=[\d.]+ p99=[\d.]+ p99.9=[\d.]+")))
def test_long_forms_and_servers_measure_themselves(jdk17, name, told, tmp_path):
    program = ALL[name]
    programs.build(jdk17.home, [program])
    done = subprocess.run(programs.command(program, "quick", jdk17.home), cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=True)
    *_, measured, result = done.stdout.splitlines()
    assert re.fullmatch("measured: " + told, measured) and result == "result: " + program.result["quick"]


@pytest.mark.slow
@pytest.mark.seconds(SECONDS)
@pytest.mark.parametrize("name", ("Towers", "FFT"))
def test_wrong_result_ends_a_program_with_an_error(built, name, jdk17, tmp_path):
    program = ALL[name]
    wrong = dataclasses.replace(program, result={"quick": program.result["quick"] + "1"})
    status, last, errors = run(wrong, "quick", jdk17, tmp_path)
    assert status == 1 and "expected " + wrong.result["quick"] in errors
    assert last == "result: " + program.result["quick"]


@pytest.mark.slow
@pytest.mark.seconds(2 * SECONDS)
@pytest.mark.parametrize("size", programs.SIZES)
@pytest.mark.parametrize("name", ALL)
def test_every_program_computes_the_same_on_every_jdk(name, size, jdk, tmp_path):
    if jdk.major < ALL[name].jdk:
        pytest.skip("%s needs JDK %d" % (name, ALL[name].jdk))
    programs.build(jdk.home, [ALL[name]])
    right(ALL[name], size, jdk, tmp_path)
