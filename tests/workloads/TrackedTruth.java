import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/*
 * Walks small objects of one class, Node, that six methods make, for known parts of the CPU time.
 *
 * Usage: TrackedTruth CPU_SECONDS [wait|later|collect]
 *
 * Three of the methods make objects that are walked: newFirst and newKept at the start, newYoung
 * again and again. newRare, newBurst and newLone make objects that nobody reads. Other small objects
 * are made in between. With "wait" it says "ready", and waits for a line, before it makes the first;
 * with "later" when the objects that are walked first are there. With "collect" it asks for a full
 * collection in each round, so that most rings of newYoung outlive some of them and die.
 * It prints one line of JSON: CPU nanoseconds of each walk, and objects of each method.
 */
public final class TrackedTruth {
	static final class Node {
		Node next;
		int number;

		Node(int number) {
			this.number = number;
		}
	}

	static final int FIRST = 0, KEPT = 1, YOUNG = 2, WALKS = 3;
	static final String[] NAMES = {"newFirst", "newKept", "newYoung"};
	static final int[] PERCENT = {45, 20, 35};
	static final int LENGTH = 1 << 14;
	static final long ROUND_NS = 200_000_000L;

	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static final long[] ns = new long[WALKS];
	static long first, kept, young, rare, burst, lone;
	static volatile Object sink;
	static byte[][] garbage = new byte[256][];

	static Node newFirst(int i) { first++; return new Node(i); }
	static Node newKept(int i) { kept++; return new Node(i); }
	static Node newYoung(int i) { young++; return new Node(i); }
	static Node newRare(int i) { rare++; return new Node(i); }
	static Node newBurst(int i) { burst++; return new Node(i); }
	static Node newLone(int i) { lone++; return new Node(i); }

	static Node make(int walk, int i) {
		if ((i & 31) == 0)
			garbage[i >> 5 & 255] = new byte[40 + (i & 511)];
		switch (walk) {
		case FIRST: return newFirst(i);
		case KEPT: return newKept(i);
		default: return newYoung(i);
		}
	}

	/* A ring through all of them, in random order. */
	static Node ring(int walk) {
		Node[] all = new Node[LENGTH];
		int seed = 12345;
		for (int i = 0; i < LENGTH; i++)
			all[i] = make(walk, i);
		for (int i = LENGTH - 1; i > 0; i--) {
			seed = seed * 1664525 + 1013904223;
			int j = (seed >>> 8) % i;
			Node t = all[i];
			all[i] = all[j];
			all[j] = t;
		}
		for (int i = 0; i < LENGTH; i++)
			all[i].next = all[(i + 1) % LENGTH];
		return all[0];
	}

	static Node walk(Node n, int steps) {
		for (int i = 0; i < steps; i++)
			n = n.next;
		return n;
	}

	static void walkFor(int walk, Node[] rings, long goal) {
		long t0 = THREADS.getCurrentThreadCpuTime(), before = ns[walk];
		while (ns[walk] < goal) {
			rings[walk] = walk(rings[walk], 200_000);
			ns[walk] = before + (THREADS.getCurrentThreadCpuTime() - t0);
		}
	}

	public static void main(String[] args) throws Exception {
		long quota = (long) (Double.parseDouble(args[0]) * 1e9);
		Node[] rings = new Node[WALKS];
		long walked = 0;
		boolean collect = args.length > 1 && args[1].equals("collect");
		if (args.length > 1 && args[1].equals("wait")) {
			System.out.println("ready");
			System.in.read();
		}
		for (int i = 0; i < WALKS; i++)
			rings[i] = ring(i);
		if (args.length > 1 && args[1].equals("later")) {
			System.out.println("ready");
			System.in.read();
		}
		sink = newLone(1);
		for (int round = 1; walked < quota; round++) {
			for (int i = 0; i < 400; i++)
				sink = newBurst(i);
			for (int i = 0; i < 300; i++)
				garbage[i & 255] = new byte[20_000 + i];
			if (collect)
				System.gc();
			if (round % 3 == 0) {
				sink = newRare(round);
				rings[YOUNG] = ring(YOUNG);
			}
			walked = 0;
			for (int i = 0; i < WALKS; i++) {
				walkFor(i, rings, ROUND_NS * PERCENT[i] / 100 * round);
				walked += ns[i];
			}
		}
		StringBuilder out = new StringBuilder("{\"walks_ns\":{");
		for (int i = 0; i < WALKS; i++)
			out.append(i > 0 ? "," : "").append("\"" + NAMES[i] + "\":" + ns[i]);
		out.append("},\"made\":{\"newFirst\":" + first + ",\"newKept\":" + kept + ",\"newYoung\":" + young
				+ ",\"newRare\":" + rare + ",\"newBurst\":" + burst + ",\"newLone\":" + lone + "}}");
		System.out.println(out);
	}
}
