/**
 * Builds a tree of arrays, seven deep and four wide, whose leaves are arrays of random lengths. Its arrays are 4^0 +
 * 4^1 + ... + 4^6, which is 5461. Argument: how often.
 */
public final class Storage {
	private static final int DEPTH = 7, WIDTH = 4, ARRAYS = 5461;

	private final Random16 random = new Random16();
	private int arrays;

	private Object[] build(int depth) {
		arrays++;
		if (depth == 1)
			return new Object[random.next() % 10 + 1];
		Object[] children = new Object[WIDTH];
		for (int i = 0; i < WIDTH; i++)
			children[i] = build(depth - 1);
		return children;
	}

	/** The lengths of all leaves. */
	private static long leaves(Object[] tree, int depth) {
		if (depth == 1)
			return tree.length;
		long sum = 0;
		for (Object child : tree)
			sum += leaves((Object[]) child, depth - 1);
		return sum;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			Storage storage = new Storage();
			Object[] tree = storage.build(DEPTH);
			Result.check(storage.arrays == ARRAYS, storage.arrays + " arrays");
			sum += leaves(tree, DEPTH);
		}
		Result.is(sum);
	}
}
