# SPDX-License-Identifier: Apache-2.0
"""Figures of publications on comparable tools, each with its source; their machines and programs are others."""

CGO = "Li, Su, Chabbi, Jiao and Liu, *DJXPerf: Identifying Memory Inefficiencies via Object-Centric Profiling for Java*, CGO 2023, " \
    "<https://doi.org/10.1145/3579990.3580010>"
JXPERF = "Su, Wang, Chabbi and Liu, *Pinpointing Performance Inefficiencies in Java*, 2019, " \
    "<https://vdocuments.us/pinpointing-performance-inefficiencies-in-java-java-profiler-performance-optimization.html>"
TGP = "Rosà and Binder, *Profiling Task Granularity on the JVM*, <https://www.dag.inf.usi.ch/research/tgp>"
TRACKS = "Lengauer, Bitto and Mössenböck, *Accurate and Efficient Object Tracing for Java Applications*, ICPE 2015, " \
    "<https://fodok.jku.at/fodok/publikation.xsql?PUB_ID=51026>"
TOOLS = "Nisbet, Nobre, Riley and Luján, *Profiling and Tracing Support for Java Applications*, ICPE 2019, " \
    "<https://doi.org/10.1145/3297663.3309677>"
TRUST = "Burchell, Larose, Kaleba and Marr, *Don't Trust Your Profiler*, MPLR 2023"
BLOG = "Marr on that paper, <https://www.stefan-marr.de/2023/09/dont-blindly-trust-your-profiler/>"
AUTOJMH = "Rodriguez-Cancio, Combemale and Baudry, *Automatic Microbenchmark Generation to Prevent Dead Code Elimination and " \
    "Constant Folding*, ASE 2016, <https://hal.inria.fr/hal-01343818>"

EXASCALE = "Exascale Computing Project on HPCToolkit, <https://www.exascaleproject.org/publication/" \
    "hpctoolkit-enhancements-target-improved-performance-analysis-for-exascale-era/>"
BIASED = "Mytkowicz, Diwan, Hauswirth and Sweeney, *Evaluating the Accuracy of Java Profilers*, PLDI 2010, " \
    "<https://doi.org/10.1145/1806596.1806618>"

REPORTED = {
    "agreement": (("four profilers of 2010 often disagree on which methods are hot", BIASED),),
    "costs": (
        ("DJXPerf, objects by samples of the hardware's counters: 1.08 times the run time", CGO),
        ("JXPerf, wasteful memory accesses by samples and debug registers: 7% run time, 7% memory", JXPERF),
        ("AntTracks, every allocation, move and death of an object: 4.68% run time on average", TRACKS),
        ("tgp, every task's cycles or bytecodes: 1.05 times the run time on average", TGP),
        ("sampling tools at 4 kHz: up to 25% slower", TOOLS),
    ),
    "memory": (("JXPerf: 7% memory", JXPERF),),
    "repeatability": (
        ("six profilers, 30 runs of each of 14 programs: a median self-difference of 2 to 8%, and 16 to 74 unstable entries", TRUST),
        ("JFR, 30 runs of DeltaBlue: eight methods that were the hottest of some run", BLOG),
    ),
    "merge": (("HPCToolkit, streaming aggregation of call path profiles: more than ten times as fast as its version before", EXASCALE),),
    "loops": (("AutoJMH: 3,462 of 6,082 loops of five libraries", AUTOJMH),),
    "truth": (("AutoJMH: 23 of 23 benchmarks as experts wrote them", AUTOJMH),),
    "spans": (("tgp, instrumentation of tasks: 1.05 times the run time on average", TGP),
              ("tgp, perturbation of the cycles of tasks: 1.01 to 1.03", TGP)),
}


def markdown(section):
    """Reported figures to compare this section's with."""
    lines = ["- %s (%s)." % entry for entry in REPORTED.get(section, ())]
    return "\n".join(["The literature reports, of other machines and programs:", "", *lines]) if lines else ""
