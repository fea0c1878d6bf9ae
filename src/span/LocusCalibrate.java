// SPDX-License-Identifier: Apache-2.0
package java.lang;

/**
 * Loops of empty spans, from which the agent learns what a begin and an end cost. Defined as a member
 * of java.base when that is not known yet, and of no use afterwards. Streams begin and end between other work,
 * as they do in programs: where a loop does nothing else, a begin overlaps with the end before it.
 *
 * Each is a method of its own, so that each is compiled as calls of real programs are: with one target and
 * constant arguments.
 */
final class LocusCalibrate implements Runnable {
	private static final LocusCalibrate TASK = new LocusCalibrate();
	private static final int[] DATA = new int[64];

	private LocusCalibrate() {
	}

	/** Never called: what is executed is between begin and end, that is nothing. */
	@Override
	public void run() {
	}

	/** The cost of the loop itself. */
	static int empty(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++)
			sum ^= i;
		return sum;
	}

	/** Loads, stores and sums that take some fifty cycles. */
	private static int work(int i) {
		int[] data = DATA;
		int sum = i;
		for (int k = 0; k < 24; k++) {
			sum = sum * 31 + data[i + k & 63];
			data[i * 7 + k & 63] = sum;
		}
		return sum;
	}

	/** The cost of work() and the loop. */
	static int busy(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++)
			sum ^= work(i);
		return sum;
	}

	static int anonymous(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			LocusSpan.streamBegin(TASK, false);
			LocusSpan.ended(null);
		}
		return sum;
	}

	static int primordial(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			LocusSpan.streamBegin(TASK, true);
			LocusSpan.ended(null);
		}
		return sum;
	}

	/** The cost of one stream, which makes each task before it is executed. */
	static int support(int n) {
		int sum = 0;
		LocusSpan.streamBegin(TASK, true);
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			LocusSpan.streamTask(TASK);
			LocusSpan.supportBegin(TASK);
			LocusSpan.end();
		}
		LocusSpan.end();
		return sum;
	}

	/** A task that nobody submits would be part of the thread that made it. */
	static void prepareTask() {
		LocusSpan.created(TASK);
		LocusSpan.submitted(TASK, 1);
	}

	/** One that is known, executed again and again. */
	static void task(int n) {
		for (int i = 0; i < n; i++) {
			LocusSpan.taskBegin(TASK, 0);
			LocusSpan.end();
		}
	}
}
