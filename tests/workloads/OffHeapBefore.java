import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
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

/*
 * Has blocks outside the heap before it is attached to: 100 direct buffers of odd sizes, one of 8 MB,
 * and two mapped files in the current directory.
 *
 * Reads commands "WHAT N" and answers each with a line: `free` frees half of the buffers, and the second
 * file; `more` allocates N buffers of odd sizes; `walk` reads the large buffer and the file for N ms of
 * CPU time; `pools` prints what the JVM's pools hold, as JSON.
 */
public final class OffHeapBefore {
	static final int LARGE = 8 << 20;
	static sun.misc.Unsafe unsafe = unsafe();
	static List<ByteBuffer> small = new ArrayList<>();
	static ByteBuffer large;
	static MappedByteBuffer file, other;
	static long sum;

	static sun.misc.Unsafe unsafe() {
		try {
			var f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
			f.setAccessible(true);
			return (sun.misc.Unsafe) f.get(null);
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	static MappedByteBuffer map(String begin, int bytes) throws IOException {
		Path path = Files.createTempFile(Path.of("."), begin, ".dat");
		try (FileChannel c = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
			return c.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
		}
	}

	static void allocate(int n) {
		for (int i = 0; i < n; i++)
			small.add(ByteBuffer.allocateDirect(1001 + 2 * i));
	}

	static void scan(ByteBuffer b) {
		long s = 0;
		for (int i = 0; i < LARGE; i += 64)
			s += b.get(i);
		sum += s;
	}

	static void walk(long ms) {
		long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() + ms * 1_000_000;
		while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end) {
			scan(large);
			scan(file);
		}
	}

	static void free() {
		for (int i = 0; i < 50; i++)
			unsafe.invokeCleaner(small.get(i));
		unsafe.invokeCleaner(other);
	}

	static String pools() {
		StringBuilder out = new StringBuilder("{");
		for (BufferPoolMXBean p : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class))
			if (p.getName().equals("direct") || p.getName().equals("mapped"))
				out.append(String.format("%s\"%s\": [%d, %d]", out.length() > 1 ? ", " : "", p.getName(),
						p.getCount(), p.getMemoryUsed()));
		return out.append("}").toString();
	}

	public static void main(String[] args) throws IOException {
		allocate(100);
		large = ByteBuffer.allocateDirect(LARGE);
		file = map("first.", LARGE);
		other = map("second.", 12345);
		walk(300); /* compiled */
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		System.out.println("ready");
		for (String line; (line = in.readLine()) != null && !line.equals("end");) {
			String[] words = line.split(" ");
			String answer = "done";
			switch (words[0]) {
			case "free" -> free();
			case "more" -> allocate(Integer.parseInt(words[1]));
			case "walk" -> walk(Long.parseLong(words[1]));
			default -> answer = pools();
			}
			System.out.println(answer);
		}
	}
}
