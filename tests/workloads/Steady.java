import java.io.PrintStream;
import java.nio.ByteBuffer;

/*
 * Allocates at a steady pace until it is told to end or killed, and says how far it is.
 *
 * Usage: Steady
 *
 * Each line is "MILLISECONDS ALLOCATIONS": CLOCK_MONOTONIC, and what was allocated by then. Before each line, a direct
 * buffer is allocated, and the one before the last BLOCKS is freed.
 * A shutdown hook prints "hook".
 */
public final class Steady {
	static final int EACH = 500, BLOCKS = 16;
	static volatile Object sink;
	static volatile long sum;

	static byte[] steadyAllocate(int n) { return new byte[n]; }

	public static void main(String[] args) throws Exception {
		PrintStream out = System.out;
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			out.println("hook");
			out.flush();
		}));
		byte[] walked = new byte[1 << 20];
		ByteBuffer[] blocks = new ByteBuffer[BLOCKS];
		for (long made = 0; ; ) {
			for (int i = 0; i < EACH; i++, made++)
				sink = steadyAllocate(4000);
			int next = (int) (made / EACH % BLOCKS);
			if (blocks[next] != null)
				OffHeap.unsafe.invokeCleaner(blocks[next]);
			blocks[next] = ByteBuffer.allocateDirect(1000);
			long here = 0;
			for (int i = 0; i < walked.length; i++)
				here += walked[i * 4099 & walked.length - 1];
			sum += here;
			out.println(System.nanoTime() / 1_000_000 + " " + made);
			out.flush();
			Thread.sleep(20);
		}
	}
}
