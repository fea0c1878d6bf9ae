import org.python.core.PyFunction;
import org.python.core.PyInteger;
import org.python.util.PythonInterpreter;

/**
 * Runs a program of Python (Jython): it parses and computes terms, counts words, keeps a heap of events and multiplies
 * matrices of lists. Argument: how often.
 */
public final class RunPython {
	private static final String PROGRAM = """
		import heapq, re

		class Random(object):
		    def __init__(self, seed):
		        self.state = seed
		    def below(self, n):
		        self.state = (self.state * 69069 + 1) & 0xffffffff
		        return (self.state >> 16) % n

		class Parser(object):
		    def __init__(self, text):
		        self.tokens = re.findall(r"\\d+|[-+*()]", text)
		        self.at = 0
		    def peek(self):
		        return self.tokens[self.at] if self.at < len(self.tokens) else None
		    def take(self):
		        self.at += 1
		        return self.tokens[self.at - 1]
		    def factor(self):
		        if self.peek() == "(":
		            self.take()
		            value = self.sum()
		            self.take()
		            return value
		        return int(self.take())
		    def product(self):
		        value = self.factor()
		        while self.peek() == "*":
		            self.take()
		            value = value * self.factor() % 65521
		        return value
		    def sum(self):
		        value = self.product()
		        while self.peek() in ("+", "-"):
		            value = value + self.product() if self.take() == "+" else value - self.product()
		        return value

		def term(random, depth):
		    if depth == 0:
		        return str(random.below(1000))
		    text = term(random, depth - 1) + "+-*"[random.below(3)] + term(random, depth - 1)
		    return "(" + text + ")" if random.below(2) else text

		def words(random, n):
		    counts = {}
		    for i in range(n):
		        word = "w%d" % (random.below(60) * random.below(60))
		        counts[word] = counts.get(word, 0) + 1
		    return [(c, w) for w, c in counts.items()]

		def events(random, n):
		    heap = [(random.below(100), i) for i in range(50)]
		    heapq.heapify(heap)
		    last = 0
		    for i in range(n):
		        when, who = heapq.heappop(heap)
		        assert when >= last
		        last = when
		        heapq.heappush(heap, (when + 1 + random.below(100), who))
		    return last

		def matrix(random, n):
		    a = [[random.below(10) for i in range(n)] for k in range(n)]
		    columns = list(zip(*a))
		    return sum(sum(x * y for x, y in zip(row, column)) for row in a for column in columns)

		def run(seed):
		    random = Random(seed)
		    value = Parser(term(random, 9)).sum()
		    for c, w in sorted(words(random, 1500), reverse=True)[:20]:
		        value += c * len(w)
		    return int((value + events(random, 1500) + matrix(random, 22)) % 1000003)
		""";

	private RunPython() {}

	public static void main(String[] args) {
		long sum = 0;
		try (PythonInterpreter python = new PythonInterpreter()) {
			python.exec(PROGRAM);
			PyFunction run = (PyFunction) python.get("run");
			for (int i = Integer.parseInt(args[0]); i > 0; i--)
				sum = sum * 31 + run.__call__(new PyInteger(i)).asInt();
		}
		Result.is(Long.toHexString(sum));
	}
}
