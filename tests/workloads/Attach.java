import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/*
 * Does what it is told, a line at a time, while storms of allocation go on; ends with status 7.
 *
 * Usage: Attach STORMS [loop] [gc]
 *
 * "make N": four threads that are old by then allocate N arrays of 2000 bytes each; answers "made
 * 4N". "end" or the end of the input ends it; then "storms N" says how many storms still allocate.
 * With "loop" a thread works in a loop that never ends, and with "gc" one collects all the time.
 * With neither, a storm rests for a millisecond after each 500 arrays: it leaves processors to others.
 */
public final class Attach {
	static volatile Object sink;
	static volatile boolean over;
	static volatile long looped;

	static final class Storm extends Thread {
		final long restMs;
		volatile long made;
		Object kept;

		Storm(long restMs) {
			this.restMs = restMs;
		}

		Object one() {
			return new int[700];
		}

		void many() {
			for (int i = 0; i < 500; i++) {
				kept = one();
				made++;
			}
		}

		@Override
		public void run() {
			while (!over) {
				many();
				LockSupport.parkNanos(restMs * 1_000_000);
			}
		}
	}

	static final class Loop extends Thread {
		@Override
		public void run() {
			byte[] walked = new byte[1 << 20];
			for (long i = 0, sum = 0; !over; i++) {
				sum += walked[(int) (i * 4099) & walked.length - 1];
				if ((i & 0xffffff) == 0) {
					sink = new byte[3000];
					looped = sum;
				}
			}
		}
	}

	static final class Maker {
		static Object make() {
			return new byte[2000];
		}

		static long some(int n) {
			for (int i = 0; i < n; i++)
				sink = make();
			return n;
		}
	}

	static void start(Thread thread) {
		thread.setDaemon(true);
		thread.start();
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		ExecutorService pool = Executors.newFixedThreadPool(4);
		List<Storm> storms = new ArrayList<>();
		List<String> options = List.of(args);
		Maker.some(20_000);
		for (int i = 0; i < Integer.parseInt(args[0]); i++) {
			storms.add(new Storm(options.contains("loop") || options.contains("gc") ? 0 : 1));
			start(storms.get(i));
		}
		if (options.contains("loop"))
			start(new Loop());
		if (options.contains("gc"))
			start(new Thread(() -> {
				while (!over)
					System.gc();
			}));
		System.out.println("ready");
		for (String line; (line = in.readLine()) != null && !line.equals("end"); ) {
			int n = Integer.parseInt(line.substring("make ".length()));
			List<Future<Long>> all = new ArrayList<>();
			long made = 0;
			for (int i = 0; i < 4; i++)
				all.add(pool.submit(() -> Maker.some(n)));
			for (Future<Long> one : all)
				made += one.get();
			System.out.println("made " + made);
		}
		int alive = 0;
		for (Storm storm : storms) {
			long before = storm.made;
			for (int i = 0; i < 1000 && storm.made == before; i++)
				Thread.sleep(10);
			alive += storm.made > before ? 1 : 0;
		}
		System.out.println("storms " + alive);
		System.exit(7);
	}
}
