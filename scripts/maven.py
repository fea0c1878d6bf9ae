# SPDX-License-Identifier: Apache-2.0
"""Fetch jars from Maven Central, with what they depend on, by Maven's own client."""

import fcntl
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CACHE = pathlib.Path(os.environ.get("LOCUS_BUILD", ROOT / "build")) / "jars"


class Failed(Exception):
    """Maven did not fetch something."""


def dependency(coordinates):
    """The element of a pom for "group:artifact:version[:jar:classifier]"."""
    group, name, version, *more = coordinates.split(":")
    kind = "<classifier>%s</classifier>" % more[1] if more else ""
    return ("<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>%s</dependency>"
            % (group, name, version, kind))


def resolve(coordinates):
    """Asks Maven. It goes to the network: without it, an artifact whose pom is not there seems to depend on nothing."""
    pom = ("<project><modelVersion>4.0.0</modelVersion><groupId>bench</groupId><artifactId>bench</artifactId>"
           "<version>1</version><packaging>pom</packaging><dependencies>%s</dependencies></project>"
           % "".join(dependency(c) for c in coordinates))
    with tempfile.TemporaryDirectory() as directory:
        (pathlib.Path(directory) / "pom.xml").write_text(pom)
        done = subprocess.run(["mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=path"],
                              cwd=directory, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failed("Maven did not fetch %s\n%s" % (" ".join(coordinates), done.stdout))
        return (pathlib.Path(directory) / "path").read_text().strip()


def class_path(coordinates):
    """The jars of these artifacts and of what they depend on; from a cache, or by Maven."""
    wanted = " ".join(coordinates)
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cache = CACHE / "bench.classpaths"
        known = dict(line.split("\t") for line in cache.read_text().splitlines()) if cache.exists() else {}
        jars = known.get(wanted, "").split(":")
        if not all(pathlib.Path(jar).is_file() for jar in jars):
            known[wanted] = resolve(coordinates)
            cache.write_text("".join("%s\t%s\n" % item for item in known.items()))
        return known[wanted].split(":")
