"""What several runs say of one number: a median with its interval, and a mean of ratios."""

import math
import random
import statistics

FEWEST = 5  # of fewer values the least and the most are no 95% interval, and none is told
RESAMPLES = 4000
RESAMPLES_OF_MANY = 1000  # where each is of all programs
TAIL = 0.025  # of the resamples, on each side of a 95% interval


def bootstrap(values):
    """The median, and the 95% percentile bootstrap interval of it: (median, low, high), of fewer than FEWEST values thrice the median.

    The resamples are drawn with a fixed seed, so that equal values in whatever order have an equal interval.
    """
    ordered = sorted(values)
    if len(ordered) < FEWEST:
        return (statistics.median(ordered),) * 3
    draw = random.Random(len(ordered))
    medians = sorted(statistics.median(draw.choices(ordered, k=len(ordered))) for _ in range(RESAMPLES))
    cut = int(TAIL * RESAMPLES)
    return statistics.median(ordered), medians[cut], medians[-1 - cut]


def geometric(values):
    """The geometric mean."""
    return math.exp(statistics.fmean(math.log(value) for value in values))


def bootstrap_geometric(each):
    """The geometric mean of the medians of several lists of ratios, with its 95% percentile bootstrap interval.

    It is thrice the mean where a list has fewer than FEWEST ratios: an interval would leave out how far these vary.
    """
    ordered = [sorted(values) for values in each]
    if min(map(len, ordered)) < FEWEST:
        return (geometric([statistics.median(values) for values in ordered]),) * 3
    draw = random.Random(len(ordered))
    means = sorted(geometric([statistics.median(draw.choices(values, k=len(values))) for values in ordered])
                   for _ in range(RESAMPLES_OF_MANY))
    cut = int(TAIL * RESAMPLES_OF_MANY)
    return geometric([statistics.median(values) for values in ordered]), means[cut], means[-1 - cut]
