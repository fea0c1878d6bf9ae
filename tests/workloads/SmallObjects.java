import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jdk.internal.misc.Unsafe;

/*
 * Makes known numbers of small objects in every way that bytecode has, for a threshold of 0.
 *
 * Usage: SmallObjects OBJECTS_PER_CASE
 * (compile and run with --add-exports java.base/jdk.internal.misc=ALL-UNNAMED)
 *
 * Prints one line of JSON: per case and class how many objects were allocated under the method that
 * the case is named after, and their bytes as this JVM lays them out. "removed" is a case whose objects
 * a JIT may remove: at most so many. Every object escapes but those.
 */
public final class SmallObjects {
	static final Unsafe UNSAFE = Unsafe.getUnsafe();
	static final int REFERENCE_BYTES = UNSAFE.arrayIndexScale(Object[].class);
	static volatile Object sink;
	static long sum;
	static int perCase;
	static int k = 1;

	interface Body {
		void run(int n) throws Throwable;
	}

	/* `times` objects of one class and size in each round of a case. */
	static final class Made {
		final Class<?> type;
		final long size;
		final long times;

		Made(Class<?> type, long size, long times) {
			this.type = type;
			this.size = size;
			this.times = times;
		}
	}

	static final Map<String, long[]> EXACT = new LinkedHashMap<>();
	static final Map<String, long[]> REMOVED = new LinkedHashMap<>();

	static long round(long bytes) { return bytes + 7 & ~7L; }

	static Made array(Class<?> type, int length) {
		return new Made(type, round(UNSAFE.arrayBaseOffset(type)
				+ (long) UNSAFE.arrayIndexScale(type) * length), 1);
	}

	static int fieldBytes(Class<?> type) {
		return !type.isPrimitive() ? REFERENCE_BYTES
				: type == long.class || type == double.class ? 8
				: type == int.class || type == float.class ? 4
				: type == short.class || type == char.class ? 2 : 1;
	}

	static Made object(Class<?> type, int times) {
		long end = HEADER;
		for (Class<?> c = type; c != null; c = c.getSuperclass())
			for (Field f : c.getDeclaredFields())
				if (!Modifier.isStatic(f.getModifiers()))
					end = Math.max(end, UNSAFE.objectFieldOffset(f) + fieldBytes(f.getType()));
		return new Made(type, round(end), times);
	}

	static final class OneByte {
		byte b;
	}

	/* The offset of the first field: the size of the header. */
	static final long HEADER = header();

	static long header() {
		try {
			return UNSAFE.objectFieldOffset(OneByte.class.getDeclaredField("b"));
		} catch (NoSuchFieldException e) {
			throw new AssertionError(e);
		}
	}

	static Made object(Class<?> type) { return object(type, 1); }

	static void tell(Map<String, long[]> into, String name, Made[] made, long rounds) {
		for (Made m : made) {
			long[] t = into.computeIfAbsent(name + " " + m.type.getTypeName(), x -> new long[2]);
			t[0] += m.times * rounds;
			t[1] += m.times * rounds * m.size;
		}
	}

	static void run(String name, Body body) throws Throwable {
		for (int i = 0; i < 4; i++) {
			body.run(perCase / 4);
			if (i == 1)
				System.gc();
		}
	}

	static void test(String name, Body body, Made... made) throws Throwable {
		run(name, body);
		tell(EXACT, name, made, perCase / 4 * 4);
	}

	static class Empty { }

	static final class SmallNode {
		Object next;
		long value;

		SmallNode(long value, Object next) {
			this.value = value;
			this.next = next;
		}
	}

	static final class Nested {
		final SmallNode node;

		Nested(int i) { node = new SmallNode(i, new SmallNode(-i, null)); }
	}

	static class Parent {
		long a;

		Parent(Object o) { sink = o; }
	}

	static final class Child extends Parent {
		Object b;

		Child() { this(new Empty()); }

		Child(Object o) { super(o); }
	}

	static final SmallObjects OUTER = new SmallObjects();

	final class Inner {
		long outerValue = k;
	}

