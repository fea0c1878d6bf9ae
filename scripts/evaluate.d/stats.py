# SPDX-License-Identifier: Apache-2.0
"""Statistics of several runs of one number: a median with its exact 95% interval, and the mean of programs with one of resampled programs.

The interval of a median is that of order statistics: it holds whatever the distribution, from six values on. That of programs is a
bootstrap's with Hesterberg's wider percentiles, which few values need. tests/e2e/test_evaluation.py simulates how often both hold the truth.
"""

import functools
import math
import random
import statistics

FEWEST = 6  # values that have an interval: of five the widest one has 93.8%
LEVEL = 0.95
RESAMPLES = 2000


@functools.lru_cache(maxsize=None)
def coverage(count, rank):
    """How probable it is that a median lies between the rank-th smallest and the rank-th largest of so many values."""
    return 1 - 2 * sum(math.comb(count, i) for i in range(rank)) / 2 ** count


@functools.lru_cache(maxsize=None)
def rank_of(count):
    """The rank of the narrowest interval of at least LEVEL; 0 where there is none."""
    return max((rank for rank in range(1, count // 2 + 1) if coverage(count, rank) >= LEVEL), default=0)


def median(values):
    """The median and its interval: (median, low, high), of fewer than FEWEST values thrice the median."""
    ordered, middle, rank = sorted(values), statistics.median(values), rank_of(len(values))
    return (middle, ordered[rank - 1], ordered[-rank]) if rank else (middle,) * 3


def within(t, freedom):
    """How probable it is that Student's t lies within -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = total = 0.0 if freedom == 1 else math.cos(angle) if odd else 1.0
    for i in range(3 if odd else 2, freedom - 1, 2):
        term *= (i - 1 if odd else i - 1) / i * math.cos(angle) ** 2
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


@functools.lru_cache(maxsize=None)
def student(freedom):
    """Student's t that LEVEL of the values lie within."""
    low, high = 0.0, 1000.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < LEVEL else (low, middle)
    return high


def of_programs(ratios, times=RESAMPLES):
    """The geometric mean of the programs' ratios and its interval: (mean, low, high), of fewer than FEWEST thrice the mean.

    The programs are resampled with a fixed seed: the interval is of programs like these. The percentiles of n are those of
    Student's t, times the part by which a sample of n looks too narrow.
    """
    logs, count = [math.log(ratio) for ratio in ratios], len(ratios)
    middle = math.exp(statistics.fmean(logs))
    if count < FEWEST:
        return (middle,) * 3
    draw = random.Random(1)
    means = sorted(statistics.fmean(draw.choices(logs, k=count)) for _ in range(times))
    outside = int(times * statistics.NormalDist().cdf(-math.sqrt(count / (count - 1)) * student(count - 1)))
    return middle, math.exp(means[outside]), math.exp(means[-1 - outside])
