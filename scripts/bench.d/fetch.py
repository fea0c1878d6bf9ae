"""Fetch the jars that the programs need from Maven Central, and compile and unpack what belongs to them."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

from programs import ASYNC, MODULES, SOURCES

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "tests/workloads"
CACHE = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")) / "jars"


def dependency(coordinates):
    group, name, version, *more = coordinates.split(":")
    kind = "<classifier>%s</classifier>" % more[1] if more else ""
    return ("<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>%s</dependency>"
            % (group, name, version, kind))


def class_path(coordinates):
    """The jars of these artifacts and of what they depend on; from a cache, or by Maven."""
    wanted = " ".join(coordinates)
    CACHE.mkdir(parents=True, exist_ok=True)
    cache = CACHE / "bench.classpaths"
    known = dict(line.split("\t") for line in cache.read_text().splitlines()) if cache.exists() else {}
    jars = known.get(wanted, "").split(":")
    if all(pathlib.Path(jar).is_file() for jar in jars):
        return jars
    with tempfile.TemporaryDirectory() as directory:
        pom = ("<project><modelVersion>4.0.0</modelVersion><groupId>bench</groupId><artifactId>bench</artifactId>"
               "<version>1</version><packaging>pom</packaging><dependencies>%s</dependencies></project>"
               % "".join(dependency(c) for c in coordinates))
        (pathlib.Path(directory) / "pom.xml").write_text(pom)
        done = subprocess.run(["mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=path"],
                              cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit("bench: Maven did not fetch %s\n%s" % (wanted, done.stdout))
        known[wanted] = (pathlib.Path(directory) / "path").read_text().strip()
    cache.write_text("".join("%s\t%s\n" % item for item in known.items()))
    return known[wanted].split(":")


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
