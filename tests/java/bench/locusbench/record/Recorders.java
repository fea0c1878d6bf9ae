// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The Recorder of many segments in one run, for LoopRate: each keeps a few executions, with little memory and time. A thread may
 * be within several segments at once, since loops are nested and call one another.
 */
public final class Recorders {
	private static final int SEGMENTS_MAX = 10_000;
	private static final int KEPT = 5;
	private static final int BYTES_MAX = 256 << 10; // of the inputs of one execution
	private static final long NS_MAX = 300_000_000; // of recording, for each segment
	private static final long DEEP_SECONDS = 2;

	private static final Segment[] SEGMENTS = new Segment[SEGMENTS_MAX];
	private static final AtomicInteger TICKETS = new AtomicInteger();
	private static final ThreadLocal<Of> OF_THREAD = ThreadLocal.withInitial(Of::new);
	/** A test that took too long: the next segment that it enters ends it. */
	public static volatile Thread abandoned;

	static {
		for (int i = 0; i < SEGMENTS_MAX; i++) {
			SEGMENTS[i] = new Segment();
		}
	}

	private static final class Segment {
		final AtomicLong executions = new AtomicLong();
		final AtomicLong spentNs = new AtomicLong();
		final List<Recording.Execution> kept = new ArrayList<>();
		final Map<String, Recording.Note> notes = new LinkedHashMap<>();

		synchronized void note(int value, String why) {
			Recording.Note before = notes.get(why);
			notes.put(why, new Recording.Note(value, why, before == null ? 1 : before.times + 1));
		}

		synchronized void keep(Recording.Execution execution) {
			if (kept.size() < KEPT) {
				kept.add(execution);
			} else {
				kept.set(ThreadLocalRandom.current().nextInt(KEPT), execution);
			}
		}

		synchronized void write(Path file) throws IOException {
			try (OutputStream out = Files.newOutputStream(file)) {
				new Recording(executions.get(), kept, new ArrayList<>(notes.values())).write(out);
			}
		}
	}

	private static final class Taken {
		final int ticket;
		final Segment segment;
		byte[] inputs;
		long begin;

		Taken(int ticket, Segment segment) {
			this.ticket = ticket;
			this.segment = segment;
		}
	}

	/** The executions that a thread is within, the innermost first. */
	private static final class Of {
		final Deque<Taken> open = new ArrayDeque<>();
		Values values = Library.values(Recorders.class.getClassLoader());
		boolean records; // then what it enters is the recorder's doing
	}

	private Recorders() {
	}

	public static int enter(int segment) {
		if (abandoned == Thread.currentThread()) {
			throw new Error("this test has taken too long");
		}
		Segment of = SEGMENTS[segment];
		long number = of.executions.getAndIncrement();
		if (number >= KEPT && ThreadLocalRandom.current().nextLong(number + 1) >= KEPT || of.spentNs.get() > NS_MAX || Deep.isHere()) {
			return -1;
		}
		Of thread = OF_THREAD.get();
		if (thread.records || thread.open.stream().anyMatch(t -> t.segment == of)) {
			return -1;
		}
		Taken taken = new Taken(TICKETS.getAndIncrement() & Integer.MAX_VALUE, of);
		thread.open.push(taken);
		return taken.ticket;
	}

	/** The thread's execution of that ticket; those within it are over. */
	private static Taken taken(int ticket) {
		Deque<Taken> open = OF_THREAD.get().open;
		if (open.stream().noneMatch(t -> t.ticket == ticket)) {
			return null;
		}
		while (open.peek().ticket != ticket) {
			open.pop();
		}
		return open.peek();
	}

	public static void inputs(int ticket, Object... values) {
		Of thread = OF_THREAD.get();
		Taken taken = taken(ticket);
		long begin = System.nanoTime();
		thread.records = true;
		try {
			taken.inputs = write(thread, values);
		} catch (Values.Refused e) {
			taken.segment.note(e.value, e.getMessage());
		} catch (Values.TooLarge e) {
			taken.segment.note(-1, "its inputs need more than " + BYTES_MAX + " bytes");
		} catch (Throwable e) {
			taken.segment.note(-1, Uncapturable.of(e).getMessage());
		} finally {
			thread.records = false;
		}
		taken.begin = System.nanoTime();
		taken.segment.spentNs.addAndGet(taken.begin - begin);
	}

	private static byte[] write(Of thread, Object[] values) throws Exception {
		Values with = thread.values;
		thread.values = Library.values(Recorders.class.getClassLoader()); // which it stays where it fails
		byte[] written;
		try {
			written = with.write(values, BYTES_MAX, false);
		} catch (Values.TooDeep e) {
			Values fresh = thread.values;
			written = Deep.run(() -> fresh.write(values, BYTES_MAX, true), DEEP_SECONDS);
		}
		thread.values = with;
		return written;
	}

	public static void outputs(int ticket, Object... values) {
		long end = System.nanoTime();
		Of thread = OF_THREAD.get();
		Taken taken = taken(ticket);
		if (taken == null) {
			return;
		}
		thread.open.pop();
		if (taken.inputs == null) {
			return;
		}
		thread.records = true;
		try {
			taken.segment.keep(new Recording.Execution(end - taken.begin, Digest.of(values), taken.inputs));
		} catch (Throwable e) {
			taken.segment.note(-1, "its outputs: " + Uncapturable.of(e).getMessage());
		} finally {
			thread.records = false;
		}
		taken.segment.spentNs.addAndGet(System.nanoTime() - end);
	}

	public static void failed(int ticket) {
		if (ticket >= 0 && taken(ticket) != null) {
			OF_THREAD.get().open.pop();
		}
	}

	/** A file for each segment that was entered, in a directory named by its number. */
	public static void write(Path directory) throws IOException {
		for (int i = 0; i < SEGMENTS_MAX; i++) {
			if (SEGMENTS[i].executions.get() > 0) {
				SEGMENTS[i].write(directory.resolve(i + "/locus-inputs.bin"));
			}
		}
	}
}
