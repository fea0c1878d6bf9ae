import java.lang.management.ManagementFactory;

/*
 * Findings MODE SECONDS: programs that have one finding of `locus report`, and the same without it. Each runs for
 * SECONDS of CPU time, so that a busy machine takes no samples from it, and prints the iterations that it did. The lines
 * that allocate what it is about are marked "site: MODE".
 */
public final class Findings {
	static final int MANY = 1 << 20, SIDE = 1500;
	static volatile long sink;

	static class Shape { long area; Shape(long a) { area = a; } }
	static final class Square extends Shape { Square(long a) { super(a); } }
	static final class Circle extends Shape { Circle(long a) { super(a); } }

	/* Objects in an order that no prefetcher guesses. */
	static Shape[] shapes() {
		Shape[] shapes = new Shape[MANY];
		for (int i = 0; i < MANY; i++)
			shapes[i] = (i & 1) == 0
				? new Square(i) // site: square
				: new Circle(i); // site: circle
		java.util.Random random = new java.util.Random(1);
		for (int i = MANY - 1; i > 0; i--) {
			int k = random.nextInt(i + 1);
			Shape s = shapes[i];
			shapes[i] = shapes[k];
			shapes[k] = s;
		}
		return shapes;
	}

	/* The class alone decides. */
	static long header(Shape[] shapes) {
		long squares = 0;
		for (Shape s : shapes)
			if (s instanceof Square)
				squares++;
		return squares;
	}

	/* The class decides, and the field is read next: it lies in the same cache line. */
	static long headerAndField(Shape[] shapes) {
		long area = 0;
		for (Shape s : shapes)
			if (s instanceof Square square)
				area += square.area;
		return area;
	}

	static long fields(Shape[] shapes) {
		long area = 0;
		for (Shape s : shapes)
			area += s.area;
		return area;
	}

	static long[] large() { return new long[8 * MANY]; } // site: large

	/* A column of a matrix: each access another line of the cache. */
	static long columns(long[] a) {
		long sum = 0;
		for (int column = 0; column < 8; column++)
			for (int row = 0; row < MANY; row++)
				sum += a[(int) (row * 8191L + column & a.length - 1)];
		return sum;
	}

	/* The same array; its first sixteenth alone, which is 4 MiB: more than a core's own caches hold. */
	static long part(long[] a) {
		long sum = 0;
		for (int round = 0; round < 8; round++)
			for (int i = 0; i < MANY / 2; i++)
				sum += a[(int) (i * 8191L + round & MANY / 2 - 1)];
		return sum;
	}

	static int[] table() { return new int[4096]; } // site: table

	/* A table of 16 KiB, beside divisions that take the time. */
	static long divisions(int[] table, int by) {
		long sum = 0;
		for (int round = 0; round < 64; round++)
			for (int i = 0; i < table.length; i++)
				sum += (table[i] ^ round) / by;
		return sum;
	}

	/* The same table, without them: each access finds it in the first cache. */
	static long inFirstCache(int[] table) {
		int sum = 0;
		for (int round = 0; round < 256; round++)
			for (int i = 0; i < table.length; i++)
				sum += table[i];
		return sum;
	}

	/* One object whose fields a loop reads again and again, as a parser's. They are volatile: no loop keeps them in a register. */
	static final class Cursor {
		volatile int at, end = 1 << 16, row, column;
	}

	/* Each access finds the object in the first cache. */
	static long oneObject(Cursor c) {
		long sum = 0;
		for (int i = 0; i < MANY; i++)
			sum += c.at + c.end + c.row + c.column;
		return sum;
	}

	/* An array that fits no cache, with so many divisions for each element that nothing waits for it. */
	static long moreDivisions(int[] a, int by) {
		long sum = 0;
		for (int i = 0; i < a.length; i++)
			sum += (a[i] | 1 << 30) / by / by / by;
		return sum;
	}

	static double[] matrix() { return new double[SIDE * SIDE]; } // site: matrix

