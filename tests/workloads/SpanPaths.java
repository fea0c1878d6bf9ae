import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/*
 * Executes streams at one place, and makes and submits tasks at another; three callers reach each:
 * directly, through many frames, and by native code. "once", "twice", "thrice" say how often.
 */
public class SpanPaths {
	static long sink;
	static ExecutorService pool;
	static Future<?> last;
	static Method reflected;

	static class Work implements Runnable {
		public void run() {
			sink++;
		}
	}

	static void stream() {
		sink += IntStream.range(0, 4).sum(); // span: stream
	}

	static void task() {
		Runnable work = new Work(); // span: create
		last = pool.submit(work); // span: submit
	}

	static void deep(int frames) {
		if (frames > 0) {
			deep(frames - 1);
		} else {
			stream();
			task();
		}
	}

	static void once(int frames) {
		deep(frames);
	}

	static void twice(int frames) {
		deep(frames);
	}

	static void thrice(int frames) {
		deep(frames);
	}

	public static void entered() {
		stream();
		task();
	}

	static void reflectOnce() throws Exception {
		reflected.invoke(null);
	}

	static void reflectTwice() throws Exception {
		reflected.invoke(null);
	}

	static void reflectThrice() throws Exception {
		reflected.invoke(null);
	}

	static void round(int frames) throws Exception {
		once(frames);
		twice(frames);
		thrice(frames);
		thrice(frames);
		twice(frames);
		thrice(frames);
	}

	static void reflectedRound() throws Exception {
		reflectOnce();
		reflectTwice();
		reflectThrice();
		reflectThrice();
		reflectTwice();
		reflectThrice();
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]), frames = Integer.parseInt(args[1]);

		pool = Executors.newFixedThreadPool(2);
		reflected = SpanPaths.class.getMethod("entered");
		for (int i = 0; i < rounds; i++) {
			round(0);
			round(frames);
			reflectedRound();
			last.get();
		}
		pool.shutdown();
		pool.awaitTermination(1, java.util.concurrent.TimeUnit.MINUTES);
		System.out.println(sink);
	}
}
