import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import jdk.internal.misc.Unsafe;

/*
 * Allocates known numbers of objects by each bytecode and each call that a JIT may turn into one.
 *
 * Usage: Allocations ALLOCATIONS_PER_CASE MIN_SIZE_BYTES
 * (compile and run with --add-exports java.base/jdk.internal.misc=ALL-UNNAMED)
 *
 * Prints one line of JSON: "exact" lists, per case and class, how many objects of at least
 * MIN_SIZE_BYTES were allocated under the method that the case is named after, and their bytes
 * as this JVM lays them out (fields of primitive type here are all of 8 bytes). "uncovered" are
 * cases that an agent may miss, but not miscount.
 * The file is longer than 600 lines because a bytecode or call needs a method of its own to be told from others.
 */
public final class Allocations {
	static final Unsafe UNSAFE = Unsafe.getUnsafe();
	static final int REFERENCE_BYTES = UNSAFE.arrayIndexScale(Object[].class);
	static volatile Object sink;
	static long sum;
	static long minSize;
	static int perCase;

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
	static final Map<String, long[]> UNCOVERED = new LinkedHashMap<>();

	static long round(long bytes) { return bytes + 7 & ~7L; }

	static Made array(Class<?> type, int length, int times) {
		return new Made(type, round(UNSAFE.arrayBaseOffset(type)
				+ (long) UNSAFE.arrayIndexScale(type) * length), times);
	}

	static Made array(Class<?> type, int length) { return array(type, length, 1); }

	static Made object(Class<?> type) {
		long end = 0;
		for (Class<?> c = type; c != null; c = c.getSuperclass())
			for (Field f : c.getDeclaredFields())
				if (!Modifier.isStatic(f.getModifiers()))
					end = Math.max(end, UNSAFE.objectFieldOffset(f)
							+ (f.getType().isPrimitive() ? 8 : REFERENCE_BYTES));
		return new Made(type, round(end), 1);
	}

	static void tell(Map<String, long[]> into, String name, Made[] made, long rounds) {
		for (Made m : made) {
			long[] t = into.computeIfAbsent(name + " " + m.type.getTypeName(), k -> new long[2]);
			if (m.size >= minSize) {
				t[0] += m.times * rounds;
				t[1] += m.times * rounds * m.size;
			}
		}
	}

	static void test(String name, Body body, Made... made) throws Throwable {
		for (int i = 0; i < 4; i++) {
			body.run(perCase / 4);
			if (i == 1)
				System.gc();
		}
		tell(EXACT, name, made, perCase / 4 * 4);
	}

	/* One bytecode each. The length is no constant, unless the name says so. */
	static int k = 1;

	static void newBoolean(int n) { for (int i = 0; i < n; i++) sink = new boolean[2400 * k]; }
	static void newChar(int n) { for (int i = 0; i < n; i++) sink = new char[1200 * k]; }
	static void newFloat(int n) { for (int i = 0; i < n; i++) sink = new float[600 * k]; }
	static void newDouble(int n) { for (int i = 0; i < n; i++) sink = new double[300 * k]; }
	static void newByte(int n) { for (int i = 0; i < n; i++) sink = new byte[2400 * k]; }
	static void newShort(int n) { for (int i = 0; i < n; i++) sink = new short[1200 * k]; }
	static void newInt(int n) { for (int i = 0; i < n; i++) sink = new int[600 * k]; }
	static void newLong(int n) { for (int i = 0; i < n; i++) sink = new long[300 * k]; }
	static void constantBoolean(int n) { for (int i = 0; i < n; i++) sink = new boolean[2400]; }
	static void constantChar(int n) { for (int i = 0; i < n; i++) sink = new char[1200]; }
	static void constantFloat(int n) { for (int i = 0; i < n; i++) sink = new float[600]; }
	static void constantDouble(int n) { for (int i = 0; i < n; i++) sink = new double[300]; }
	static void constantByte(int n) { for (int i = 0; i < n; i++) sink = new byte[2400]; }
	static void constantShort(int n) { for (int i = 0; i < n; i++) sink = new short[1200]; }
	static void constantInt(int n) { for (int i = 0; i < n; i++) sink = new int[600]; }
	static void constantLong(int n) { for (int i = 0; i < n; i++) sink = new long[300]; }
	static void newString(int n) { for (int i = 0; i < n; i++) sink = new String[400 * k]; }
	static void newRows(int n) { for (int i = 0; i < n; i++) sink = new int[500 * k][]; }
	static void multi2(int n) { for (int i = 0; i < n; i++) sink = new int[3 * k][300]; }
	static void multi3(int n) { for (int i = 0; i < n; i++) sink = new Object[2][3 * k][400]; }
	static void multiPartial(int n) { for (int i = 0; i < n; i++) sink = new long[2 * k][350][]; }
	static void multiOuter(int n) { for (int i = 0; i < n; i++) sink = new short[600 * k][0]; }
	static void multiEmpty(int n) { for (int i = 0; i < n; i++) sink = new char[0][5000 * k]; }
	static void multiOne(int n) { for (int i = 0; i < n; i++) sink = new byte[k][2000]; }

