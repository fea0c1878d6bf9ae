// SPDX-License-Identifier: Apache-2.0
package java.lang;

import java.util.function.Function;

/**
 * Loops of empty spans and of other hooks, from which the agent learns what these cost. Defined as a member
 * of java.base when that is not known yet, and of no use afterwards. Streams begin and end between other work,
 * as they do in programs: where a loop does nothing else, a begin overlaps with the end before it. Tasks are
 * created, submitted and executed one after the other, each once.
 *
 * Each is a method of its own, so that each is compiled as calls of real programs are: with one target and
 * constant arguments.
 */
final class LocusCalibrate implements Runnable, Function<Object, Object> {
	private static final LocusCalibrate TASK = new LocusCalibrate();
	private static final int[] DATA = new int[64];

	/* LC_SUBMIT_EXECUTE of format/kinds.h, and a bit beside it of classfile/span_rewrite.h. */
	private static final int EXECUTE = 1, ENTERS = 0x100;

	private static LocusCalibrate[] tasks = {};
	private static LocusCalibrate last;

	private LocusCalibrate() {
	}

	/** Never called: what is executed is between begin and end, that is nothing. */
	@Override
	public void run() {
	}

	/** Stands for a function of flatMap(). */
	@Override
	public Object apply(Object element) {
		return element;
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

	/** Likewise, with a new task for each round. */
	static int busyMade(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			last = new LocusCalibrate();
		}
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
			LocusCalibrate task = new LocusCalibrate();
			last = task;
			LocusSpan.streamTask(task);
			LocusSpan.supportBegin(task);
			LocusSpan.end();
		}
		LocusSpan.end();
		return sum;
	}

	/** The cost of a function that has made a stream. */
	static int flat(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			if (LocusSpan.flat(TASK, TASK) != TASK)
				sum++;
		}
		return sum;
	}

	static int pull(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			LocusSpan.pulled();
		}
		return sum;
	}

	/** The cost of work(), the loop and new objects. */
	static int make(int n) {
		LocusCalibrate[] made = tasks.length < n ? tasks = new LocusCalibrate[n] : tasks;
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			made[i] = new LocusCalibrate();
		}
		return sum;
	}

	static int create(int n) {
		LocusCalibrate[] made = tasks.length < n ? tasks = new LocusCalibrate[n] : tasks;
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			made[i] = new LocusCalibrate();
			LocusSpan.created(made[i]);
		}
		return sum;
	}

	static int submit(int n) {
		LocusCalibrate[] made = tasks;
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			LocusSpan.submitted(made[i], EXECUTE);
		}
		return sum;
	}

	static int task(int n) {
		LocusCalibrate[] made = tasks;
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			LocusSpan.taskBegin(made[i], 0);
			LocusSpan.end();
		}
		return sum;
	}

	/** The cost of a method that submits: it is entered and left. */
	static int enter(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++) {
			sum ^= work(i);
			LocusSpan.submitted(null, EXECUTE | ENTERS);
			LocusSpan.left();
		}
		return sum;
	}
}