	static final class Failing {
		long a;

		Failing(int i) {
			sink = this;
			if (i != 0)
				throw new IllegalStateException();
		}
	}

	static final class NoTrace extends RuntimeException {
		NoTrace() { super(null, null, false, false); }
	}

	static final class FailingCheaply {
		long a;

		FailingCheaply() {
			sink = this;
			throw NO_TRACE;
		}
	}

	static final NoTrace NO_TRACE = new NoTrace();

	static final class Copyable implements Cloneable {
		long a, b;

		@Override
		public Copyable clone() {
			try {
				return (Copyable) super.clone();
			} catch (CloneNotSupportedException e) {
				throw new AssertionError(e);
			}
		}
	}

	static final Copyable ORIGINAL = new Copyable();

	public static final class Reflected {
		long a;
	}

	static final class Handled {
		long a, b, c;
	}

	static final class Serialised implements Serializable {
		long a;
	}

	static final class Unsafely {
		long a, b;
	}

	static final class Finalized {
		long a;

		@Override
		@SuppressWarnings({"deprecation", "removal"})
		protected void finalize() { sum++; }
	}

	static void smallEmpty(int n) { for (int i = 0; i < n; i++) sink = new Empty(); }
	static void smallNode(int n) { for (int i = 0; i < n; i++) sink = new SmallNode(i, "next"); }
	static void smallNested(int n) { for (int i = 0; i < n; i++) sink = new Nested(i); }
	static void smallChild(int n) { for (int i = 0; i < n; i++) sink = new Child(); }

	static void smallInner(int n) {
		SmallObjects outer = OUTER;
		for (int i = 0; i < n; i++)
			sink = outer.new Inner();
	}

	static void smallBranches(int n) {
		for (int i = 0; i < n; i++)
			sink = new SmallNode(i, (i & 1) == 0 ? new Empty() : new Child(null));
	}

	static void smallDropped(int n) {
		for (int i = 0; i < n; i++)
			try {
				new Failing(i + k);
			} catch (IllegalStateException e) {
				sum++;
			}
	}

	static void smallFailing(int n) {
		for (int i = 0; i < n; i++)
			try {
				sink = new FailingCheaply();
			} catch (NoTrace e) {
				sum++;
			}
	}

	static void smallClone(int n) {
		Copyable c = ORIGINAL;
		for (int i = 0; i < n; i++)
			sink = c.clone();
	}

	static void smallInteger(int n) { for (int i = 0; i < n; i++) sink = i + 1000; }
	static void smallDouble(int n) { for (int i = 0; i < n; i++) sink = i + 0.5; }
	static void smallLong(int n) { for (int i = 0; i < n; i++) sink = Long.valueOf(i + 1000L); }

	static void smallReflected(int n) throws Throwable {
		Constructor<?> c = Reflected.class.getDeclaredConstructor();
		for (int i = 0; i < n; i++)
			sink = c.newInstance();
	}

	static final MethodHandle MAKE_HANDLED = makeHandled();

