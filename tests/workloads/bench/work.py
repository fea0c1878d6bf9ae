"""Does what Python programs do (Jython): counts words, parses expressions, sorts records, runs generators.

Argument: rounds. Prints one number, which is the same each time.
"""

import sys

WORDS = "the quick brown fox jumps over a lazy dog and runs into seven other foxes on its way home".split()


class Random(object):
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self.state >> 8) % n


class Node(object):
    def __init__(self, operator, left, right):
        self.operator, self.left, self.right = operator, left, right

    def value(self):
        a, b = self.left.value(), self.right.value()
        if self.operator == "+":
            return a + b
        return a - b if self.operator == "-" else a * b % 9973


class Leaf(object):
    def __init__(self, number):
        self.number = number

    def value(self):
        return self.number


def expression(random, depth):
    """The text of an expression, fully bracketed."""
    if depth == 0:
        return str(random.below(100))
    return "(%s%s%s)" % (expression(random, depth - 1), "+-*"[random.below(3)], expression(random, depth - 1))


def parse(text, at):
    if text[at] != "(":
        end = at
        while text[end].isdigit():
            end += 1
        return Leaf(int(text[at:end])), end
    left, at = parse(text, at + 1)
    operator = text[at]
    right, at = parse(text, at + 1)
    return Node(operator, left, right), at + 1


def count_words(random, n):
    counts = {}
    text = " ".join(WORDS[random.below(len(WORDS))] + str(random.below(40)) for _ in range(n))
    for word in text.split(" "):
        counts[word] = counts.get(word, 0) + 1
    return sum(c * len(w) for w, c in sorted(counts.items()))


def sort_records(random, n):
    records = [(random.below(1000), "name%d" % random.below(n), [i, i + 1]) for i in range(n)]
    records.sort(key=lambda r: (r[1], -r[0]))
    return sum(i * r[0] for i, r in enumerate(records)) % 9973


def primes(limit):
    sieve = [True] * limit
    for i in range(2, limit):
        if sieve[i]:
            yield i
            for k in range(i * i, limit, i):
                sieve[k] = False


def main():
    total = 0
    for i in range(int(sys.argv[1])):
        random = Random(i + 1)
        total += count_words(random, 4000)
        total += parse(expression(random, 10) + " ", 0)[0].value()
        total += sort_records(random, 3000)
        total += sum(primes(20000))
    print(total)


main()
