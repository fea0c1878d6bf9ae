// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.io.IOException;
import java.io.InputStream;

/** The recorded inputs of a segment, for the benchmark and its test. */
public final class Inputs {
	private static final String RESOURCE = "/locus-inputs.bin";
	private static final long SECONDS_MAX = 600; // to read the values of one execution

	private static Inputs ofProject;

	private final Recording recording;
	private final ThreadLocal<Values> reader = new ThreadLocal<>(); // some benchmarks read inputs before each call

	private Inputs(Recording recording) {
		this.recording = recording;
	}

	/** The inputs of the project that this class is in; read once. */
	public static synchronized Inputs load() {
		if (ofProject == null) {
			ofProject = read();
		}
		return ofProject;
	}

	private static Inputs read() {
		try (InputStream in = Inputs.class.getResourceAsStream(RESOURCE)) {
			if (in == null) {
				throw new IllegalStateException("there is no " + RESOURCE + " on the class path");
			}
			return of(Recording.read(in));
		} catch (IOException e) {
			throw new IllegalStateException(RESOURCE + " cannot be read: " + e.getMessage(), e);
		}
	}

	public static Inputs of(Recording recording) {
		return new Inputs(recording);
	}

	public int size() {
		return recording.recorded.size();
	}

	/** The values that Recorder.inputs() got; new objects at each call. */
	public Object[] values(int index) {
		byte[] bytes = recording.recorded.get(index).inputs;
		ClassLoader loader = Inputs.class.getClassLoader();
		try {
			try {
				Values values = reader.get() != null ? reader.get() : Library.values(loader);
				reader.remove(); // where it fails, it is not used again
				Object[] read = values.read(bytes, false);
				reader.set(values);
				return read;
			} catch (Values.TooDeep e) {
				return Deep.run(() -> Library.values(loader).read(bytes, true), SECONDS_MAX);
			}
		} catch (Values.Refused e) {
			throw new IllegalStateException("value " + e.value + " of input " + index + " cannot be read: " + e.getMessage(), e);
		} catch (Exception e) {
			throw new IllegalStateException("input " + index + " cannot be read: " + e, e);
		}
	}

	/** The digest of the outputs of this execution in the program; empty if no program had these inputs. */
	public byte[] digest(int index) {
		return recording.recorded.get(index).digest.clone();
	}

	/** How long this execution took in the program. */
	public long ns(int index) {
		return recording.recorded.get(index).ns;
	}

	/** The digest of outputs, as the recorder computes it. */
	public static byte[] digestOf(Object... values) {
		return Digest.of(values);
	}
}
