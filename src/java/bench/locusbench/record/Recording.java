// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A recorded run of a segment: inputs of some executions with a digest of their outputs, and what was not captured. */
public final class Recording {
	/** One execution of the segment. */
	public static final class Execution {
		/** How long it took, the recorder's own work apart; 0: no program ran it. */
		public final long ns;
		/** The digest of the outputs; empty: they are not known. */
		public final byte[] digest;
		/** The inputs, as Values writes them. */
		public final byte[] inputs;

		public Execution(long ns, byte[] digest, byte[] inputs) {
			this.ns = ns;
			this.digest = digest;
			this.inputs = inputs;
		}
	}

	/** Why executions were not recorded. */
	public static final class Note {
		/** The value that is the reason, counted from 0 in the order of Recorder.inputs(); -1: none of them. */
		public final int value;
		public final String why;
		/** Executions that were not recorded for this reason. */
		public final long times;

		public Note(int value, String why, long times) {
			this.value = value;
			this.why = why;
			this.times = times;
		}
	}

	private static final long MAGIC = 0x4c4f435553494e31L; // "LOCUSIN1"

	/** Executions of the segment in the run, recorded or not. */
	public final long executions;
	public final List<Execution> recorded;
	public final List<Note> notes;

	public Recording(long executions, List<Execution> recorded, List<Note> notes) {
		this.executions = executions;
		this.recorded = Collections.unmodifiableList(new ArrayList<>(recorded));
		this.notes = Collections.unmodifiableList(new ArrayList<>(notes));
	}

	/** Executions that no program ran, each with its inputs. */
	public static Recording made(Object[]... executions) throws IOException {
		List<Execution> made = new ArrayList<>();
		for (Object[] inputs : executions) {
			try {
				byte[] bytes = Library.values(Recording.class.getClassLoader()).write(inputs, Integer.MAX_VALUE - 8, false);
				made.add(new Execution(0, new byte[0], bytes));
			} catch (Values.Refused | RuntimeException e) {
				throw new IOException("inputs cannot be written: " + e.getMessage(), e);
			}
		}
		return new Recording(0, made, Collections.emptyList());
	}

	/** The notes as sentences; `names` are those of the values. */
	public List<String> sentences(List<String> names) {
		List<String> sentences = new ArrayList<>();
		for (Note note : notes) {
			String name = note.value < 0 ? "" : note.value < names.size() ? "'" + names.get(note.value) + "': " : "value " + note.value + ": ";
			sentences.add(name + note.why + " (" + note.times + (note.times == 1 ? " execution)" : " executions)"));
		}
		return sentences;
	}

	public void write(OutputStream to) throws IOException {
		DataOutputStream out = new DataOutputStream(new BufferedOutputStream(to));
		out.writeLong(MAGIC);
		out.writeLong(executions);
		out.writeInt(recorded.size());
		for (Execution execution : recorded) {
			out.writeLong(execution.ns);
			writeBytes(out, execution.digest);
			writeBytes(out, execution.inputs);
		}
		out.writeInt(notes.size());
		for (Note note : notes) {
			out.writeInt(note.value);
			out.writeLong(note.times);
			writeBytes(out, note.why.getBytes(StandardCharsets.UTF_8));
		}
		out.flush();
	}

	public static Recording read(InputStream from) throws IOException {
		DataInputStream in = new DataInputStream(new BufferedInputStream(from));
		if (in.readLong() != MAGIC) {
			throw new IOException("it is no recording of inputs");
		}
		long executions = in.readLong();
		List<Execution> recorded = new ArrayList<>();
		for (int left = in.readInt(); left > 0; left--) {
			recorded.add(new Execution(in.readLong(), readBytes(in), readBytes(in)));
		}
		List<Note> notes = new ArrayList<>();
		for (int left = in.readInt(); left > 0; left--) {
			int value = in.readInt();
			long times = in.readLong();
			notes.add(new Note(value, new String(readBytes(in), StandardCharsets.UTF_8), times));
		}
		return new Recording(executions, recorded, notes);
	}

	private static void writeBytes(DataOutputStream out, byte[] bytes) throws IOException {
		out.writeInt(bytes.length);
		out.write(bytes);
	}

	/* readNBytes() reads in pieces, so that a length that is wrong does not ask for its memory at once. */
	private static byte[] readBytes(DataInputStream in) throws IOException {
		int length = in.readInt();
		byte[] bytes = length < 0 ? new byte[0] : in.readNBytes(length);
		if (bytes.length != length) {
			throw new IOException("the recording of inputs is cut");
		}
		return bytes;
	}
}
