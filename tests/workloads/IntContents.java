/*
 * Sorts, counts and follows ints of all sizes in large arrays. With compact headers of objects, two
 * ints that stand side by side often look like the header of some object.
 *
 * Usage: IntContents MILLISECONDS
 *
 * Its methods touch nothing but int[]. Prints a sum.
 */
public final class IntContents {
	static int[] values = new int[1 << 19], counts = new int[1 << 20];
	static long sum;

	static void shell(int[] a) {
		for (int g = a.length / 2; g > 0; g /= 2)
			for (int i = g; i < a.length; i++) {
				int v = a[i], j = i;
				for (; j >= g && a[j - g] > v; j -= g)
					a[j] = a[j - g];
				a[j] = v;
			}
	}

	static void sift(int[] a, int i, int n) {
		for (int child; (child = 2 * i + 1) < n; i = child) {
			if (child + 1 < n && a[child + 1] > a[child])
				child++;
			if (a[child] <= a[i])
				return;
			int t = a[i];
			a[i] = a[child];
			a[child] = t;
		}
	}

	static void heap(int[] a) {
		for (int i = a.length / 2 - 1; i >= 0; i--)
			sift(a, i, a.length);
		for (int i = a.length - 1; i > 0; i--) {
			int t = a[0];
			a[0] = a[i];
			a[i] = t;
			sift(a, 0, i);
		}
	}

	static void count(int[] a, int[] counts) {
		for (int x : a)
			counts[x >>> 11 & counts.length - 1]++;
	}

	static void follow(int[] a, int n) {
		int at = 0;
		for (int i = 0; i < n; i++)
			at = (a[at] ^ i) & a.length - 1;
		sum += at;
	}

	static void fill(int[] a, long seed) {
		for (int i = 0; i < a.length; i++) {
			seed = seed * 6364136223846793005L + 1442695040888963407L;
			a[i] = (int) (seed >>> 40);
		}
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000;
		for (int n = 0; System.nanoTime() < end; n++) {
			fill(values, n);
			count(values, counts);
			follow(counts, 1 << 20);
			shell(values);
			fill(values, n);
			heap(values);
		}
		System.out.println(sum);
	}
}
