// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A digest of values and of all objects that they reach, which is the same in each JVM.
 *
 * An object counts by its class and its fields, and by which references lead to it; elements of a hash table count without
 * their order. Floating-point numbers count by their bits, and all NaNs are equal. Objects that stand for something outside of the
 * heap (threads, streams, lambdas), and objects that the JDK hides, count by their class only. Objects wait in a queue rather than
 * on the stack, so that a long list is no danger.
 */
final class Digest {
	private static final int OBJECTS_MAX = 2_000_000;
	/** So many objects behind a key of a hash table decide on the place of its entry. */
	private static final int OBJECTS_OF_KEY = 32;
	private static final int BUFFER_BYTES = 8192;
	/** Classes of the JDK whose text is all that they are. */
	private static final List<Class<?>> TEXTS = Arrays.asList(CharSequence.class, Number.class, TemporalAccessor.class,
			TemporalAmount.class, UUID.class, Locale.class, java.net.URI.class, java.net.URL.class, java.nio.charset.Charset.class,
			java.io.File.class, java.nio.file.Path.class, java.util.regex.Pattern.class, java.util.Currency.class, BitSet.class,
			java.util.concurrent.atomic.AtomicBoolean.class, java.text.ParsePosition.class, java.io.StringWriter.class);
	/** Classes of the JDK that Java's serialization describes well. */
	private static final List<Class<?>> SERIALIZED = Arrays.asList(Random.class, Date.class, java.util.concurrent.atomic.AtomicIntegerArray.class, java.util.concurrent.atomic.AtomicLongArray.class);

	private final MessageDigest hash;
	private final Kinds kinds;
	private final int objectsMax;
	private final boolean ofKey;
	private final byte[] buffer = new byte[BUFFER_BYTES];
	private int filled;
	private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();
	private final List<Object> queue = new ArrayList<>();

	private Digest(Kinds kinds, int objectsMax, boolean ofKey) {
		this.kinds = kinds;
		this.objectsMax = objectsMax;
		this.ofKey = ofKey;
		try {
			hash = MessageDigest.getInstance("SHA-256");
		} catch (NoSuchAlgorithmException e) {
			throw new Uncapturable("this JVM has no SHA-256");
		}
	}

	static byte[] of(Object... values) {
		return new Digest(new Kinds(), OBJECTS_MAX, false).digest(values);
	}

	private byte[] digest(Object... values) {
		putInt(values.length);
		for (Object value : values) {
			put(value);
		}
		for (int at = 0; at < queue.size(); at++) {
			Object object = queue.get(at);
			queue.set(at, null);
			content(object);
		}
		hash.update(buffer, 0, filled);
		return hash.digest();
	}

	/** A reference: its object's content where it is a value, else its number. */
	private void put(Object object) {
		if (object == null) {
			putByte('0');
			return;
		}
		Class<?> type = object.getClass();
		if (object instanceof Enum) {
			putText('e', ((Enum<?>) object).getDeclaringClass().getName() + "." + ((Enum<?>) object).name());
		} else if (object instanceof Class) {
			putText('c', ((Class<?>) object).getName());
		} else if (object instanceof Double) {
			putByte('d');
			putLong(Double.doubleToLongBits((Double) object));
		} else if (object instanceof Float) {
			putByte('f');
			putInt(Float.floatToIntBits((Float) object));
		} else if (object instanceof Integer || object instanceof Long || object instanceof Short || object instanceof Byte) {
			putText('i', type.getName());
			putLong(((Number) object).longValue());
		} else if (object instanceof String || object instanceof Boolean || object instanceof Character) {
			putText('s', type.getName());
			putText(object.toString());
		} else {
			reference(object);
		}
	}

	private void reference(Object object) {
		Integer known = numbers.get(object);
		if (known != null) {
			putByte('r');
			putInt(known);
		} else if (queue.size() < objectsMax) {
			putByte('n');
			numbers.put(object, queue.size());
			queue.add(object);
		} else if (ofKey) {
			putByte('m');
		} else {
			throw new Uncapturable("more than " + objectsMax + " objects are reached");
		}
	}

	private void content(Object object) {
		Class<?> type = object.getClass();
		if (type.isArray()) {
			putText('a', type.getName());
			array(object);
		} else if (Kinds.isLambda(type)) {
			putByte('l');
		} else if (Kinds.outside(type) != null) {
			putText('o', type.getName());
		} else if (object instanceof Throwable) {
			putText('t', type.getName());
			put(((Throwable) object).getMessage());
		} else {
			putText('n', type.getName());
			fields(object, type);
			jdk(object, Kinds.jdkPart(type));
		}
	}

	private void fields(Object object, Class<?> type) {
		for (Field field : kinds.fieldsOf(type)) {
			try {
				put(field.get(object));
			} catch (IllegalAccessException e) {
				throw new Uncapturable("it cannot be read").in(field.getDeclaringClass(), field.getName());
			}
		}
	}

