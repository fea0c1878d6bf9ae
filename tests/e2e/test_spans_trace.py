# SPDX-License-Identifier: Apache-2.0
"""Single spans: each is in the trace, or counted as lost and told of."""

import json

import helpers
import pytest
from test_spans_streams import spans_of

CLASS = "TraceFlood"


def lost(run):
    (process,) = json.loads((run.directory / "manifest.json").read_text())["processes"]
    return process["counters"]["spans_trace_lost"]


@pytest.mark.parametrize("threads, streams", ((1, 1000000), (12, 20000), (150, 1000)))
def test_each_span_is_in_the_trace_or_counted(profile, locus, workload, jdk, threads, streams):
    command = helpers.command(workload, jdk, CLASS, str(threads), str(streams))
    run = profile(command, "--spans=streams", "--trace")
    spans = spans_of(locus, run)
    assert spans["totals"]["anonymous"] == threads * streams, spans["totals"]
    assert spans["trace"]["spans"] + lost(run) == threads * streams, spans["trace"]
    # Far from what the buffers hold, so that a slow machine loses none either.
    if threads > 1:
        assert lost(run) == 0
    told = [w for w in spans["warnings"] if "are single spans in the trace" in w]
    assert bool(told) == bool(lost(run)), spans["warnings"]
