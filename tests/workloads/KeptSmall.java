import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/*
 * Keeps small objects of several sites for long, collects all of the heap, and reads them before and
 * after. Prints one line of JSON: objects made at each site by each caller, and the CPU time of each
 * phase in ms.
 *
 * Usage: KeptSmall NODES PHASE_MS [churn]
 *
 * Nodes of one class come from two sites in equal numbers and in no order, with garbage between them,
 * so that a collection that compacts moves nearly all of them by different distances. With "churn"
 * more garbage is made while the nodes are read after the collection.
 */
public final class KeptSmall {
	static final class Node {
		Node next;
		long value;
	}

	static volatile Object sink;
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static final Random RANDOM = new Random(42);
	static long sum;

	static Node left() {
		return new Node(); // site: left
	}

	static Node right() {
		return new Node(); // site: right
	}

	static byte[] array(int length) {
		return new byte[length]; // site: array
	}

	static byte[] largeRare(int length) { return array(length); }

	static byte[] largeOften(int length) { return array(length); }

	static byte[] smallOften(int length) { return array(length); }

	/* Arrays by one line for three callers. */
	static long[] arrays() {
		long rare = 0, often = 0, small = 0;

		for (int i = 0; i < 40_000; i++) {
			switch (RANDOM.nextInt(4)) {
			case 0: sink = largeRare(1100 + RANDOM.nextInt(1000)); rare++; break;
			case 1: sink = smallOften(100 + RANDOM.nextInt(400)); small++; break;
			default: sink = largeOften(1100 + RANDOM.nextInt(1000)); often++; break;
			}
		}
		return new long[] {rare, often, small};
	}

	/* A ring of nodes in an order that the hardware cannot guess. */
	static Node[] build(int nodes) {
		Node[] all = new Node[nodes];

		for (int i = 0; i < nodes; i++) {
			all[i] = i % 2 == 0 ? left() : right();
			if (RANDOM.nextInt(4) == 0)
				sink = new int[RANDOM.nextInt(8)];
		}
		int[] order = new int[nodes];
		for (int i = 0; i < nodes; i++)
			order[i] = i;
		/* Left nodes lead to left ones: each ring is one site's. */
		for (int i = nodes - 1; i > 1; i--) {
			int j = RANDOM.nextInt(i + 1);
			if ((i & 1) != (j & 1))
				j = j > 0 ? j - 1 : j + 1;
			int o = order[i];
			order[i] = order[j];
			order[j] = o;
		}
		for (int i = 0; i < nodes; i++)
			all[order[i]].next = all[order[(i + 2) % nodes]];
		return all;
	}

	static long walkBefore(Node at, int steps) {
		long s = 0;

		for (int i = 0; i < steps; i++, at = at.next)
			s += at.value;
		start = at;
		return s;
	}

	static long walkAfter(Node at, int steps) {
		long s = 0;

		for (int i = 0; i < steps; i++, at = at.next)
			s += at.value;
		start = at;
		return s;
	}

	static Node start;

	static long cpu() { return THREADS.getCurrentThreadCpuTime() / 1_000_000; }

	public static void main(String[] args) {
		int nodes = Integer.parseInt(args[0]);
		long phase = Long.parseLong(args[1]);
		boolean churn = args.length > 2;
		long begin, before, after;
		Node[] all = build(nodes);
		long[] arrays = arrays();

		start = all[0];
		begin = cpu();
		while (cpu() < begin + phase)
			sum += walkBefore(start, 20_000);
		before = cpu() - begin;
		System.gc();
		begin = cpu();
		start = all[0];
		while (cpu() < begin + phase) {
			sum += walkAfter(start, 20_000);
			for (int i = 0; churn && i < 1000; i++)
				sink = new long[2];
		}
		after = cpu() - begin;
		System.out.println("{\"nodes\": " + nodes + ", \"largeRare\": " + arrays[0] + ", \"largeOften\": " + arrays[1]
				+ ", \"smallOften\": " + arrays[2] + ", \"before_ms\": " + before + ", \"after_ms\": " + after
				+ ", \"sum\": " + (sum & 1) + "}");
	}
}