	/** Adds the parts of a JDK object that its subclasses, or all classes, can read. */
	private void jdk(Object object, Class<?> jdk) {
		if (!Kinds.hasHiddenState(jdk) && jdk != object.getClass()) {
			return; // its subclass has it all
		}
		if (isOne(object, TEXTS) && object.getClass() == jdk) {
			putText(object.toString());
		} else if (object instanceof Map) {
			Map<?, ?> map = (Map<?, ?>) object;
			map(map, map instanceof SortedMap || map instanceof LinkedHashMap || map instanceof java.util.EnumMap);
		} else if (object instanceof Collection) {
			Collection<?> all = (Collection<?>) object;
			collection(all, all instanceof List || all instanceof Queue || all instanceof SortedSet
					|| all instanceof LinkedHashSet || all instanceof java.util.EnumSet);
		} else if (object instanceof Map.Entry) {
			put(((Map.Entry<?, ?>) object).getKey());
			put(((Map.Entry<?, ?>) object).getValue());
		} else if (object instanceof Optional) {
			put(((Optional<?>) object).orElse(null));
		} else if (object instanceof Calendar) { // which also counts how often it was set
			putLong(((Calendar) object).getTimeInMillis());
			put(((Calendar) object).getTimeZone().getID());
			put(((Calendar) object).isLenient());
			put(((Calendar) object).getFirstDayOfWeek());
			put(((Calendar) object).getMinimalDaysInFirstWeek());
		} else if (object instanceof AtomicReference) {
			put(((AtomicReference<?>) object).get());
		} else if (isOne(object, SERIALIZED) && object.getClass() == jdk) {
			putBytes(SerializableSerializer.bytesOf(object));
		} else if (object instanceof java.nio.ByteBuffer) {
			java.nio.ByteBuffer all = ((java.nio.ByteBuffer) object).duplicate();
			putText(object.toString());
			byte[] bytes = new byte[all.remaining()];
			all.get(bytes);
			putBytes(bytes);
		}
	}

	private static boolean isOne(Object object, List<Class<?>> types) {
		for (Class<?> type : types) {
			if (type.isInstance(object)) {
				return true;
			}
		}
		return false;
	}

	private void collection(Collection<?> all, boolean ordered) {
		Object[] elements = all.toArray();
		putInt(elements.length);
		if (!ordered) {
			sort(elements, i -> elements[i]);
		}
		for (Object element : elements) {
			put(element);
		}
	}

	private void map(Map<?, ?> map, boolean ordered) {
		List<Object[]> entries = new ArrayList<>(map.size());
		for (Map.Entry<?, ?> entry : map.entrySet()) {
			entries.add(new Object[] {entry.getKey(), entry.getValue()});
		}
		Object[][] all = entries.toArray(new Object[0][]);
		putInt(all.length);
		if (!ordered) {
			sort(all, i -> all[i][0]);
		}
		for (Object[] entry : all) {
			put(entry[0]);
			put(entry[1]);
		}
	}

	/** By the digests of the keys, each of which is seen on its own. */
	private void sort(Object[] all, java.util.function.IntFunction<Object> key) {
		BigInteger[] keys = new BigInteger[all.length];
		Integer[] order = new Integer[all.length];
		for (int i = 0; i < all.length; i++) {
			order[i] = i;
			keys[i] = ofKey ? BigInteger.ZERO : new BigInteger(1, new Digest(kinds, OBJECTS_OF_KEY, true).digest(key.apply(i)));
		}
		Arrays.sort(order, (a, b) -> keys[a].compareTo(keys[b]));
		Object[] before = all.clone();
		for (int i = 0; i < all.length; i++) {
			all[i] = before[order[i]];
		}
	}

	private void array(Object array) {
		int length = Array.getLength(array);
		putInt(length);
		if (array instanceof Object[]) {
			for (Object element : (Object[]) array) {
				put(element);
			}
		} else if (array instanceof byte[]) {
			putBytes((byte[]) array);
		} else if (array instanceof int[]) {
			for (int value : (int[]) array) {
				putInt(value);
			}
		} else if (array instanceof long[]) {
			for (long value : (long[]) array) {
				putLong(value);
			}
		} else if (array instanceof double[]) {
			for (double value : (double[]) array) {
				putLong(Double.doubleToLongBits(value));
			}
		} else if (array instanceof float[]) {
			for (float value : (float[]) array) {
				putInt(Float.floatToIntBits(value));
			}
		} else if (array instanceof char[]) {
			for (char value : (char[]) array) {
				putInt(value);
			}
		} else if (array instanceof short[]) {
			for (short value : (short[]) array) {
				putInt(value);
			}
		} else {
			for (boolean value : (boolean[]) array) {
				putByte(value ? 1 : 0);
			}
		}
	}

	private void putByte(int value) {
		if (filled == buffer.length) {
			hash.update(buffer, 0, filled);
			filled = 0;
		}
		buffer[filled++] = (byte) value;
	}

	private void putInt(int value) {
		for (int shift = 0; shift < 32; shift += 8) {
			putByte(value >> shift);
		}
	}

	private void putLong(long value) {
		putInt((int) value);
		putInt((int) (value >> 32));
	}

	private void putBytes(byte[] bytes) {
		putInt(bytes.length);
		for (byte value : bytes) {
			putByte(value);
		}
	}

	private void putText(String text) {
		putBytes(text.getBytes(StandardCharsets.UTF_8));
	}

	private void putText(int kind, String text) {
		putByte(kind);
		putText(text);
	}
}
