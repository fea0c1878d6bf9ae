import java.util.stream.IntStream;

/** Executes one stream, and one task on a thread that is busy for so long. Usage: FewSpans BUSY_MS */
public class FewSpans {
	static volatile long sum;

	public static void main(String[] args) throws Exception {
		long busy = Long.parseLong(args[0]) * 1_000_000;

		sum = IntStream.range(0, 100).filter(i -> i % 3 == 0).sum();
		Thread thread = new Thread(() -> {
			long end = System.nanoTime() + busy;

			while (System.nanoTime() < end)
				sum++;
		}, "busy");
		thread.start();
		thread.join();
		System.out.println("done");
	}
}
