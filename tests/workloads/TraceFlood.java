import java.util.stream.IntStream;

/** Executes many tiny streams on several threads. Usage: TraceFlood THREADS STREAMS_PER_THREAD */
public class TraceFlood {
	private static volatile long sum;

	public static void main(String[] args) throws InterruptedException {
		Thread[] threads = new Thread[Integer.parseInt(args[0])];
		int streams = Integer.parseInt(args[1]);

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> flood(streams));
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
	}

	private static void flood(int streams) {
		long total = 0;

		for (int i = 0; i < streams; i++)
			total += IntStream.range(0, 8).sum();
		sum = total;
	}
}
