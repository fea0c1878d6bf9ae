// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The recorded executions of this JVM, within their budgets of memory and time, until its end writes them.
 *
 * Its monitor is held while lists are changed only. `busy` lets one thread at a time use Kryo; another thread does not wait
 * for it, but does without its execution.
 */
final class Store {
	private static final int EXECUTIONS = 100;
	private static final long BYTES = 256L << 20;
	private static final long SECONDS = 60;
	private static final long DEEP_SECONDS = 10; // the program waits meanwhile
	private static final int NOTES_MAX = 40;
	/** Recording may take so much, and a part of the time that has passed; it then waits. */
	private static final long HEAD_START_NS = 1_000_000_000L;
	private static final int PART = 5;

	private final Path file;
	/** Executions that are kept: as many as wanted, or as many as the bytes allow, once that is known. */
	private volatile int executionsMax;
	private final long bytesMax;
	private final long nsMax;
	private final AtomicBoolean busy = new AtomicBoolean();
	private final AtomicLong spentNs = new AtomicLong();
	private final long beginNs = System.nanoTime();
	/** The time that the first inputs took, which load Kryo's classes. */
	private volatile long firstNs = -1;
	private final List<Recording.Execution> kept = new ArrayList<>();
	private final Map<String, Recording.Note> notes = new LinkedHashMap<>();
	private long bytes;
	private Values values;
	/** Nothing more is recorded. */
	private volatile boolean closed;

	private Store(Path file, int executionsMax, long bytesMax, long nsMax) {
		this.file = file;
		this.executionsMax = executionsMax;
		this.bytesMax = bytesMax;
		this.nsMax = nsMax;
	}

	/** A store as the system properties say; null if nothing is to be recorded. `executions` counts those of the segment. */
	static Store open(LongSupplier executions) {
		try {
			String file = System.getProperty("locus.bench.file", "");
			if (file.isEmpty()) {
				return null;
			}
			Store store = new Store(Paths.get(file), (int) Math.max(1, Math.min(Integer.MAX_VALUE, limit("inputs", EXECUTIONS))),
					limit("bytes", BYTES), limit("seconds", SECONDS) * 1_000_000_000L);
			Runtime.getRuntime().addShutdownHook(new Thread(() -> store.write(executions.getAsLong()), "locus-bench-end"));
			return store;
		} catch (Throwable e) {
			return null;
		}
	}

	private static long limit(String name, long otherwise) {
		return Math.max(0, Long.getLong("locus.bench." + name, otherwise));
	}

	boolean isClosed() {
		return closed;
	}

	/** Does a thread write its inputs just now? */
	boolean isBusy() {
		return busy.get();
	}

	/**
	 * Has recording taken its part of the program's time? A program that runs for a given time would else have few executions,
	 * and all those that are recorded would be of its beginning.
	 */
	boolean isAhead() {
		return spentNs.get() - Math.max(0, firstNs) > HEAD_START_NS + (System.nanoTime() - beginNs) / PART;
	}

	int executionsMax() {
		return executionsMax;
	}

	/** The bytes of these values; null where they are not captured. */
	byte[] capture(Object[] inputs) {
		if (!busy.compareAndSet(false, true)) {
			return null;
		}
		long begin = System.nanoTime();
		boolean still = false;
		try {
			return write(inputs);
		} catch (Values.Refused e) {
			note(e.value, e.getMessage());
		} catch (Values.TooLarge e) {
			note(-1, "its inputs need more than " + bytesMax + " bytes");
		} catch (Deep.Late e) {
			still = true;
			note(-1, "its inputs are nested deeply, and " + e.getMessage());
			close("inputs could not be captured in time");
		} catch (Throwable e) {
			note(-1, e);
		} finally {
			long took = System.nanoTime() - begin;
			firstNs = firstNs < 0 ? took : firstNs; // by the thread that is busy only
			spend(took);
			busy.set(still);
		}
		return null;
	}

	private byte[] write(Object[] inputs) throws Exception {
		int most = (int) Math.min(bytesMax, Integer.MAX_VALUE - 8);
		Values with = values != null ? values : Library.values(Store.class.getClassLoader());
		values = null; // which it stays where it fails
		byte[] written;
		try {
			written = with.write(inputs, most, false);
		} catch (Values.TooDeep e) {
			Values fresh = Library.values(Store.class.getClassLoader());
			written = Deep.run(() -> fresh.write(inputs, most, true),
					Math.min(DEEP_SECONDS, nsMax / 1_000_000_000L));
		}
		values = with;
		return written;
	}

	/** Keep an execution, in place of another where there are enough. */
	void keep(long ns, Object[] outputs, byte[] inputs) {
		long begin = System.nanoTime();
		byte[] digest;
		try {
			digest = Digest.of(outputs);
		} catch (Throwable e) {
			note(-1, "its outputs: " + Uncapturable.of(e).getMessage());
			return;
		} finally {
			spend(System.nanoTime() - begin);
		}
		add(new Recording.Execution(ns, digest, inputs));
	}

	private synchronized void add(Recording.Execution execution) {
		long size = execution.inputs.length;
		if (kept.size() < executionsMax && bytes + size <= bytesMax) {
			kept.add(execution);
			bytes += size;
			return;
		}
		if (kept.size() < executionsMax && !kept.isEmpty()) { // from now on one comes in another's place
			executionsMax = kept.size();
			note(-1, "no more than " + bytesMax + " bytes are kept of all inputs: those of " + executionsMax);
		}
		int at = kept.isEmpty() ? 0 : ThreadLocalRandom.current().nextInt(kept.size());
		long after = bytes + size - (kept.isEmpty() ? 0 : kept.get(at).inputs.length);
		if (!kept.isEmpty() && after <= bytesMax) {
			kept.set(at, execution);
			bytes = after;
		}
	}

	private void spend(long ns) {
		if (spentNs.addAndGet(ns) > nsMax && !closed) {
			close("recording took more than " + nsMax / 1_000_000_000L + " s");
		}
	}

	private void close(String why) {
		closed = true;
		note(-1, why + "; later executions are not recorded");
	}

	/** One more execution is not recorded, because of this value (-1: of none). Never throws. */
	void note(int value, Throwable why) {
		try {
			note(value, Uncapturable.of(why).getMessage());
		} catch (Throwable e) {
			closed = true;
		}
	}

	private synchronized void note(int value, String why) {
		String key = value + " " + why;
		Recording.Note before = notes.get(key);
		if (before != null || notes.size() < NOTES_MAX) {
			notes.put(key, new Recording.Note(value, why, before == null ? 1 : before.times + 1));
		}
	}

	private void write(long executions) {
		closed = true;
		try {
			Recording recording;
			synchronized (this) {
				recording = new Recording(executions, kept, new ArrayList<>(notes.values()));
			}
			Path part = Paths.get(file + "." + ProcessHandle.current().pid() + ".part");
			try (OutputStream out = Files.newOutputStream(part)) {
				recording.write(out);
			}
			Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
		} catch (IOException | RuntimeException | Error e) {
			System.err.println("locus: bench: '" + file + "' cannot be written: " + e);
		}
	}
}
