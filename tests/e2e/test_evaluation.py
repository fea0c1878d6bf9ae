"""make evaluate: its statistics, by values worked out by hand, and the quick form of the whole."""

import importlib.util

import pytest
from conftest import ROOT


def load(name):
    """A module of the evaluation, under a name of its own: other directories of scripts have modules of the same name."""
    spec = importlib.util.spec_from_file_location("evaluate_" + name, ROOT / "scripts/evaluate.d" / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stats = load("stats")

# A resample of n values has its median at most at the k-th smallest when more than half of its draws are among the k
# smallest: P(Bin(n, k/n) > n/2). The interval ends where that passes 2.5% and 97.5%. n = 5: 5.8% already for k = 1, and 94.2%
# for k = 4, so it is all values. n = 7: 1.0% and 10.8%, 89.2% and 99.0%, so the second to the sixth. n = 21: 1.8% for
# k = 6 and 5.6% for 7, so the seventh to the fifteenth.
INTERVALS = ((1, 1, 1), (3, 1, 3), (5, 1, 5), (7, 2, 6), (21, 7, 15))


@pytest.mark.parametrize("n, low, high", INTERVALS)
def test_bootstrap_of_a_median_is_what_the_binomial_distribution_says(n, low, high):
    values = [10.0 * i for i in range(1, n + 1)]
    assert stats.bootstrap(values) == (10.0 * (n + 1) / 2, 10.0 * low, 10.0 * high)


def test_bootstrap_does_not_depend_on_the_order_or_the_call():
    values = [1.02, 0.99, 1.31, 1.0, 1.07, 1.01, 0.98, 1.03]
    first = stats.bootstrap(values)
    assert first == stats.bootstrap(values) == stats.bootstrap(values[::-1])
    assert first[0] == pytest.approx(1.015) and first[1] < first[0] < first[2] <= 1.31


def test_geometric_mean_of_ratios():
    assert stats.geometric([2, 8]) == pytest.approx(4)
    assert stats.geometric([0.5, 2, 1, 27]) == pytest.approx(27 ** 0.25)
