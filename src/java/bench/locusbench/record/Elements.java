// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.lang.reflect.Array;
import java.util.Arrays;

/**
 * The elements of an array that each call of a segment changes: only these are put back before the next call, so that a few changes of
 * a large array do not cost a copy of it. If the first two calls do not change the same elements, or change half of them, the whole
 * array is put back.
 */
public final class Elements {
	private static final int[] NONE = {};

	private final Object recorded;
	private final int length;
	private int[] changed = NONE;
	private int calls;
	private boolean isKnown;

	/** `recorded`: a copy of the array, from before the first call. */
	public Elements(Object recorded) {
		this.recorded = recorded;
		length = Array.getLength(recorded);
	}

	/** Positions of the elements that the caller puts back before a call; if it is the whole array, that is done here. */
	public int[] toPutBack(Object array) {
		return isKnown ? changed : look(array);
	}

	private int[] look(Object array) {
		if (calls == 0) { // as it was recorded
			calls = 1;
			return NONE;
		}
		if (calls == 1) {
			changed = differences(array);
			calls = 2;
		} else if (calls == 2) {
			isKnown = changed.length <= length / 2 && Arrays.equals(changed, differences(array));
			calls = 3;
		}
		if (isKnown) {
			return changed;
		}
		System.arraycopy(recorded, 0, array, 0, length);
		return NONE;
	}

	private int[] differences(Object array) {
		int[] found = new int[16];
		int count = 0;
		for (int i = 0; i < length; i++) {
			if (isEqual(array, i)) {
				continue;
			}
			if (count == found.length) {
				found = Arrays.copyOf(found, 2 * count);
			}
			found[count++] = i;
		}
		return Arrays.copyOf(found, count);
	}

	private boolean isEqual(Object array, int i) {
		if (array instanceof Object[]) {
			return ((Object[]) array)[i] == ((Object[]) recorded)[i];
		}
		return Array.get(array, i).equals(Array.get(recorded, i)); // numbers by their bits
	}
}
