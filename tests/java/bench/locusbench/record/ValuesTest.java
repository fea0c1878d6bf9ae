// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.text.ParsePosition;
import java.time.LocalDate;
import java.util.AbstractList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** Values reads what it has written, for each way in which a class is captured; the rest is refused with the fields. */
class ValuesTest {
	private static final int LARGE = 1 << 28;

	static final class Node {
		final int value;
		Node next;

		Node(int value, Node next) {
			this.value = value;
			this.next = next;
		}
	}

	static final class Exact {
		final int value;

		Exact(int value) {
			this.value = value;
		}
	}

	abstract static class AbstractKind {
	}

	static final class Marked {
		static final Object NONE = new Object();
		static final Exact ZERO = new Exact(0);
		static final AbstractKind ANY = new AbstractKind() { };
		static final Node GROWS = new Node(0, null);
		final Object key;

		Marked(Object key) {
			this.key = key;
		}
	}

	static class Hidden {
		private final transient long[] table = {1, 2, 3};
		private final double rate;
		private boolean flag = true;
		private char letter = 'x';
		private byte small = -1;
		private short medium = -300;
		private float half = 0.5f;
		static int made;

		Hidden(double rate) {
			this.rate = rate;
			made++;
		}
	}

	static final class Range extends AbstractList<Integer> {
		private final int size;

		Range(int size) {
			this.size = size;
		}

		@Override
		public Integer get(int index) {
			return index;
		}

		@Override
		public int size() {
			return size;
		}
	}

	static final class Named extends ArrayList<String> {
		private static final long serialVersionUID = 1;
		final String name = "named";
	}

	static final class Grown extends LinkedHashMap<String, Node> {
		private static final long serialVersionUID = 1;
	}

	static final class Holder {
		Object held;

		Holder(Object held) {
			this.held = held;
		}
	}

	enum Shape {
		ROUND {
			@Override
			int corners() {
				return 0;
			}
		},
		SQUARE;

		int corners() {
			return 4;
		}
	}

	class Inner {
		ValuesTest outer() {
			return ValuesTest.this;
		}
	}

	static Object[] copy(Object... values) throws Exception {
		ClassLoader loader = ValuesTest.class.getClassLoader();
		try {
			byte[] bytes = Library.values(loader).write(values, LARGE, false);
			return Library.values(loader).read(bytes, false);
		} catch (Values.TooDeep e) {
			byte[] bytes = Deep.run(() -> Library.values(loader).write(values, LARGE, true), 60);
			return Deep.run(() -> Library.values(loader).read(bytes, true), 60);
		}
	}

	private static String refusal(Object... values) {
		return assertThrows(Values.Refused.class, () -> copy(values)).getMessage();
	}

	@Test
	void fieldsOfAllKindsAreCapturedWithoutAConstructor() throws Exception {
		Hidden hidden = new Hidden(2.5);
		int made = Hidden.made;
		Hidden copy = (Hidden) copy(hidden)[0];
		assertEquals(made, Hidden.made);
		assertNotSame(hidden, copy);
		assertArrayEquals(Digest.of(hidden), Digest.of(copy));
		assertEquals(2.5, copy.rate);
		assertArrayEquals(new long[] {1, 2, 3}, copy.table);
		assertTrue(copy.flag && copy.letter == 'x' && copy.small == -1 && copy.medium == -300 && copy.half == 0.5f);
	}

	@Test
	void sharedObjectsAndCyclesStayShared() throws Exception {
		Node ring = new Node(1, null);
		ring.next = new Node(2, ring);
		Object[] copy = copy(ring, ring.next, new Object[] {ring});
		Node first = (Node) copy[0];
		assertSame(first.next, copy[1]);
		assertSame(first, first.next.next);
		assertSame(first, ((Object[]) copy[2])[0]);
	}

	@Test
	void aListOfAHundredThousandNodesIsCaptured() throws Exception {
		Node list = null;
		for (int i = 0; i < 100_000; i++) {
			list = new Node(i, list);
		}
		Node at = (Node) copy(list)[0];
		assertArrayEquals(Digest.of(list), Digest.of(at));
		for (int i = 99_999; i >= 0; i--) {
			assertEquals(i, at.value);
			at = at.next;
		}
		assertSame(null, at);
	}

