import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.LongSupplier;

/*
 * Two threads read and write blocks outside the heap, and an array, in turns at random, each for a known part of
 * their time.
 *
 * Usage: OffHeapTruth CPU_MILLISECONDS WAIT KIND=WEIGHT...
 *
 * The kinds are direct, mapped, memory and heap, and those of OffHeapSegments. If WAIT is "wait", the program prints
 * "ready" and waits for a line before it makes the blocks. Prints one line of JSON: what the turns of each kind took
 * by the clocks of the threads, which are named "truth", and "other", the rest of their time, in ns.
 */
public final class OffHeapTruth {
	static final int BYTES = 32 << 20, READS = 40_000;
	static final sun.misc.Unsafe UNSAFE = OffHeap.unsafe();
	static long sink;

	static int next(int at) {
		return at * 1103515245 + 12345;
	}

	static long inBuffer(ByteBuffer b, int at) {
		long sum = 0;
		for (int i = 0; i < READS; i++) {
			at = next(at);
			sum += b.getLong(at & BYTES - 8);
		}
		for (int i = 0; i < READS; i++)
			b.put((at + 64 * i) & BYTES - 1, (byte) i);
		return sum;
	}

	static long inMemory(long address, int at) {
		long sum = 0;
		for (int i = 0; i < READS; i++) {
			at = next(at);
			sum += UNSAFE.getLong(address + (at & BYTES - 8));
		}
		for (int i = 0; i < READS; i++)
			UNSAFE.putByte(address + ((at + 64 * i) & BYTES - 1), (byte) i);
		return sum;
	}

	static long inArray(byte[] a, int at) {
		long sum = 0;
		for (int i = 0; i < READS; i++) {
			at = next(at);
			sum += a[at & BYTES - 1];
		}
		for (int i = 0; i < READS; i++)
			a[(at + 64 * i) & BYTES - 1] = (byte) i;
		return sum;
	}

	static ByteBuffer map() {
		try {
			Path file = Files.createTempFile("truth.", ".dat");
			try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
				return c.map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
			} finally {
				Files.delete(file);
			}
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	static LongSupplier direct(int[] seed) {
		ByteBuffer b = ByteBuffer.allocateDirect(BYTES);
		return () -> inBuffer(b, seed[0]++);
	}

	static LongSupplier mapped(int[] seed) {
		ByteBuffer b = map();
		return () -> inBuffer(b, seed[0]++);
	}

	static LongSupplier memory(int[] seed) {
		long address = UNSAFE.allocateMemory(BYTES);
		UNSAFE.setMemory(address, BYTES, (byte) 1);
		return () -> inMemory(address, seed[0]++);
	}

	static LongSupplier heap(int[] seed) {
		byte[] a = new byte[BYTES];
		return () -> inArray(a, seed[0]++);
	}

	/* A turn in a block of that kind, which is made here. */
	static LongSupplier turn(String kind) {
		int[] seed = { kind.hashCode() };
		switch (kind) {
		case "direct":
			return direct(seed);
		case "mapped":
			return mapped(seed);
		case "memory":
			return memory(seed);
		case "heap":
			return heap(seed);
		default:
			try {
				return (LongSupplier) Class.forName("OffHeapSegments").getMethod("turn", String.class, int.class)
						.invoke(null, kind, BYTES);
			} catch (ReflectiveOperationException e) {
				throw new AssertionError(e);
			}
		}
	}

	/* Take turns until the thread has used that much CPU time. The last element is the thread's whole time. */
	static long[] run(String[] kinds, double[] until, long cpu) {
		ThreadMXBean bean = ManagementFactory.getThreadMXBean();
		long[] ns = new long[kinds.length + 1];
		LongSupplier[] turns = new LongSupplier[kinds.length];
		for (int i = 0; i < kinds.length; i++)
			turns[i] = turn(kinds[i]);
		int at = 1;
		long last = bean.getCurrentThreadCpuTime(), end = last + cpu;
		while (last < end) {
			double x = ((at = next(at)) >>> 8) / (double) (1 << 24) * until[kinds.length - 1];
			int k = 0;
			while (until[k] < x)
				k++;
			long sum = turns[k].getAsLong(), now = bean.getCurrentThreadCpuTime();
			sink += sum;
			ns[k] += now - last;
			last = now;
		}
		ns[kinds.length] = last;
		return ns;
	}

	public static void main(String[] args) throws InterruptedException, IOException {
		long cpu = Long.parseLong(args[0]) * 1_000_000;
		int kinds = args.length - 2;
		String[] names = new String[kinds];
		double[] until = new double[kinds];
		if (args[1].equals("wait")) {
			System.out.println("ready");
			System.in.read();
		}
		for (int i = 0; i < kinds; i++) {
			String[] words = args[i + 2].split("=");
			names[i] = words[0];
			until[i] = (i > 0 ? until[i - 1] : 0) + Double.parseDouble(words[1]);
		}
		/* Code is interpreted on another thread. */
		Thread warm = new Thread(() -> run(names, until, 700_000_000), "warm-up");
		warm.start();
		warm.join();
		long[][] ns = new long[2][];
		Thread[] threads = { new Thread(() -> ns[0] = run(names, until, cpu), "truth"),
				new Thread(() -> ns[1] = run(names, until, cpu), "truth") };
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
		StringBuilder out = new StringBuilder("{");
		long other = ns[0][kinds] + ns[1][kinds];
		for (int i = 0; i < kinds; i++) {
			out.append("\"" + names[i] + "\": " + (ns[0][i] + ns[1][i]) + ", ");
			other -= ns[0][i] + ns[1][i];
		}
		System.out.println(out + "\"other\": " + other + "}");
	}
}
