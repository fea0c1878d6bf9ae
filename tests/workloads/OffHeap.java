import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Reads and writes memory outside the heap, each way on a thread of its own, which does nothing else.
 * Eight threads then allocate blocks and free half of them.
 *
 * Usage: OffHeap CPU_MILLISECONDS BLOCKS [PHASE...]
 *
 * The threads of a phase have the phase's name; `segment` needs JDK 22. Prints one line of JSON: what
 * the eight threads allocated and freed, and what the JVM's pool of direct buffers holds at the end.
 */
public final class OffHeap {
	static final int BYTES = 32 << 20;
	static final int[] SIZES = { 64, 511, 4097, 65536 };
	static sun.misc.Unsafe unsafe = unsafe();
	static long sum;
	static List<ByteBuffer> kept = new ArrayList<>();
	static AtomicLong allocated = new AtomicLong(), allocatedBytes = new AtomicLong();
	static AtomicLong freed = new AtomicLong(), freedBytes = new AtomicLong();

	static sun.misc.Unsafe unsafe() {
		try {
			var f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
			f.setAccessible(true);
			return (sun.misc.Unsafe) f.get(null);
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	static boolean goesOn(long end) {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end;
	}

	static void scan(ByteBuffer b) {
		long s = 0;
		for (int i = 0; i < BYTES; i += 64)
			s += b.get(i);
		sum += s;
	}

	static void scanAt(long address) {
		long s = 0;
		for (int i = 0; i < BYTES; i += 64)
			s += unsafe.getByte(address + i);
		sum += s;
	}

	static void scanArray(byte[] a) {
		long s = 0;
		for (int i = 0; i < BYTES; i += 64)
			s += a[i];
		sum += s;
	}

	static void direct(long end) {
		ByteBuffer b = ByteBuffer.allocateDirect(BYTES);
		while (goesOn(end))
			scan(b);
	}

	/* Grows once: the second block is the one that counts. It stays where it cannot grow. */
	static void memory(long end) {
		long address = unsafe.reallocateMemory(unsafe.allocateMemory(4096), BYTES);
		unsafe.setMemory(address, BYTES, (byte) 1);
		try {
			address = unsafe.reallocateMemory(address, 1L << 60);
		} catch (OutOfMemoryError e) {
			sum++;
		}
		while (goesOn(end))
			scanAt(address);
		unsafe.freeMemory(address);
	}

	static void fill(long end) {
		long address = unsafe.allocateMemory(BYTES);
		while (goesOn(end))
			unsafe.setMemory(address, BYTES, (byte) sum++);
		unsafe.freeMemory(address);
	}

	static void copy(long end) {
		ByteBuffer[] b = new ByteBuffer[2];
		for (int i = 0; i < 2; i++)
			b[i] = ByteBuffer.allocateDirect(BYTES);
		while (goesOn(end))
			b[0].clear().put(b[1].clear());
	}

	static void segment(long end) {
		try {
			Class<?> c = Class.forName("java.lang.foreign.Arena");
			Object arena = c.getMethod("ofShared").invoke(null);
			Object segment = c.getMethod("allocate", long.class, long.class).invoke(arena, (long) BYTES, 8L);
			Class<?> s = Class.forName("java.lang.foreign.MemorySegment");
			ByteBuffer b = (ByteBuffer) s.getMethod("asByteBuffer").invoke(segment);
			while (goesOn(end))
				scan(b);
			c.getMethod("close").invoke(arena);
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	static void mapped(long end) {
		try {
			Path file = Files.createTempFile("mapped.", ".dat");
			try (FileChannel c = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
				MappedByteBuffer b = c.map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
				while (goesOn(end))
					scan(b);
				unsafe.invokeCleaner(b);
			}
			Files.delete(file);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	static void heap(long end) {
		byte[] a = new byte[BYTES];
		while (goesOn(end))
			scanArray(a);
	}

	/* Allocates until -XX:MaxDirectMemorySize is reached; then the collector frees half of the buffers for others. */
	static void limit() {
		List<ByteBuffer> all = new ArrayList<>();
		for (int round = 0; round < 3; round++) {
			try {
				for (;; allocated.incrementAndGet(), allocatedBytes.addAndGet(1 << 20))
					all.add(ByteBuffer.allocateDirect(1 << 20));
			} catch (OutOfMemoryError e) {
				all.subList(0, all.size() / 2).clear();
			}
		}
	}

	static void phase(String name, long ms) {
		long end = ms * 1_000_000;
		switch (name) {
		case "direct" -> direct(end);
		case "memory" -> memory(end);
		case "fill" -> fill(end);
		case "copy" -> copy(end);
		case "segment" -> segment(end);
		case "mapped" -> mapped(end);
		case "limit" -> limit();
		default -> heap(end);
		}
	}

	static void allocate(int blocks) {
		for (int i = 0; i < blocks; i++) {
			int bytes = SIZES[i % SIZES.length];
			ByteBuffer b = ByteBuffer.allocateDirect(bytes);
			allocated.incrementAndGet();
			allocatedBytes.addAndGet(bytes);
			if (i / SIZES.length % 2 == 0) {
				unsafe.invokeCleaner(b);
				freed.incrementAndGet();
				freedBytes.addAndGet(bytes);
			} else {
				synchronized (kept) {
					kept.add(b);
				}
			}
		}
	}

	static void run(List<Thread> threads) throws InterruptedException {
		for (Thread t : threads)
			t.start();
		for (Thread t : threads)
			t.join();
	}

	public static void main(String[] args) throws InterruptedException {
		long ms = Long.parseLong(args[0]);
		int blocks = Integer.parseInt(args[1]);
		for (int i = 2; i < args.length; i++) {
			String name = args[i];
			/* Code is interpreted on another thread. */
			run(List.of(new Thread(() -> phase(name, ms / 3), "warm-up")));
			run(List.of(new Thread(() -> phase(name, ms), name)));
		}
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < 8; i++)
			threads.add(new Thread(() -> allocate(blocks)));
		run(threads);
		for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class))
			if (pool.getName().equals("direct"))
				System.out.printf("{\"allocated\": %d, \"allocated_bytes\": %d, \"freed\": %d, "
						+ "\"freed_bytes\": %d, \"pool\": %d, \"pool_bytes\": %d}%n",
						allocated.get(), allocatedBytes.get(), freed.get(), freedBytes.get(),
						pool.getCount(), pool.getMemoryUsed());
	}
}