	static void notEscaping(int n) throws Throwable {
		for (int i = 0; i < n; i++) {
			int[] a = new int[300 * k];
			a[i & 255] = i;
			sum += a[i & 127];
		}
	}

	static void inHandler(int n) throws Throwable {
		for (int i = 0; i < n; i++)
			try {
				sink = new char[-k];
			} catch (NegativeArraySizeException e) {
				sink = new char[900 * k];
			}
	}

	static void inSwitch(int n) throws Throwable {
		for (int i = 0; i < n; i++)
			switch (i & 3) {
			case 0: sink = new float[300 * k]; break;
			case 1: sink = new float[300]; break;
			case 2:
				synchronized (EXACT) {
					sink = new float[300 * k];
				}
				break;
			default: sink = i > 0 ? new float[300 * k] : new double[1];
			}
	}

	/* Calls that a JIT may turn into an allocation. */

	static final boolean[] SOME_BOOLEAN = new boolean[1600];
	static final char[] SOME_CHAR = new char[800];
	static final float[] SOME_FLOAT = new float[400];
	static final double[] SOME_DOUBLE = new double[200];
	static final byte[] SOME_BYTE = new byte[1600];
	static final short[] SOME_SHORT = new short[800];
	static final int[] SOME_INT = new int[400];
	static final long[] SOME_LONG = new long[200];
	static final Object[] SOME_OBJECT = new Object[400];
	static final String[] SOME_STRING = new String[400];
	static final int[][] SOME_ROWS = new int[400][];

