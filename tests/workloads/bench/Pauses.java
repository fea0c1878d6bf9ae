/* Keeps trees with arrays of 1.5 KB, 24 MB of them, and makes new ones: young pauses that copy. */
public class Pauses {
	static final int ARRAY_BYTES = 1500, DEPTH = 8, NODES = (1 << DEPTH) - 1;

	static final class Tree {
		final byte[] data = new byte[ARRAY_BYTES];
		final Tree left, right;

		Tree(int depth) {
			left = depth > 1 ? new Tree(depth - 1) : null;
			right = depth > 1 ? new Tree(depth - 1) : null;
		}

		int sum() {
			return data[3] + (left == null ? 0 : left.sum() + right.sum());
		}
	}

	static final Tree[] kept = new Tree[(24 << 20) / (NODES * ARRAY_BYTES)];
	static int sum;

	public static void main(String[] args) {
		final int trees = Integer.parseInt(args[0]);

		for (int i = 0; i < trees; i++) {
			kept[i % kept.length] = new Tree(DEPTH);
			sum += kept[i * 7 % Math.min(i + 1, kept.length)].sum();
		}
		System.out.println(sum);
	}
}
