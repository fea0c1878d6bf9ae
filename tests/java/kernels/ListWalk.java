// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Random;

/** A walk along a list without a branch to predict, which leaves two values that do not depend on one another. */
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
			head = new Node(random.nextInt(), head);
		}
		return head;
	}

	static long walk(Node head) {
		int bits = 0;
		long sum = 0;
		/** @bench-this */
		for (Node node = head; node != null; node = node.next) {
			bits ^= node.value;
			sum += node.value;
		}
		return bits * sum;
	}

	public static void main(String[] words) {
		Node head = list();
		long all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			all += walk(head);
		}
		System.out.println(all);
	}
}
