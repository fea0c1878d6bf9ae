package java.lang;

/**
 * Loops of empty spans, from which the agent learns what a begin and an end cost. Defined as a member
 * of java.base when that is not known yet, and of no use afterwards.
 *
 * Each is a method of its own, so that each is compiled as calls of real programs are: with one target and
 * constant arguments.
 */
final class LocusCalibrate implements Runnable {
	private static final LocusCalibrate TASK = new LocusCalibrate();

	private LocusCalibrate() {
	}

	/** Never called: what is executed is between begin and end, that is nothing. */
	@Override
	public void run() {
	}

	/** What the loop itself costs. */
	static int empty(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++)
			sum ^= i;
		return sum;
	}

	static void anonymous(int n) {
		for (int i = 0; i < n; i++) {
			LocusSpan.streamBegin(TASK, false);
			LocusSpan.end();
		}
	}

	static void primordial(int n) {
		for (int i = 0; i < n; i++) {
			LocusSpan.streamBegin(TASK, true);
			LocusSpan.end();
		}
	}

	/** Of one stream, which makes each task before it is executed. */
	static void support(int n) {
		LocusSpan.streamBegin(TASK, true);
		for (int i = 0; i < n; i++) {
			LocusSpan.streamTask(TASK);
			LocusSpan.supportBegin(TASK);
			LocusSpan.end();
		}
		LocusSpan.end();
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
