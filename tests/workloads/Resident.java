import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/*
 * Takes memory outside the heap: a direct buffer of 200 MiB, all of it touched; a mapped file of 100 MiB,
 * half of it touched; stacks of 16 threads. It prints one line of JSON: what the kernel says is resident
 * in all, and in areas of the size of these stacks.
 *
 * Usage: Resident, with -Xss3m
 */
public final class Resident {
	static final int MIB = 1 << 20, THREADS = 16, STACK_KIB = 3 << 10;
	static ByteBuffer direct;
	static MappedByteBuffer mapped;

	static void touch(ByteBuffer b, int bytes) {
		for (int i = 0; i < bytes; i += 4096)
			b.put(i, (byte) 1);
	}

	static int recurse(int depth, CountDownLatch ready) throws InterruptedException {
		if (depth > 0)
			return 1 + recurse(depth - 1, ready);
		ready.countDown();
		Thread.sleep(Long.MAX_VALUE);
		return 0;
	}

	static void startThreads() throws InterruptedException {
		CountDownLatch ready = new CountDownLatch(THREADS);
		for (int i = 0; i < THREADS; i++) {
			Thread t = new Thread(() -> {
				try {
					recurse(4000, ready);
				} catch (InterruptedException e) {
					throw new AssertionError(e);
				}
			});
			t.setDaemon(true);
			t.start();
		}
		ready.await();
	}

	static long kib(String line) {
		return Long.parseLong(line.replaceAll("\\D+", ""));
	}

	/* Without its guard, an area has less than the stack. */
	static long residentInStacks() throws IOException {
		boolean is = false;
		long sum = 0;
		for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
			if (line.startsWith("Size:"))
				is = kib(line) <= STACK_KIB && kib(line) > STACK_KIB - 64;
			else if (is && line.startsWith("Rss:"))
				sum += kib(line);
		}
		return sum * 1024;
	}

	static long resident() throws IOException {
		List<String> lines = Files.readAllLines(Path.of("/proc/self/smaps_rollup"));
		return 1024 * kib(lines.stream().filter(l -> l.startsWith("Rss:")).findFirst().get());
	}

	public static void main(String[] args) throws Exception {
		Path file = Files.createTempFile("resident.", ".dat");
		direct = ByteBuffer.allocateDirect(200 * MIB);
		touch(direct, 200 * MIB);
		try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			mapped = c.map(FileChannel.MapMode.READ_WRITE, 0, 100 * MIB);
		}
		touch(mapped, 50 * MIB);
		startThreads();
		System.out.printf("{\"file\": \"%s\", \"stacks\": %d, \"resident\": %d, \"committed\": %d}%n", file.getFileName(),
				residentInStacks(), resident(), Runtime.getRuntime().totalMemory());
		Files.delete(file);
	}
}
