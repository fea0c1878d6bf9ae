// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import locusbench.record.Recording;
import org.junit.jupiter.api.Test;

/** Up to ten of the recorded executions are tested, and those at 10%, 50% and 90% of all by duration are measured. */
class SelectionTest {
	private static Selection of(long... durations) {
		List<Recording.Execution> all = new ArrayList<>();
		for (long ns : durations) {
			all.add(new Recording.Execution(ns, new byte[32], new byte[] {(byte) ns}));
		}
		return new Selection(new Recording(durations.length, all, List.of()));
	}

	@Test
	void aHundredGiveNineAndThree() {
		long[] durations = new long[101];
		for (int i = 0; i <= 100; i++) {
			durations[i] = 100 - i;
		}
		Selection selection = of(durations);
		assertEquals(9, selection.tested.size()); // the median is of both
		assertEquals(List.of(10L, 50L, 90L),
				selection.measured.stream().map(i -> selection.tested.get(i).ns).collect(Collectors.toList()));
		for (int i = 1; i < 9; i++) {
			assertTrue(selection.tested.get(i - 1).ns < selection.tested.get(i).ns);
		}
	}

	@Test
	void fewAreAllTaken() {
		assertEquals("\"0\"", of(7).parameters());
		assertEquals("\"0\", \"1\"", of(7, 5).parameters());
		assertEquals("\"0\", \"1\", \"2\"", of(7, 5, 6).parameters());
		assertEquals(7, of(1, 2, 3, 4, 5, 6, 7).tested.size());
		assertEquals(9, of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20).tested.size());
	}

	@Test
	void ofEqualInputsTheMedianIsTaken() {
		List<Recording.Execution> all = new ArrayList<>();
		for (long ns : new long[] {900, 5, 3, 4, 6}) {
			all.add(new Recording.Execution(ns, new byte[32], new byte[1]));
		}
		Selection selection = new Selection(new Recording(5, all, List.of()));
		assertEquals("\"0\"", selection.parameters());
		assertEquals(5, selection.tested.get(0).ns);
	}
}