	@Test
	void classesOfTheJdkAreCaptured() throws Exception {
		Map<String, Integer> map = new HashMap<>(Map.of("a", 1, "b", 2));
		map.put(null, 3);
		Random random = new Random(5);
		EnumMap<TimeUnit, String> units = new EnumMap<>(TimeUnit.class);
		units.put(TimeUnit.DAYS, "day");
		BitSet bits = new BitSet();
		bits.set(70);
		StringWriter writer = new StringWriter();
		writer.write("written");
		ParsePosition position = new ParsePosition(3);
		position.setErrorIndex(2);
		Object[] values = {map, new TreeMap<>(map.isEmpty() ? map : Map.of("x", 1)), new TreeMap<>(Comparator.<String>reverseOrder()),
			new HashSet<>(List.of(1, 2)), List.of(1, 2, 3), Map.of("k", "v"), Arrays.asList(1, null), new LinkedList<>(List.of(1)),
			new ArrayDeque<>(List.of(4, 5)), new PriorityQueue<>(List.of(3, 1, 2)), new ConcurrentHashMap<>(Map.of(1, 2)), units,
			Optional.of("x"), new BigDecimal("1.50"), LocalDate.of(2020, 1, 2), new StringBuilder("text"), new AtomicInteger(7),
			new AtomicLongArray(new long[] {1, 2}), bits, random, TimeUnit.HOURS, String.class, int[][].class, null, 'c', 1.5f,
			Collections.unmodifiableList(new ArrayList<>(List.of("u"))), Collections.unmodifiableMap(new HashMap<>(Map.of(1, 2))),
			Collections.synchronizedList(new ArrayList<>(List.of("s"))), Collections.emptyList(), new int[][] {{1}, null},
			new boolean[] {true}, new String[] {"a", null}, new Object(), Shape.ROUND, Shape.values(), void.class,
			Thread.class, writer, position};
		Object[] copy = copy(values);
		for (int i = 0; i < values.length; i++) {
			assertArrayEquals(Digest.of(values[i]), Digest.of(copy[i]), i + ": " + values[i]);
			assertEquals(values[i] == null ? null : values[i].getClass(), copy[i] == null ? null : copy[i].getClass());
		}
		assertEquals(writer.toString(), copy[values.length - 2].toString());
		assertEquals(position, copy[values.length - 1]);
		assertEquals(random.nextLong(), ((Random) copy[19]).nextLong());
	}

	@Test
	void aConstantIsTheOneOfItsClass() throws Exception {
		Object[] copy = copy(new Marked(Marked.NONE), Marked.ZERO, new Marked(new Object()), Marked.GROWS, new Object[] {Marked.ZERO},
			Marked.ANY);
		assertSame(Marked.NONE, ((Marked) copy[0]).key);
		assertSame(Marked.ZERO, copy[1]);
		assertNotSame(Marked.NONE, ((Marked) copy[2]).key);
		assertNotSame(Marked.GROWS, copy[3]); // its state is that of the recorded run
		assertSame(Marked.ZERO, ((Object[]) copy[4])[0]);
		assertSame(Marked.ANY, copy[5]);
	}

	@Test
	void aMapIsIteratedInTheSameOrder() throws Exception {
		for (int size = 0; size < 200; size++) {
			Map<Integer, Integer> map = new HashMap<>();
			for (int i = 0; i < size; i++) {
				map.put(i * 7919, i);
			}
			assertEquals(map.toString(), copy(map)[0].toString());
		}
	}

	@Test
	void collectionsOfTheProgramKeepWhatTheyAre() throws Exception {
		Named named = new Named();
		named.add("x");
		Grown grown = new Grown();
		grown.put("n", new Node(1, null));
		Object[] copy = copy(new Range(3), named, grown, new Inner());
		assertEquals(List.of(0, 1, 2), copy[0]);
		assertEquals(Range.class, copy[0].getClass());
		assertEquals("named", ((Named) copy[1]).name);
		assertEquals(List.of("x"), copy[1]);
		assertEquals(1, ((Grown) copy[2]).get("n").value);
		assertEquals(ValuesTest.class, ((Inner) copy[3]).outer().getClass());
	}

	@Test
	void whatIsOutsideOfTheHeapIsRefusedWithTheFields() {
		IntUnaryOperator lambda = x -> x + 1;
		assertTrue(refusal(lambda).startsWith("a lambda ("), refusal(lambda));
		String holder = Holder.class.getName() + ".held";
		assertEquals(holder + " -> " + holder + ": a thread (java.lang.Thread)",
				refusal(1, new Holder(new Holder(new Thread()))));
		assertTrue(refusal(List.of(1).stream()).startsWith("a stream"));
		assertTrue(refusal(getClass().getClassLoader()).startsWith("a class loader"));
		assertTrue(refusal(new ByteArrayInputStream(new byte[1])).startsWith("a stream"));
		assertTrue(refusal(new ArrayList<>(List.of(1)).iterator()).contains("java.util.ArrayList$Itr cannot be read"));
	}

	@Test
	void theRefusalSaysWhichValue() {
		assertEquals(1, assertThrows(Values.Refused.class, () -> copy(1, new Thread(), 2)).value);
	}

	@Test
	void tooManyBytesAreALimitAndNoRefusal() {
		assertThrows(Values.TooLarge.class, () -> Library.values(null).write(new Object[] {new double[5000]}, 10_000, false));
		assertThrows(Values.TooLarge.class,
				() -> Library.values(null).write(new Object[] {new Holder(new Holder(new double[5000]))}, 10_000, false));
	}
}
