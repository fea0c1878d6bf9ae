import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/*
 * Does a little of everything in a fraction of a second: allocates, collects, starts threads, runs tasks
 * and streams, loads classes late, reads its input. Prints what it computed, and ends with status 3.
 *
 * Usage: Brief [MILLISECONDS]   how long it works at least
 */
public final class Brief {
	static volatile Object sink;
	static final Object[] kept = new Object[500];

	static byte[] briefAllocate(int n) {
		return new byte[n];
	}

	static final class Node {
		Node next;
		long value;
	}

	static final class Late {
		static long sum(int[] of) {
			long sum = 0;
			for (int i = 0; i < 200_000; i++)
				sum += of[i * 31 % of.length];
			return sum;
		}
	}

	static long round(int round) {
		for (int i = 0; i < 500; i++)
			kept[i] = briefAllocate(1500 + i);
		Node first = null;
		for (int i = 0; i < 2000; i++) {
			Node n = new Node();
			n.next = first;
			n.value = i;
			first = n;
		}
		long sum = Late.sum(new int[5000]);
		for (Node n = first; n != null; n = n.next)
			sum += n.value;
		sink = first;
		return sum + round;
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + (args.length > 0 ? Long.parseLong(args[0]) : 0) * 1_000_000;
		ExecutorService pool = Executors.newFixedThreadPool(2);
		List<Future<Long>> results = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			int number = i;
			results.add(pool.submit(() -> round(number)));
		}
		long sum = 0;
		for (Future<Long> f : results)
			sum += f.get();
		System.gc();
		Thread other = new Thread(() -> sink = briefAllocate(3000), "other");
		other.start();
		other.join();
		sum += IntStream.range(0, 1000).filter(i -> i % 3 == 0).mapToObj(Integer::toString).mapToLong(String::length).sum();
		System.gc();
		while (System.nanoTime() < end)
			sink = round(0);
		pool.shutdown();
		sum += System.in.readAllBytes().length;
		System.out.println("sum " + sum);
		System.exit(3);
	}
}
