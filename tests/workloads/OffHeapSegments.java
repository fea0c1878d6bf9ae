import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.LongSupplier;

/* The turns of OffHeapTruth in memory segments, of a confined arena and of a shared one. For JDK 22 and later. */
public final class OffHeapSegments {
	static final int READS = 40_000;

	static long inSegment(MemorySegment s, int at, int bytes) {
		long sum = 0;
		for (int i = 0; i < READS; i++) {
			at = at * 1103515245 + 12345;
			sum += s.get(ValueLayout.JAVA_LONG, at & bytes - 8);
		}
		for (int i = 0; i < READS; i++)
			s.set(ValueLayout.JAVA_BYTE, (at + 64 * i) & bytes - 1, (byte) i);
		return sum;
	}

	static LongSupplier confined(int bytes, int[] seed) {
		MemorySegment s = Arena.ofConfined().allocate(bytes, 8);
		return () -> inSegment(s, seed[0]++, bytes);
	}

	static LongSupplier shared(int bytes, int[] seed) {
		MemorySegment s = Arena.ofShared().allocate(bytes, 8);
		return () -> inSegment(s, seed[0]++, bytes);
	}

	public static LongSupplier turn(String kind, int bytes) {
		int[] seed = { kind.hashCode() };
		return kind.equals("confined") ? confined(bytes, seed) : shared(bytes, seed);
	}
}
