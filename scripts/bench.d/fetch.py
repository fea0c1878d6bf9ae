# SPDX-License-Identifier: Apache-2.0
"""Fetch the jars that the programs need from Maven Central, and compile and unpack what belongs to them."""

import pathlib
import shutil
import subprocess
import sys
import zipfile

import maven
from programs import ASYNC, MODULES, SOURCES

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "tests/workloads"


def class_path(coordinates):
    """The jars of these artifacts and of what they depend on; ends the measurement where there are none."""
    try:
        return maven.class_path(coordinates)
    except maven.Failed as failed:
        sys.exit("bench: %s" % failed)


def unpack_sources(work):
    """Unpacks the modules' sources, and writes the lists of their files that compilers read."""
    jars = {pathlib.Path(jar).name: jar for jar in class_path(SOURCES)}
    names = []
    for module, coordinates in zip(MODULES, SOURCES):
        version = coordinates.split(":")[2]
        directory = work / "src" / module
        with zipfile.ZipFile(jars["lucene-%s-%s-sources.jar" % (module, version)]) as jar:
            jar.extractall(directory, [n for n in jar.namelist() if n.startswith("org/") and n.endswith(".java")])
        files = sorted(str(p) for p in directory.rglob("*.java"))
        names += files
        if module == "core":
            (work / "core").write_text("\n".join(files))
    (work / "files").write_text("\n".join(names))


def compile_workload(program, home, work):
    """The program's own class path: its jars, and its workload compiled with this JDK."""
    jars = class_path(program.jars) if program.jars else []
    if program.source:
        classes = work / ("classes-" + home.name) / program.source
        subprocess.run([home / "bin/javac", "-nowarn", "-cp", ":".join(jars) or ".", "-d", classes,
                        WORKLOADS / (program.source + ".java")], check=True)
        jars = [str(classes), *jars]
    return jars


def async_profiler(work):
    """The library of async-profiler for this machine."""
    library = work / "libasyncProfiler.so"
    with zipfile.ZipFile(class_path([ASYNC])[0]) as jar, jar.open("linux-x64/libasyncProfiler.so") as inside:
        with open(library, "wb") as outside:
            shutil.copyfileobj(inside, outside)
    return library
