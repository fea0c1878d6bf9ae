// SPDX-License-Identifier: Apache-2.0
package locusjmh;

/** Reads what all threads of this JVM have allocated so far, as the agent counts it, and puts marks into its profile. */
final class Counts {
	/* The order of src/agent/agent_jmh.c. */
	private static final int OBJECTS = 0;
	private static final int BYTES = 1;
	private static final int MISSED = 2;
	private static final int LEAST_BYTES = 3;
	private static final int COUNT = 4;

	final long objects;
	final long bytes;
	/** Objects that the agent could not count. */
	final long missed;
	/** Objects of at least so many bytes are counted. */
	final long leastBytes;

	private Counts(long[] values) {
		objects = values[OBJECTS];
		bytes = values[BYTES];
		missed = values[MISSED];
		leastBytes = values[LEAST_BYTES];
	}

	/** The agent's own native method: the JVM looks for it in the agents' libraries. */
	private static native boolean read(long[] out);

	private static native boolean mark(String name);

	/** Mark a point in time in the profile. Returns whether it is there: this JVM is profiled. */
	static boolean markHere(String name) {
		try {
			return mark(name);
		} catch (UnsatisfiedLinkError noAgent) {
			return false;
		}
	}

	/** The counts now; null where this JVM is not profiled. */
	static Counts take() {
		long[] values = new long[COUNT];
		try {
			return read(values) ? new Counts(values) : null;
		} catch (UnsatisfiedLinkError noAgent) {
			return null;
		}
	}
}
