// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Records inputs and outputs of a segment, called by the instrumented program: enter(), inputs(), the segment, outputs().
 *
 * The program is a foreign one: nothing is thrown into it, nothing printed, and no lock is held while code of the program may
 * run. Each execution has the same chance to be recorded: random numbers say how many are passed over until the next. If
 * recording one takes long, the next one waits until there is time, so that the program takes little longer than without.
 * Configured by system properties: locus.bench.file, which a shutdown hook writes; locus.bench.inputs, executions that are kept
 * (100); locus.bench.bytes, for their inputs (268435456); locus.bench.seconds, of recording (60).
 */
public final class Recorder {
	private static final AtomicLong EXECUTIONS = new AtomicLong();
	private static final Store STORE = Store.open(EXECUTIONS::get);
	/** The number of the next execution that is looked at; written with the monitor of this class. */
	private static volatile long next = STORE == null ? Long.MAX_VALUE : 0;
	/** The chance of an execution to be recorded, once the store is full. */
	private static double chance = 1;
	private static final ThreadLocal<Taken> OF_THREAD = new ThreadLocal<>();

	/** An execution that is recorded, from enter() to outputs(). */
	private static final class Taken {
		final int ticket;
		byte[] inputs;
		long begin;

		Taken(int ticket) {
			this.ticket = ticket;
		}
	}

	private Recorder() {
	}

	/** Before the segment: its ticket where this execution is recorded, else -1. */
	public static int enter() {
		if (STORE == null || STORE.isClosed()) {
			return -1;
		}
		long number = EXECUTIONS.getAndIncrement();
		return number < next ? -1 : take(number);
	}

	private static int take(long number) {
		try {
			if (STORE.isBusy() || STORE.isAhead() || Deep.isHere() || OF_THREAD.get() != null) {
				return -1; // also where it is the recorder itself, or an execution within one
			}
			if (!skip(number)) {
				return -1;
			}
			int ticket = (int) (number & Integer.MAX_VALUE);
			OF_THREAD.set(new Taken(ticket));
			return ticket;
		} catch (Throwable e) {
			return -1;
		}
	}

	/** Say which execution comes next, by Li's algorithm L; false: another thread has just said so. */
	private static synchronized boolean skip(long number) {
		if (number < next) {
			return false;
		}
		int kept = STORE.executionsMax();
		if (number + 1 < kept) {
			next = number + 1;
			return true;
		}
		ThreadLocalRandom random = ThreadLocalRandom.current();
		chance *= Math.exp(Math.log(1 - random.nextDouble()) / kept);
		double passed = Math.floor(Math.log(1 - random.nextDouble()) / Math.log1p(-chance));
		next = number + 1 + (passed < Long.MAX_VALUE / 4 ? (long) Math.max(0, passed) : Long.MAX_VALUE / 4);
		return true;
	}

	/** The values that the segment begins with. */
	public static void inputs(int ticket, Object... values) {
		Taken taken = taken(ticket);
		if (taken == null) {
			return;
		}
		try {
			taken.inputs = STORE.capture(values);
		} catch (Throwable e) {
			STORE.note(-1, e);
		}
		if (taken.inputs == null) {
			forget();
		} else {
			taken.begin = System.nanoTime();
		}
	}

	/** The values that the segment ends with. */
	public static void outputs(int ticket, Object... values) {
		long end = System.nanoTime();
		Taken taken = taken(ticket);
		if (taken == null) {
			return;
		}
		try {
			STORE.keep(end - taken.begin, values, taken.inputs);
		} catch (Throwable e) {
			STORE.note(-1, e);
		}
		forget();
	}

	/** The segment threw: its execution is not recorded. */
	public static void failed(int ticket) {
		if (taken(ticket) != null) {
			forget();
		}
	}

	private static Taken taken(int ticket) {
		try {
			Taken taken = ticket < 0 ? null : OF_THREAD.get();
			return taken != null && taken.ticket == ticket ? taken : null;
		} catch (Throwable e) {
			return null;
		}
	}

	private static void forget() {
		try {
			OF_THREAD.remove();
		} catch (Throwable e) {
			STORE.note(-1, e);
		}
	}
}
