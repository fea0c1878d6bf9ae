/*
 * Builds a set of bits in a constructor, and iterates it by workers on the other nodes.
 *
 * Usage: java [-Dnative=LIBRARY] NumaBitSet as-is|fixed [SECONDS]
 *
 * as-is  main constructs the set: its words are on main's node, and main makes no use of them
 * fixed  each worker constructs a set of its own, on its node: nothing is written to it later
 */
public final class NumaBitSet extends NumaCase {
	private static final int BITS = 96 << 20;

	private static final class Bits {
		private final long[] words;

		Bits(int bits) {
			words = new long[bits >> 6]; // site: constructor
			for (int i = 0; i < words.length; i += 64) // sparse
				words[i] = 1L << (i * 7 & 63);
		}

		/* The sum of what is set, as an iteration over it gives it. */
		long sum() {
			final long[] words = this.words;
			final int len = words.length;
			long sum = 0;
			for (int i = 0; i < len; i++) {
				long word = words[i]; // access: iterate
				while (word != 0) {
					sum += (long) i * 64 + Long.numberOfTrailingZeros(word);
					word &= word - 1;
				}
			}
			return sum;
		}
	}

	private final Bits[] sets = new Bits[NODES];

	private NumaBitSet(String[] args) { super(args); }

	@Override
	void prepare(int worker) {
		if (fixed)
			sets[worker] = new Bits(BITS);
	}

	@Override
	double step(int worker) { return sets[worker].sum(); }

	public static void main(String[] args) throws InterruptedException {
		NumaBitSet b = new NumaBitSet(args);
		if (!b.fixed)
			java.util.Arrays.fill(b.sets, new Bits(BITS));
		end(b.run(Math.min(1, NODES - 1), NODES - 1) > 0 ? "iterated" : "nothing");
	}
}
