import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/*
 * Two threads write one element of a float[] and its neighbours, and one field of each of five
 * records, while collections move them. How often each is touched is exact.
 *
 * Usage: Watch WRITES READS
 *
 * Each thread does half of them. Opaque accesses are plain instructions that no compiler may leave
 * out or join.
 */
public final class Watch {
	static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(float[].class);
	static final VarHandle COUNT;
	static final int INDEX = 7, RECORDS = 5;
	static volatile Object garbage;
	static volatile boolean done;

	static final class Record {
		long a, b, c, d, e, f, g, count;
	}

	static {
		try {
			COUNT = MethodHandles.lookup().findVarHandle(Record.class, "count", long.class);
		} catch (ReflectiveOperationException e) {
			throw new ExceptionInInitializerError(e);
		}
	}

	static float[] newWatched() { return new float[Integer.getInteger("floats", 16)]; }
	static Record newRecord() { return new Record(); }

	static void write(float[] a, long times) {
		for (long i = 0; i < times; i++) {
			ELEMENT.setOpaque(a, INDEX, (float) i);
			ELEMENT.setOpaque(a, INDEX - 1, (float) i);
			ELEMENT.setOpaque(a, INDEX + 1, (float) i);
		}
	}

	static float read(float[] a, long times) {
		float sum = 0;
		for (long i = 0; i < times; i++)
			sum += (float) ELEMENT.getOpaque(a, INDEX);
		return sum;
	}

	/* Record n is written times * n times. */
	static void count(Record[] records, long times) {
		for (int n = 0; n < RECORDS; n++)
			for (long i = 0; i < times * n; i++)
				COUNT.setOpaque(records[n], i);
	}

	public static void main(String[] args) throws InterruptedException {
		long writes = Long.parseLong(args[0]) / 2, reads = Long.parseLong(args[1]) / 2;
		float[] watched = newWatched();
		Record[] records = new Record[RECORDS];
		float[] sums = new float[2];
		Thread[] threads = new Thread[2];

		for (int n = 0; n < RECORDS; n++)
			records[n] = newRecord();
		for (int t = 0; t < threads.length; t++) {
			int number = t;
			threads[t] = new Thread(() -> {
				write(watched, writes);
				sums[number] = read(watched, reads);
				count(records, 1000);
			}, "writer-" + t);
		}
		for (Thread t : threads)
			t.start();
		for (int i = 0; i < 12 || threads[0].isAlive() || threads[1].isAlive(); i++) {
			byte[][] bytes = new byte[256][];
			for (int j = 0; j < bytes.length; j++)
				bytes[j] = new byte[1 << 14];
			garbage = bytes;
			Thread.sleep(20);
		}
		for (Thread t : threads)
			t.join();
		System.out.println("{\"sum\": " + (sums[0] + sums[1]) + "}");
	}
}
