/*
 * Walks over a list on a thread whose signal handlers have a stack of their own.
 *
 * Usage: AltStack LIBRARY BYTES MS
 *
 * Prints {"installed":.., "used":..}: whether the kernel has taken a stack of BYTES bytes, and how many of
 * them handlers have used when the time is over.
 */
public final class AltStack {
	static final class Node {
		Node next;
		long value;
		final long[] more = new long[200];
	}

	static native boolean install(int bytes);

	static native int used();

	static long walk(Node first, int steps) {
		long sum = 0;

		for (Node n = first; steps > 0; n = n.next, steps--)
			sum += n.value + n.more[(int) (sum & 127)];
		return sum;
	}

	static long deep(Node first, int frames) {
		return frames == 0 ? walk(first, 200_000) : deep(first, frames - 1) + 1;
	}

	public static void main(String[] args) throws Exception {
		System.load(args[0]);
		Node first = new Node(), last = first;
		for (int i = 0; i < 5000; i++) {
			last.next = new Node();
			last = last.next;
			last.value = i;
		}
		last.next = first;
		boolean installed = install(Integer.parseInt(args[1]));
		long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000, sum = 0;
		while (System.nanoTime() < end)
			sum += deep(first, 30);
		System.out.println("{\"installed\":" + installed + ",\"used\":" + used() + ",\"sum\":" + sum % 2 + "}");
	}
}
