// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Two digests are equal where the values are, and where they are not they differ. */
class DigestTest {
	static final class Point {
		final double x;

		Point(double x) {
			this.x = x;
		}
	}

	private static void same(Object a, Object b) {
		assertArrayEquals(Digest.of(a), Digest.of(b));
	}

	private static void different(Object a, Object b) {
		assertFalse(Arrays.equals(Digest.of(a), Digest.of(b)), a + " and " + b);
	}

	@Test
	void numbersCountByTheirBits() {
		different(0.0, -0.0);
		different(1.0, 1.0f);
		different(1, 1L);
		same(Double.NaN, Double.longBitsToDouble(0x7ff8000000000001L));
		different(new Point(0.0), new Point(-0.0));
		different(new double[] {1}, new double[] {2});
		different(new int[0], new long[0]);
	}

	@Test
	void aSharedObjectIsNotTwoEqualOnes() {
		Point point = new Point(1);
		different(new Object[] {point, point}, new Object[] {point, new Point(1)});
	}

	@Test
	void aCycleHasADigest() {
		List<Object> list = new ArrayList<>();
		list.add(list);
		List<Object> other = new ArrayList<>();
		other.add(other);
		same(list, other);
	}

	@Test
	void hashTablesCountWithoutOrderAndCapacity() {
		Map<Object, Integer> a = new HashMap<>();
		Map<Object, Integer> b = new HashMap<>(10_000);
		for (int i = 0; i < 50; i++) {
			a.put(new Point(i), i);
			b.put(new Point(49 - i), 49 - i);
		}
		same(a, b);
		b.put(new Point(50), 50);
		different(a, b);
		same(new HashSet<>(List.of("x", "y")), new HashSet<>(List.of("y", "x")));
		Set<String> wide = new HashSet<>(1000);
		wide.addAll(List.of("FB", "Ea", "z"));
		same(new HashSet<>(List.of("Ea", "z", "FB")), wide);
	}

	@Test
	void listsAndLinkedTablesCountInOrder() {
		different(List.of(1, 2, 3), List.of(3, 2, 1));
		Map<Integer, Integer> a = new LinkedHashMap<>();
		Map<Integer, Integer> b = new LinkedHashMap<>();
		a.put(1, 1);
		a.put(2, 2);
		b.put(2, 2);
		b.put(1, 1);
		different(a, b);
	}

	@Test
	void aCalendarCountsByItsTimeAndNotByWhatWasDoneToIt() {
		Calendar a = new GregorianCalendar(2020, Calendar.MARCH, 1);
		Calendar b = new GregorianCalendar(2020, Calendar.JANUARY, 31);
		different(a, b);
		b.add(Calendar.DATE, 30);
		same(a, b);
		b.setLenient(false);
		different(a, b);
	}

	@Test
	void whatHasNoContentCountsByItsClass() {
		Runnable one = () -> { };
		Runnable two = () -> System.gc();
		same(one, two);
		same(new Thread("a"), new Thread("b"));
		same(new Object(), new Object());
		different(new Object(), new Thread());
		same(new IllegalStateException("a"), new IllegalStateException("a"));
		different(new IllegalStateException("a"), new IllegalStateException("b"));
	}
}