	/* The matrix lies by row: from one element of a column to the next are SIDE elements. */
	static double byColumn(double[] a, int side) {
		double sum = 0;
		for (int column = 0; column < side; column++)
			for (int row = 0; row < side; row++)
				sum += a[row * side + column];
		return sum;
	}

	static double byRow(double[] a, int side) {
		double sum = 0;
		for (int row = 0; row < side; row++)
			for (int column = 0; column < side; column++)
				sum += a[row * side + column];
		return sum;
	}

	static int[] records() { return new int[16 * MANY]; } // site: records

	/* Records of 16 numbers, of which one is used. */
	static long oneField(int[] a) {
		long sum = 0;
		for (int i = 3; i < a.length; i += 16)
			sum += a[i];
		return sum;
	}

	static long allFields(int[] a) {
		int sum = 0;
		for (int i = 0; i < a.length; i++)
			sum += a[i];
		return sum;
	}

	static double atRandom(double[] a, int seed) {
		double sum = 0;
		for (int i = 0, x = seed; i < MANY; i++) {
			x = x * 1664525 + 1013904223;
			sum += a[(x >>> 8) % a.length];
		}
		return sum;
	}

	static long stores(long[] a, long value) {
		for (int row = 0; row < MANY; row++)
			a[(int) (row * 8191L & a.length - 1)] = value;
		return value;
	}

	/* Nothing to speak of is in memory. */
	static long calm() {
		long x = sink | 1;
		for (int i = 0; i < 10 * MANY; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}

	static final Object[] window = new Object[MANY / 8]; /* small objects that collections must copy */
	static final byte[][] ring = new byte[2048][];

	static byte[] scratch() { return new byte[8192]; } // site: scratch

	/* An array for each piece of work; with `keep` the last 2,048 of them live. */
	static long scratches(boolean keep) {
		long sum = 0;
		for (int i = 0; i < ring.length; i++) {
			byte[] b = scratch();
			b[b.length - 1 - i] = 1; // it is used to its end
			sum += b[ring.length - i];
			if (keep)
				ring[i] = b;
			window[(int) (sink + 61 * i & window.length - 1)] = new Square(i);
		}
		return sum + 61 * ring.length;
	}

	static long cpu() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	public static void main(String[] args) {
		String mode = args[0];
		long end = cpu() + (long) (Double.parseDouble(args[1]) * 1e9), rounds = 0;
		boolean shaped = mode.startsWith("header") || mode.equals("fields");
		Shape[] shapes = shaped ? shapes() : null;
		boolean calm = mode.equals("calm"); // even to clear arrays is not nothing on a busy machine
		long[] a = calm ? null : large();
		double[] m = calm ? null : matrix();
		int[] r = calm ? null : records();
		int[] table = table();
		Cursor cursor = new Cursor();
		int by = 3 + args.length; // no constant: those are divided by by multiplication
		for (; cpu() < end; rounds++)
			switch (mode) {
				case "header" -> sink += header(shapes);
				case "header-and-field" -> sink += headerAndField(shapes);
				case "fields" -> sink += fields(shapes);
				case "columns" -> sink += columns(a);
				case "divisions" -> sink += divisions(table, by);
				case "in-first-cache" -> sink += inFirstCache(table);
				case "one-object" -> sink += oneObject(cursor);
				case "more-divisions" -> sink += moreDivisions(r, by);
				case "part" -> sink += part(a);
				case "never-read" -> sink += stores(a, rounds);
				case "read-too" -> sink += stores(a, rounds) + columns(a);
				case "by-column" -> sink += (long) byColumn(m, SIDE);
				case "by-row" -> sink += (long) byRow(m, SIDE);
				case "one-field" -> sink += oneField(r);
				case "all-fields" -> sink += allFields(r);
				case "at-random" -> sink += (long) atRandom(m, (int) rounds);
				case "short-lived" -> sink += scratches(false);
				case "longer-lived" -> sink += scratches(true);
				case "calm" -> sink += calm();
				default -> throw new IllegalArgumentException(mode);
			}
		System.out.println(rounds);
	}
}