	static MethodHandle makeHandled() {
		try {
			return MethodHandles.lookup().findConstructor(Handled.class, MethodType.methodType(void.class));
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	static void smallHandled(int n) throws Throwable {
		for (int i = 0; i < n; i++)
			sink = (Object) MAKE_HANDLED.invoke();
	}

	static void smallUnsafe(int n) throws Throwable {
		for (int i = 0; i < n; i++)
			sink = UNSAFE.allocateInstance(Unsafely.class);
	}

	static void smallSerialised(int n) throws Throwable {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			out.writeObject(MADE_SERIALISED);
		}
		for (int i = 0; i < n; i++)
			sink = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
	}

	static final Serialised MADE_SERIALISED = new Serialised();

	static void smallFinalized(int n) { for (int i = 0; i < n; i++) sink = new Finalized(); }

	static void smallString(int n) { for (int i = 0; i < n; i++) sink = new String(LETTERS); }

	static final char[] LETTERS = {'a', 'b', 'c'};

	static void smallConcat(int n) { for (int i = 0; i < n; i++) sink = "value " + i; }

	static void smallBuilder(int n) {
		for (int i = 0; i < n; i++)
			sink = new StringBuilder().append("value ").append(i).toString();
	}

	static Runnable capture(Object o) { return () -> sink = o; }

	static void smallLambda(int n) { for (int i = 0; i < n; i++) sink = capture(sink); }

	static int removed(int i) {
		SmallNode a = new SmallNode(i, null);
		SmallNode b = new SmallNode(a.value + 1, null);
		return (int) (a.value + b.value);
	}

	static void smallRemoved(int n) {
		for (int i = 0; i < n; i++)
			sum += removed(i);
	}

	static int removedArrays(int i) {
		long[] a = {i, i + 1};
		int[] b = {i, (int) a[1], i};
		return (int) a[0] + b[1] + b[2];
	}

	static void smallRemovedArrays(int n) {
		for (int i = 0; i < n; i++)
			sum += removedArrays(i);
	}

	static void smallArrays(int n) {
		for (int i = 0; i < n; i++) {
			sink = new int[3];
			sink = new byte[k * 5];
			sink = new Object[0];
		}
	}

	static String json(Map<String, long[]> m) {
		List<String> parts = new ArrayList<>();
		m.forEach((key, t) -> parts.add("{\"case\":\"" + key.substring(0, key.indexOf(' '))
				+ "\",\"class\":\"" + key.substring(key.indexOf(' ') + 1) + "\",\"allocations\":"
				+ t[0] + ",\"bytes\":" + t[1] + "}"));
		return "[" + String.join(",", parts) + "]";
	}

	public static void main(String[] args) throws Throwable {
		perCase = Integer.parseInt(args[0]);
		test("smallEmpty", SmallObjects::smallEmpty, object(Empty.class));
		test("smallNode", SmallObjects::smallNode, object(SmallNode.class));
		test("smallNested", SmallObjects::smallNested, object(Nested.class), object(SmallNode.class, 2));
		test("smallChild", SmallObjects::smallChild, object(Child.class), object(Empty.class));
		test("smallInner", SmallObjects::smallInner, object(Inner.class));
		test("smallBranches", SmallObjects::smallBranches, object(SmallNode.class));
		test("smallDropped", SmallObjects::smallDropped, object(Failing.class));
		test("smallFailing", SmallObjects::smallFailing, object(FailingCheaply.class));
		test("smallClone", SmallObjects::smallClone, object(Copyable.class));
		test("smallInteger", SmallObjects::smallInteger, object(Integer.class));
		test("smallDouble", SmallObjects::smallDouble, object(Double.class));
		test("smallLong", SmallObjects::smallLong, object(Long.class));
		test("smallReflected", SmallObjects::smallReflected, object(Reflected.class));
		test("smallHandled", SmallObjects::smallHandled, object(Handled.class));
		test("smallUnsafe", SmallObjects::smallUnsafe, object(Unsafely.class));
		test("smallSerialised", SmallObjects::smallSerialised, object(Serialised.class));
		test("smallFinalized", SmallObjects::smallFinalized, object(Finalized.class));
		test("smallString", SmallObjects::smallString, object(String.class), array(byte[].class, 3));
		test("smallArrays", SmallObjects::smallArrays, array(int[].class, 3), array(byte[].class, 5),
				array(Object[].class, 0));
		run("smallLambda", SmallObjects::smallLambda);
		tell(EXACT, "smallLambda", new Made[] {new Made(sink.getClass(), object(sink.getClass()).size, 1)},
				perCase / 4 * 4);
		run("smallRemoved", SmallObjects::smallRemoved);
		tell(REMOVED, "smallRemoved", new Made[] {object(SmallNode.class, 2)}, perCase / 4 * 4);
		run("smallRemovedArrays", SmallObjects::smallRemovedArrays);
		tell(REMOVED, "smallRemovedArrays", new Made[] {array(long[].class, 2), array(int[].class, 3)},
				perCase / 4 * 4);
		System.out.println("{\"exact\":" + json(EXACT) + ",\"removed\":" + json(REMOVED) + "}");
	}
}
