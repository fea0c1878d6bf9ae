# SPDX-License-Identifier: Apache-2.0
"""Samples that are neither the program's nor at an object end in the bucket of their owner."""

from helpers import command, complaints, report


def test_profiles_of_methods_are_the_jvms(workload, profile, jdk):
    """C1's code counts calls and branches in metaspace: most of what such code touches here."""
    line = command(workload, jdk, "CallChains", 1, java=["-XX:TieredStopAtLevel=3"])
    run = profile(line, "--interval=4ms")
    samples = report(run)["samples"]
    assert complaints(run.stderr) == []
    assert samples["total"] > 100, samples
    assert samples["jvm"] > 0.4 * samples["total"], samples
    assert samples["native"] < 0.12 * samples["total"], samples
