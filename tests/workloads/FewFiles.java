import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * So many threads follow a shuffled list of their own, which only breakpoints tell the addresses of, for some CPU time
 * each, and stay. After that the program opens files until it cannot, and prints how many it got. It has them for so many
 * milliseconds more, and with "end" still when it ends.
 *
 * Usage: FewFiles THREADS STEPS [MILLISECONDS [end]]
 */
public class FewFiles {
	static final class Node {
		Node next;
		long[] rest = new long[15];
	}

	static volatile Node sink;

	static Node list(int nodes) {
		List<Node> all = new ArrayList<>();
		for (int i = 0; i < nodes; i++)
			all.add(new Node());
		java.util.Collections.shuffle(all, new java.util.Random(1));
		for (int i = 0; i < nodes; i++)
			all.get(i).next = all.get((i + 1) % nodes);
		return all.get(0);
	}

	static Node follow(Node n, int steps) {
		for (int i = 0; i < steps; i++)
			n = n.next;
		return n;
	}

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]), steps = Integer.parseInt(args[1]);
		Node first = list(20000);
		CountDownLatch done = new CountDownLatch(threads), go = new CountDownLatch(1);
		for (int t = 0; t < threads; t++) {
			Thread thread = new Thread(() -> {
				for (int i = 0; i < 100; i++)
					sink = follow(first, steps / 100);
				done.countDown();
				try {
					go.await();
				} catch (InterruptedException e) {
					return;
				}
			});
			thread.start();
		}
		done.await();
		List<FileInputStream> open = new ArrayList<>();
		try {
			for (;;)
				open.add(new FileInputStream("/dev/null"));
		} catch (IOException e) {
			System.out.println("{\"opened\":" + open.size() + "}");
		}
		if (args.length > 2)
			Thread.sleep(Long.parseLong(args[2]));
		if (args.length > 3)
			System.exit(0);
		for (FileInputStream f : open)
			f.close();
		go.countDown();
	}
}
