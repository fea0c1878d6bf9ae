import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/*
 * Costs of memory outside the heap, one way after the other.
 *
 * Usage: OffHeapCosts CPU_MILLISECONDS WAY...
 *
 * churn: makes a direct buffer for each message, and frees it. pooled: uses one again. copies: writes a heap buffer
 * to a file. direct: writes a direct one. bytes: sums up a direct buffer byte by byte. map: reads a file by a map. load: has it read in first.
 */
public final class OffHeapCosts {
	static final int BYTES = 64 << 10, LARGE = 32 << 20;
	static long sum;

	static boolean goesOn(long end) {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end;
	}

	static void use(ByteBuffer b) {
		for (int i = 0; i < BYTES; i += 4096)
			b.put(i, (byte) i);
		sum += b.get(4096);
	}

	static void churn(long end) {
		while (goesOn(end)) {
			ByteBuffer b = ByteBuffer.allocateDirect(BYTES); // site: churn
			use(b);
			OffHeap.unsafe.invokeCleaner(b);
		}
	}

	static void pooled(long end) {
		ByteBuffer[] pool = new ByteBuffer[200];
		for (int i = 0; i < pool.length; i++)
			pool[i] = ByteBuffer.allocateDirect(BYTES);
		for (int i = 0; goesOn(end); i++)
			use(pool[i % pool.length]);
		for (ByteBuffer b : pool)
			OffHeap.unsafe.invokeCleaner(b);
	}

	static void write(ByteBuffer b, long end) throws IOException {
		Path file = Files.createTempFile("costs.", ".dat");
		try (FileChannel c = FileChannel.open(file, StandardOpenOption.WRITE)) {
			while (goesOn(end)) {
				b.clear();
				c.write(b, 0); // site: write
			}
		}
		Files.delete(file);
	}

	static int add(ByteBuffer b) {
		int s = 0;
		for (int i = 0; i < LARGE; i++)
			s += b.get(i);
		return s;
	}

	static void bytes(long end) {
		ByteBuffer b = ByteBuffer.allocateDirect(LARGE);
		while (goesOn(end))
			sum += add(b);
	}

	static void map(long end, boolean load) throws IOException {
		Path file = Files.createTempFile("costs.", ".dat");
		Files.write(file, new byte[LARGE]);
		while (goesOn(end))
			try (FileChannel c = FileChannel.open(file)) {
				MappedByteBuffer b = c.map(FileChannel.MapMode.READ_ONLY, 0, LARGE);
				if (load)
					b.load();
				for (int i = 0; i < LARGE; i += 4096)
					sum += b.get(i); // site: map
				OffHeap.unsafe.invokeCleaner(b);
			}
		Files.delete(file);
	}

	static void run(String way, long ms) {
		long end = ms * 1_000_000;
		try {
			switch (way) {
			case "churn" -> churn(end);
			case "pooled" -> pooled(end);
			case "copies" -> write(ByteBuffer.allocate(1 << 20), end);
			case "direct" -> write(ByteBuffer.allocateDirect(1 << 20), end);
			case "map" -> map(end, false);
			case "load" -> map(end, true);
			default -> bytes(end);
			}
		} catch (IOException e) {
			throw new java.io.UncheckedIOException(e);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		for (int i = 1; i < args.length; i++) {
			String way = args[i];
			Thread t = new Thread(() -> run(way, Long.parseLong(args[0])), way);
			t.start();
			t.join();
		}
	}
}
