import java.io.BufferedReader;
import java.io.InputStreamReader;

/*
 * Has arrays when it is attached to, and does what it is told, a line at a time:
 *
 * "drop 0"   drop what lies between the old arrays
 * "gc N"     System.gc(), N times
 * "young N"  allocate N MB and drop them
 * "walk N"   read the old arrays, N times all of them
 *
 * Meanwhile a thread makes arrays of short in a method that never returns, and reads them.
 *
 * Usage: Before ARRAYS [loop]
 */
public final class Before {
	static final int RING = 64;
	static final short[][] ring = new short[RING][];
	static volatile boolean over;
	static volatile long sum;
	static volatile Object sink;
	static Object[][] pairs;

	/* Each old array has a neighbour that dies later, so that what lives has to move. */
	static void fill(int n) {
		pairs = new Object[n][];
		for (int i = 0; i < n; i++)
			pairs[i] = new Object[] { new long[500], new byte[3000] };
		System.gc();
	}

	static void drop() {
		for (Object[] pair : pairs)
			pair[1] = null;
	}

	static long read(long[] array) {
		long s = 0;
		for (int i = 0; i < array.length; i += 8)
			s += array[i];
		return s;
	}

	static void walk(int times) {
		long s = 0;
		for (int t = 0; t < times; t++)
			for (Object[] pair : pairs)
				s += read((long[]) pair[0]);
		sum = s;
	}

	static void young(int mb) {
		for (int i = 0; i < mb * 100; i++)
			sink = new byte[10_000];
	}

	static void loop() {
		long s = 0;
		for (int i = 0; !over; i++) {
			short[] made = new short[20_000];
			ring[i % RING] = made;
			for (int k = 0; k < 400; k++)
				for (int j = 0; j < made.length; j += 64)
					s += made[j];
			sum = s;
		}
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		fill(Integer.parseInt(args[0]));
		walk(20);
		if (args.length > 1) {
			Thread thread = new Thread(Before::loop);
			thread.setDaemon(true);
			thread.start();
		}
		System.out.println("ready");
		for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
			int n = Integer.parseInt(line.substring(line.indexOf(' ') + 1));
			if (line.startsWith("gc"))
				for (int i = 0; i < n; i++)
					System.gc();
			else if (line.startsWith("young"))
				young(n);
			else if (line.startsWith("drop"))
				drop();
			else
				walk(n);
			System.out.println("done");
		}
		System.exit(7);
	}
}
