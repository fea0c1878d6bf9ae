/**
 * Computes Takeuchi's function of linked lists whose lengths are the numbers: of 15, 10 and 6 it is the list of length
 * 10. Argument: how often.
 */
public final class List {
	private static final int X = 15, Y = 10, Z = 6, LENGTH = 10;

	private static final class Link {
		private final Link next;

		Link(Link next) { this.next = next; }
	}

	private static Link ofLength(int length) {
		Link list = null;
		for (int i = 0; i < length; i++)
			list = new Link(list);
		return list;
	}

	private static int length(Link list) {
		int length = 0;
		for (Link at = list; at != null; at = at.next)
			length++;
		return length;
	}

	private static boolean shorter(Link a, Link b) {
		while (b != null) {
			if (a == null)
				return true;
			a = a.next;
			b = b.next;
		}
		return false;
	}

	private static Link takeuchi(Link x, Link y, Link z) {
		if (!shorter(y, x))
			return z;
		return takeuchi(takeuchi(x.next, y, z), takeuchi(y.next, z, x), takeuchi(z.next, x, y));
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int length = length(takeuchi(ofLength(X), ofLength(Y), ofLength(Z)));
			Result.check(length == LENGTH, "a list of " + length);
			sum += length;
		}
		Result.is(sum);
	}
}
