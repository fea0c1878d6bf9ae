/** The program of the examples in the manual pages: works on objects for half a second, with tasks and streams. */
public class Acme {
	static final class ValueInt {
		int value = 1;
		ValueInt next;
	}

	static ValueInt list(int length) {
		ValueInt first = null;
		for (int i = 0; i < length; i++) {
			ValueInt one = new ValueInt();
			one.next = first;
			first = one;
		}
		return first;
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + 500_000_000, sum = 0;
		Thread solver = new Thread(() -> System.setProperty("acme", "" + java.util.stream.IntStream.range(0, 1000).sum()), "solver-1");
		solver.start();
		solver.join();
		while (System.nanoTime() < end)
			for (ValueInt v = list(20000); v != null; v = v.next)
				sum += v.value;
		System.out.println(sum > 0);
	}
}
