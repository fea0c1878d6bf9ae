package kernels;

import java.util.Random;

/** A walk along a list, which leaves two values that do not depend on one another. */
public final class ListWalk {
	private static final int SIZE = 1000;

	static final class Node {
		final int value;
		final Node next;

		Node(int value, Node next) {
			this.value = value;
			this.next = next;
		}
	}

	private ListWalk() {
	}

	static Node list() {
		Random random = new Random(9);
		Node head = null;
		for (int i = 0; i < SIZE; i++) {
			head = new Node(random.nextInt(100), head);
		}
		return head;
	}

	static long walk(Node head, int limit) {
		int hits = 0;
		long sum = 0;
		/** @bench-this */
		for (Node node = head; node != null; node = node.next) {
			if (node.value < limit) {
				hits++;
			}
			sum += node.value;
		}
		return hits * sum;
	}

	public static void main(String[] words) {
		Node head = list();
		long all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			all += walk(head, 10);
		}
		System.out.println(all);
	}
}
