# SPDX-License-Identifier: Apache-2.0
"""What several runs say of one number: a mean with its 95% interval, of differences as they are and of ratios by their logarithms.

The intervals are Student's. They hold for as few as five values, where the percentile bootstrap of a median has 93.8% at best (of seven
87.5%). tests/e2e/test_evaluation.py simulates how often they hold the truth.
"""

import functools
import math
import statistics

FEWEST = 5  # values that have an interval
LEVEL = 0.95


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


def mean(values):
    """The mean and its 95% interval: (mean, low, high), of fewer than FEWEST values thrice the mean."""
    middle = statistics.fmean(values)
    if len(values) < FEWEST:
        return (middle,) * 3
    half = student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return middle, middle - half, middle + half


def geometric(ratios):
    """The geometric mean and its 95% interval: (mean, low, high), of fewer than FEWEST ratios thrice the mean."""
    return tuple(map(math.exp, mean([math.log(ratio) for ratio in ratios])))
