import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** Executes streams inside a stream, and tasks, until its standard input ends. */
public class LiveSpans {
	static volatile long sink;

	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);

		while (System.in.available() == 0) {
			sink += IntStream.range(0, 1000).flatMap(i -> IntStream.of(i, i + 1)).sum(); // LINE: stream
			List<Future<?>> futures = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				int n = i;
				futures.add(pool.submit(() -> { // LINE: task
					sink += n;
				}));
			}
			for (Future<?> future : futures)
				future.get();
			Thread.sleep(1);
		}
		pool.shutdown();
	}
}
