# SPDX-License-Identifier: Apache-2.0
"""Find the JDKs of this machine."""

import pathlib


def version_of(home):
    """The major version of the JDK in a directory; None where there is none."""
    release = pathlib.Path(home) / "release"
    if not release.exists() or not (release.parent / "bin/javac").exists():
        return None
    words = dict(line.split("=", 1) for line in release.read_text().splitlines() if "=" in line)
    return int(words.get("JAVA_VERSION", '"0"').strip('"').split(".")[0])


def jdks():
    """Homes of the JDKs from 11 on, by version; one of each."""
    found = {}
    for home in sorted(pathlib.Path("/usr/lib/jvm").glob("*")):
        version = version_of(home)
        if version and version >= 11:
            found.setdefault(version, home)
    return sorted(found.items())
