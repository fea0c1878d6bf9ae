// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ElementsTest {
	private final double[] recorded = {1, 2, Double.NaN, 4, 5, 6, 7, 8};
	private final double[] array = recorded.clone();
	private final Elements elements = new Elements(recorded);

	/** Put back, check, and call; returns how many elements were put back one by one. */
	private int call(Consumer<double[]> segment) {
		int[] positions = elements.toPutBack(array);
		for (int at : positions) {
			array[at] = recorded[at];
		}
		assertArrayEquals(recorded, array);
		segment.accept(array);
		return positions.length;
	}

	@Test
	void onlyWhatEachCallChangesIsPutBack() {
		for (int i = 0; i < 5; i++) {
			assertEquals(i < 2 ? 0 : 3, call(a -> a[1] = a[4] = a[7] = a[7] + 1));
		}
	}

	@Test
	void theWholeIsPutBackIfCallsChangeOtherElements() {
		for (int i = 0; i < 6; i++) {
			int at = i;
			assertEquals(0, call(a -> a[at]++));
		}
	}

	@Test
	void theWholeIsPutBackIfMostIsChanged() {
		for (int i = 0; i < 5; i++) {
			assertEquals(0, call(a -> java.util.Arrays.fill(a, -1)));
		}
	}

	@Test
	void arraysOfObjectsAreComparedByReference() {
		Object[] kept = {"a", "b", "c"};
		Object[] changing = kept.clone();
		Elements some = new Elements(kept);
		for (int i = 0; i < 4; i++) {
			for (int at : some.toPutBack(changing)) {
				changing[at] = kept[at];
			}
			assertArrayEquals(kept, changing);
			changing[1] = new String("b");
		}
		assertEquals(1, some.toPutBack(changing).length);
	}
}