	static void copyOfBoolean(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_BOOLEAN, 2400 * k);
	}

	static void copyOfRangeBoolean(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_BOOLEAN, 200 * k, 1600);
	}

	static void cloneBoolean(int n) { for (int i = 0; i < n; i++) sink = SOME_BOOLEAN.clone(); }

	static void copyOfChar(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_CHAR, 1200 * k);
	}

	static void copyOfRangeChar(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_CHAR, 100 * k, 800);
	}

	static void cloneChar(int n) { for (int i = 0; i < n; i++) sink = SOME_CHAR.clone(); }

	static void copyOfFloat(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_FLOAT, 600 * k);
	}

	static void copyOfRangeFloat(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_FLOAT, 50 * k, 400);
	}

	static void cloneFloat(int n) { for (int i = 0; i < n; i++) sink = SOME_FLOAT.clone(); }

	static void copyOfDouble(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_DOUBLE, 300 * k);
	}

	static void copyOfRangeDouble(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_DOUBLE, 25 * k, 200);
	}

	static void cloneDouble(int n) { for (int i = 0; i < n; i++) sink = SOME_DOUBLE.clone(); }

	static void copyOfByte(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_BYTE, 2400 * k);
	}

	static void copyOfRangeByte(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_BYTE, 200 * k, 1600);
	}

	static void cloneByte(int n) { for (int i = 0; i < n; i++) sink = SOME_BYTE.clone(); }

	static void copyOfShort(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_SHORT, 1200 * k);
	}

	static void copyOfRangeShort(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_SHORT, 100 * k, 800);
	}

	static void cloneShort(int n) { for (int i = 0; i < n; i++) sink = SOME_SHORT.clone(); }

	static void copyOfInt(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_INT, 600 * k);
	}

	static void copyOfRangeInt(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_INT, 50 * k, 400);
	}

	static void cloneInt(int n) { for (int i = 0; i < n; i++) sink = SOME_INT.clone(); }

	static void copyOfLong(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_LONG, 300 * k);
	}

	static void copyOfRangeLong(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_LONG, 25 * k, 200);
	}

	static void cloneLong(int n) { for (int i = 0; i < n; i++) sink = SOME_LONG.clone(); }

	static void copyOfObject(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_OBJECT, 500 * k);
	}

	static void copyOfString(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_STRING, 500 * k);
	}

	static void copyOfOther(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_STRING, 500 * k, CharSequence[].class);
	}

	static void copyOfRows(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOf(SOME_ROWS, 500 * k);
	}

	static void copyOfRangeObject(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_OBJECT, 50 * k, 400);
	}

	static void copyOfRangeString(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_STRING, 50 * k, 400);
	}

	static void copyOfRangeOther(int n) {
		for (int i = 0; i < n; i++)
			sink = Arrays.copyOfRange(SOME_STRING, 50 * k, 400, Object[].class);
	}

	static void cloneObject(int n) { for (int i = 0; i < n; i++) sink = SOME_OBJECT.clone(); }
	static void cloneString(int n) { for (int i = 0; i < n; i++) sink = SOME_STRING.clone(); }
	static void cloneRows(int n) { for (int i = 0; i < n; i++) sink = SOME_ROWS.clone(); }

	static <T> T[] cloneAny(T[] a) { return a.clone(); }

	static void cloneGeneric(int n) { for (int i = 0; i < n; i++) sink = cloneAny(SOME_STRING); }

	static void reflectArray(int n) {
		for (int i = 0; i < n; i++)
			sink = Array.newInstance(int.class, 400 * k);
	}

	static void reflectArrayString(int n) {
		for (int i = 0; i < n; i++)
			sink = Array.newInstance(String.class, 400 * k);
	}

	static void reflectArrayMulti(int n) {
		for (int i = 0; i < n; i++)
			sink = Array.newInstance(long.class, 2 * k, 200);
	}

	static void uninitialised(int n) {
		for (int i = 0; i < n; i++)
			sink = UNSAFE.allocateUninitializedArray(int.class, 400 * k);
	}

	static final String LONG_STRING = "x".repeat(2000);

	static void stringRepeat(int n) { for (int i = 0; i < n; i++) sink = "ab".repeat(1000 * k); }

	static void stringConcat(int n) {
		for (int i = 0; i < n; i++)
			sink = LONG_STRING.concat("tail");
	}

	static void stringPlus(int n) {
		for (int i = 0; i < n; i++)
			sink = LONG_STRING + (1000 + (i & 4095)) + ".";
	}

	static void stringBuilder(int n) throws Throwable {
		for (int i = 0; i < n; i++) {
			StringBuilder b = new StringBuilder(3000 * k);
			b.append(LONG_STRING);
			sink = b.toString();
		}
	}

	static void stringToChars(int n) {
		for (int i = 0; i < n; i++)
			sink = LONG_STRING.toCharArray();
	}

	static void arrayList(int n) {
		for (int i = 0; i < n; i++)
			sink = new ArrayList<Object>(400 * k);
	}

	static void hashMap(int n) throws Throwable {
		for (int i = 0; i < n; i++) {
			HashMap<Object, Object> m = new HashMap<>(1000 * k);
			m.put("key", "value");
			sink = m;
		}
	}

	/* Reflection, method handles, lambdas and method references. */
	public static Object allocateShorts(int n) { return new short[n]; }

	static void reflection(int n) throws Throwable {
		Method m = Allocations.class.getMethod("allocateShorts", int.class);
		for (int i = 0; i < n; i++)
			sink = m.invoke(null, 800 * k);
	}

	static void methodHandle(int n) throws Throwable {
		MethodHandle h = MethodHandles.lookup().findStatic(Allocations.class, "allocateShorts",
				MethodType.methodType(Object.class, int.class));
		for (int i = 0; i < n; i++)
			sink = (Object) h.invokeExact(800 * k);
	}

	static void arrayConstructorHandle(int n) throws Throwable {
		MethodHandle h = MethodHandles.arrayConstructor(float[].class);
		for (int i = 0; i < n; i++)
			sink = (float[]) h.invokeExact(400 * k);
	}

	static void lambda(int n) throws Throwable {
		IntFunction<Object> f = length -> new double[length];
		for (int i = 0; i < n; i++)
			sink = f.apply(200 * k);
	}

	static void arrayReference(int n) throws Throwable {
		IntFunction<int[]> f = int[]::new;
		for (int i = 0; i < n; i++)
			sink = f.apply(400 * k);
	}

	static void methodReference(int n) throws Throwable {
		IntFunction<Object> f = Allocations::allocateShorts;
		for (int i = 0; i < n; i++)
			sink = f.apply(800 * k);
	}

	interface Defaults {
		default Object make(int n) { return new char[n]; }

		static Object makeStatic(int n) { return new char[n]; }
	}

	static void interfaceMethods(int n) throws Throwable {
		Defaults d = new Defaults() { };
		for (int i = 0; i < n; i++)
			sink = (i & 1) == 0 ? d.make(700 * k) : Defaults.makeStatic(700 * k);
	}

	/* Constructors: arrays made before and after super(), and large ordinary objects. */
	static class Holder {
		final int[] data;

		Holder(int[] data) { this.data = data; }
	}

	static final class BeforeSuper extends Holder {
		BeforeSuper(int n) { super(n > 0 ? new int[n] : null); }
	}

	static final class InField {
		final double[] data = new double[150 * k];
		final double more;

		InField() { more = data[0]; }

		InField(int ignored) { this(); }
	}

	static void beforeSuper(int n) { for (int i = 0; i < n; i++) sink = new BeforeSuper(500 * k); }

	static void inField(int n) {
		for (int i = 0; i < n; i++)
			sink = (i & 1) == 0 ? new InField() : new InField(i);
	}

	static class Big {
		long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;
		long a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31;
		long a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47;
		long a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63;
		long a64, a65, a66, a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79;
		long a80, a81, a82, a83, a84, a85, a86, a87, a88, a89, a90, a91, a92, a93, a94, a95;
		long a96, a97, a98, a99, a100, a101, a102, a103, a104, a105, a106, a107, a108, a109, a110, a111;
		long a112, a113, a114, a115, a116, a117, a118, a119,
			a120, a121, a122, a123, a124, a125, a126, a127;

		Big() {
			if (k > 1)
				return;
			a3 = k;
		}

		Big(int ignored) { this(); }
	}

	static class BigChild extends Big {
		long b0, b1;

		BigChild() { super(1); }
	}

	static class Small {
		long c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15;
		long c16, c17, c18, c19, c20, c21, c22, c23, c24, c25, c26, c27, c28, c29, c30, c31;
		long c32, c33, c34, c35, c36, c37, c38, c39, c40, c41, c42, c43, c44, c45, c46, c47;
		long c48, c49, c50, c51, c52, c53, c54, c55, c56, c57, c58, c59, c60, c61, c62, c63;
		long c64, c65, c66, c67, c68, c69, c70, c71, c72, c73, c74, c75, c76, c77, c78, c79;
		long c80, c81, c82, c83, c84, c85, c86, c87, c88, c89, c90, c91, c92, c93, c94, c95;
		long c96, c97, c98, c99;
	}

	static final class Grown extends Small {
		long d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15;
		long d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29;
	}

	static final class BigGeneric<T> extends BigChild {
		final T value;
		final byte[] bytes = new byte[1500 * k];

		BigGeneric(T value) { this.value = value; }
	}

	static final class BigReflected extends Small {
		long e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15;
		long e16, e17, e18, e19, e20, e21, e22, e23, e24, e25, e26, e27, e28, e29, e30, e31;
		long e32, e33, e34, e35, e36, e37, e38, e39, e40, e41, e42, e43, e44, e45, e46, e47;
		long e48, e49, e50, e51, e52, e53, e54, e55, e56, e57, e58, e59;

		public BigReflected() { }
	}

	static void bigObject(int n) {
		for (int i = 0; i < n; i++)
			sink = (i & 1) == 0 ? new Big() : new Big(i);
	}

	static void bigChild(int n) { for (int i = 0; i < n; i++) sink = new BigChild(); }

	static void bigByInheritance(int n) throws Throwable {
		for (int i = 0; i < n; i++) {
			sink = new Small();
			sink = new Grown();
		}
	}

	static void bigGeneric(int n) { for (int i = 0; i < n; i++) sink = new BigGeneric<>("value"); }

	static void bigReflected(int n) throws Throwable {
		Constructor<?> c = BigReflected.class.getConstructor();
		for (int i = 0; i < n; i++)
			sink = c.newInstance();
	}

	/* Around the threshold: constant and variable lengths, by the size that the JVM lays out. */

	static void thresholdVariableMinus24(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[(int) minSize - 24];
	}

	static void thresholdVariableMinus23(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[(int) minSize - 23];
	}

	static void thresholdVariableMinus17(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[(int) minSize - 17];
	}

	static void thresholdVariableMinus16(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[(int) minSize - 16];
	}

	static void thresholdVariableMinus15(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[(int) minSize - 15];
	}

	static void thresholdVariableMinus8(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[(int) minSize - 8];
	}

	static void thresholdVariablePlus0(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[(int) minSize + 0];
	}

	static void thresholdVariablePlus1(int n) {
		for (int i = 0; i < n; i++)
			sink = new byte[(int) minSize + 1];
	}

	static void thresholdConstant1000(int n) { for (int i = 0; i < n; i++) sink = new byte[1000]; }
	static void thresholdConstant1001(int n) { for (int i = 0; i < n; i++) sink = new byte[1001]; }
	static void thresholdConstant1008(int n) { for (int i = 0; i < n; i++) sink = new byte[1008]; }
	static void thresholdConstant1009(int n) { for (int i = 0; i < n; i++) sink = new byte[1009]; }
	static void thresholdConstant4072(int n) { for (int i = 0; i < n; i++) sink = new byte[4072]; }
	static void thresholdConstant4073(int n) { for (int i = 0; i < n; i++) sink = new byte[4073]; }
	static void thresholdConstant4080(int n) { for (int i = 0; i < n; i++) sink = new byte[4080]; }
	static void thresholdInt250(int n) { for (int i = 0; i < n; i++) sink = new int[250]; }
	static void thresholdInt251(int n) { for (int i = 0; i < n; i++) sink = new int[251]; }
	static void thresholdInt252(int n) { for (int i = 0; i < n; i++) sink = new int[252]; }
	static void thresholdInt253(int n) { for (int i = 0; i < n; i++) sink = new int[253]; }

	/* Once per class or thread. */
	static final class Initialised {
		static final long[] TABLE = new long[2000];
	}

	static void staticInitialiser() { sink = Initialised.TABLE; }

	static void threadBody() {
		for (int i = 0; i < 3; i++)
			sink = new float[500 * k];
	}

	static void shortThreads(int threads) throws InterruptedException {
		for (int i = 0; i < threads; i += 4) {
			Thread[] t = new Thread[4];
			for (int j = 0; j < t.length; j++)
				(t[j] = new Thread(Allocations::threadBody)).start();
			for (Thread x : t)
				x.join();
		}
	}

	/* Defined again and again, by loaders that go away, and as a hidden class. */
	public static final class Redefined {
		public static Object allocate(int times) {
			Object o = null;
			for (int i = 0; i < times; i++)
				o = new long[300 + (i & 1)];
			return o;
		}
	}

	static byte[] redefinedBytes() throws IOException {
		try (InputStream in = Allocations.class.getResourceAsStream("Allocations$Redefined.class")) {
			return in.readAllBytes();
		}
	}

	static final class Throwaway extends ClassLoader {
		Class<?> define(byte[] b) { return defineClass(null, b, 0, b.length); }
	}

	static void unloading(int loaders, int times) throws Exception {
		byte[] bytes = redefinedBytes();
		for (int i = 0; i < loaders; i++) {
			Class<?> c = new Throwaway().define(bytes);
			sink = c.getMethod("allocate", int.class).invoke(null, times);
			if (i % 8 == 7) {
				sink = c = null;
				System.gc();
			}
		}
	}

	static void hidden(int times) throws Exception {
		Class<?> c = MethodHandles.lookup().defineHiddenClass(redefinedBytes(), true).lookupClass();
		sink = c.getMethod("allocate", int.class).invoke(null, times);
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
		minSize = Long.parseLong(args[1]);

		test("newBoolean", Allocations::newBoolean, array(boolean[].class, 2400));
		test("newChar", Allocations::newChar, array(char[].class, 1200));
		test("newFloat", Allocations::newFloat, array(float[].class, 600));
		test("newDouble", Allocations::newDouble, array(double[].class, 300));
		test("newByte", Allocations::newByte, array(byte[].class, 2400));
		test("newShort", Allocations::newShort, array(short[].class, 1200));
		test("newInt", Allocations::newInt, array(int[].class, 600));
		test("newLong", Allocations::newLong, array(long[].class, 300));
		test("constantBoolean", Allocations::constantBoolean, array(boolean[].class, 2400));
		test("constantChar", Allocations::constantChar, array(char[].class, 1200));
		test("constantFloat", Allocations::constantFloat, array(float[].class, 600));
		test("constantDouble", Allocations::constantDouble, array(double[].class, 300));
		test("constantByte", Allocations::constantByte, array(byte[].class, 2400));
		test("constantShort", Allocations::constantShort, array(short[].class, 1200));
		test("constantInt", Allocations::constantInt, array(int[].class, 600));
		test("constantLong", Allocations::constantLong, array(long[].class, 300));
		test("newString", Allocations::newString, array(String[].class, 400));
		test("newRows", Allocations::newRows, array(int[][].class, 500));
		test("multi2", Allocations::multi2, array(int[][].class, 3), array(int[].class, 300, 3));
		test("multi3", Allocations::multi3,
				array(Object[][][].class, 2), array(Object[][].class, 3, 2), array(Object[].class, 400, 6));
		test("multiPartial", Allocations::multiPartial,
				array(long[][][].class, 2), array(long[][].class, 350, 2));
		test("multiOuter", Allocations::multiOuter,
				array(short[][].class, 600), array(short[].class, 0, 600));
		test("multiEmpty", Allocations::multiEmpty,
				array(char[][].class, 0), array(char[].class, 5000, 0));
		test("multiOne", Allocations::multiOne, array(byte[][].class, 1), array(byte[].class, 2000));
		test("notEscaping", Allocations::notEscaping, array(int[].class, 300));
		test("inHandler", Allocations::inHandler, array(char[].class, 900));
		test("inSwitch", Allocations::inSwitch, array(float[].class, 300));
		test("copyOfBoolean", Allocations::copyOfBoolean, array(boolean[].class, 2400));
		test("copyOfRangeBoolean", Allocations::copyOfRangeBoolean, array(boolean[].class, 1400));
		test("cloneBoolean", Allocations::cloneBoolean, array(boolean[].class, 1600));
		test("copyOfChar", Allocations::copyOfChar, array(char[].class, 1200));
		test("copyOfRangeChar", Allocations::copyOfRangeChar, array(char[].class, 700));
		test("cloneChar", Allocations::cloneChar, array(char[].class, 800));
		test("copyOfFloat", Allocations::copyOfFloat, array(float[].class, 600));
		test("copyOfRangeFloat", Allocations::copyOfRangeFloat, array(float[].class, 350));
		test("cloneFloat", Allocations::cloneFloat, array(float[].class, 400));
		test("copyOfDouble", Allocations::copyOfDouble, array(double[].class, 300));
		test("copyOfRangeDouble", Allocations::copyOfRangeDouble, array(double[].class, 175));
		test("cloneDouble", Allocations::cloneDouble, array(double[].class, 200));
		test("copyOfByte", Allocations::copyOfByte, array(byte[].class, 2400));
		test("copyOfRangeByte", Allocations::copyOfRangeByte, array(byte[].class, 1400));
		test("cloneByte", Allocations::cloneByte, array(byte[].class, 1600));
		test("copyOfShort", Allocations::copyOfShort, array(short[].class, 1200));
		test("copyOfRangeShort", Allocations::copyOfRangeShort, array(short[].class, 700));
		test("cloneShort", Allocations::cloneShort, array(short[].class, 800));
		test("copyOfInt", Allocations::copyOfInt, array(int[].class, 600));
		test("copyOfRangeInt", Allocations::copyOfRangeInt, array(int[].class, 350));
		test("cloneInt", Allocations::cloneInt, array(int[].class, 400));
		test("copyOfLong", Allocations::copyOfLong, array(long[].class, 300));
		test("copyOfRangeLong", Allocations::copyOfRangeLong, array(long[].class, 175));
		test("cloneLong", Allocations::cloneLong, array(long[].class, 200));
		test("copyOfObject", Allocations::copyOfObject, array(Object[].class, 500));
		test("copyOfString", Allocations::copyOfString, array(String[].class, 500));
		test("copyOfOther", Allocations::copyOfOther, array(CharSequence[].class, 500));
		test("copyOfRows", Allocations::copyOfRows, array(int[][].class, 500));
		test("copyOfRangeObject", Allocations::copyOfRangeObject, array(Object[].class, 350));
		test("copyOfRangeString", Allocations::copyOfRangeString, array(String[].class, 350));
		test("copyOfRangeOther", Allocations::copyOfRangeOther, array(Object[].class, 350));
		test("cloneObject", Allocations::cloneObject, array(Object[].class, 400));
		test("cloneString", Allocations::cloneString, array(String[].class, 400));
		test("cloneRows", Allocations::cloneRows, array(int[][].class, 400));
		test("cloneGeneric", Allocations::cloneGeneric, array(String[].class, 400));
		test("reflectArray", Allocations::reflectArray, array(int[].class, 400));
		test("reflectArrayString", Allocations::reflectArrayString, array(String[].class, 400));
		test("reflectArrayMulti", Allocations::reflectArrayMulti,
				array(long[][].class, 2), array(long[].class, 200, 2));
		test("uninitialised", Allocations::uninitialised, array(int[].class, 400));
		test("stringRepeat", Allocations::stringRepeat, array(byte[].class, 2000));
		test("stringConcat", Allocations::stringConcat, array(byte[].class, 2004));
		test("stringPlus", Allocations::stringPlus, array(byte[].class, 2005));
		test("stringBuilder", Allocations::stringBuilder,
				array(byte[].class, 3000), array(byte[].class, 2000));
		test("stringToChars", Allocations::stringToChars, array(char[].class, 2000));
		test("arrayList", Allocations::arrayList, array(Object[].class, 400));
		test("hashMap", Allocations::hashMap, array(Class.forName("[Ljava.util.HashMap$Node;"), 1024));
		test("reflection", Allocations::reflection, array(short[].class, 800));
		test("methodHandle", Allocations::methodHandle, array(short[].class, 800));
		test("arrayConstructorHandle", Allocations::arrayConstructorHandle, array(float[].class, 400));
		test("lambda", Allocations::lambda, array(double[].class, 200));
		test("arrayReference", Allocations::arrayReference, array(int[].class, 400));
		test("methodReference", Allocations::methodReference, array(short[].class, 800));
		test("interfaceMethods", Allocations::interfaceMethods, array(char[].class, 700));
		test("beforeSuper", Allocations::beforeSuper, array(int[].class, 500));
		test("inField", Allocations::inField, array(double[].class, 150));
		test("bigObject", Allocations::bigObject, object(Big.class));
		test("bigChild", Allocations::bigChild, object(BigChild.class));
		test("bigByInheritance", Allocations::bigByInheritance, object(Small.class), object(Grown.class));
		test("bigGeneric", Allocations::bigGeneric, object(BigGeneric.class), array(byte[].class, 1500));
		test("bigReflected", Allocations::bigReflected, object(BigReflected.class));
		test("thresholdVariableMinus24", Allocations::thresholdVariableMinus24,
				array(byte[].class, (int) minSize - 24));
		test("thresholdVariableMinus23", Allocations::thresholdVariableMinus23,
				array(byte[].class, (int) minSize - 23));
		test("thresholdVariableMinus17", Allocations::thresholdVariableMinus17,
				array(byte[].class, (int) minSize - 17));
		test("thresholdVariableMinus16", Allocations::thresholdVariableMinus16,
				array(byte[].class, (int) minSize - 16));
		test("thresholdVariableMinus15", Allocations::thresholdVariableMinus15,
				array(byte[].class, (int) minSize - 15));
		test("thresholdVariableMinus8", Allocations::thresholdVariableMinus8,
				array(byte[].class, (int) minSize - 8));
		test("thresholdVariablePlus0", Allocations::thresholdVariablePlus0,
				array(byte[].class, (int) minSize + 0));
		test("thresholdVariablePlus1", Allocations::thresholdVariablePlus1,
				array(byte[].class, (int) minSize + 1));
		test("thresholdConstant1000", Allocations::thresholdConstant1000, array(byte[].class, 1000));
		test("thresholdConstant1001", Allocations::thresholdConstant1001, array(byte[].class, 1001));
		test("thresholdConstant1008", Allocations::thresholdConstant1008, array(byte[].class, 1008));
		test("thresholdConstant1009", Allocations::thresholdConstant1009, array(byte[].class, 1009));
		test("thresholdConstant4072", Allocations::thresholdConstant4072, array(byte[].class, 4072));
		test("thresholdConstant4073", Allocations::thresholdConstant4073, array(byte[].class, 4073));
		test("thresholdConstant4080", Allocations::thresholdConstant4080, array(byte[].class, 4080));
		test("thresholdInt250", Allocations::thresholdInt250, array(int[].class, 250));
		test("thresholdInt251", Allocations::thresholdInt251, array(int[].class, 251));
		test("thresholdInt252", Allocations::thresholdInt252, array(int[].class, 252));
		test("thresholdInt253", Allocations::thresholdInt253, array(int[].class, 253));

		staticInitialiser();
		tell(EXACT, "staticInitialiser", new Made[] {array(long[].class, 2000)}, 1);
		shortThreads(400);
		tell(EXACT, "threadBody", new Made[] {array(float[].class, 500)}, 1200);
		unloading(32, 100);
		tell(EXACT, "unloading", new Made[] {array(long[].class, 300), array(long[].class, 301)}, 1600);
		hidden(1000);
		tell(UNCOVERED, "hidden", new Made[] {array(long[].class, 300), array(long[].class, 301)}, 500);
		System.out.println("{\"exact\":" + json(EXACT) + ",\"uncovered\":" + json(UNCOVERED) + "}");
	}
}
