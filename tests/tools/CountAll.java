// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Allocates known numbers of arrays in every way there is, each way with a size of its own, and
 * compares with what the hooks reported. Threshold: 512 bytes; headers of 16, references of 4.
 * Prints one line per way that disagrees, and a last line with the number of ways.
 */
public final class CountAll {
	private static final int ROUNDS = Integer.getInteger("rounds", 6000);

	static Object sink;
	private static int wrong;
	private static int ways;
	private static int nextWords = 100;

	private static native long allocated(int words);

	private static native long objects();

	private interface Way {
		Object allocate(int words) throws Throwable;
	}

	/** Elements of an array of so many words. */
	static int elements(int words, int elementBytes) {
		return (words - 2) * 8 / elementBytes;
	}

	private static void check(String name, int perCall, Way way) throws Throwable {
		int words = nextWords++;
		long before = allocated(words);
		for (int i = 0; i < ROUNDS; i++)
			sink = way.allocate(words);
		report(name, (long) perCall * ROUNDS, allocated(words) - before);
	}

	private static void report(String name, long expected, long counted) {
		ways++;
		if (counted == expected)
			return;
		wrong++;
		System.out.println("wrong: " + name + ": " + counted + " counted, " + expected + " made");
	}

	private static void bytecodes() throws Throwable {
		check("boolean[]", 1, w -> new boolean[elements(w, 1)]);
		check("byte[]", 1, w -> new byte[elements(w, 1)]);
		check("char[]", 1, w -> new char[elements(w, 2)]);
		check("short[]", 1, w -> new short[elements(w, 2)]);
		check("int[]", 1, w -> new int[elements(w, 4)]);
		check("float[]", 1, w -> new float[elements(w, 4)]);
		check("long[]", 1, w -> new long[elements(w, 8)]);
		check("double[]", 1, w -> new double[elements(w, 8)]);
		check("Object[]", 1, w -> new Object[elements(w, 4)]);
		check("int[][] without sub-arrays", 1, w -> new int[elements(w, 4)][]);
		check("int[3][n]", 3, w -> new int[3][elements(w, 4)]);
		check("String[2][3][n]", 6, w -> new String[2][3][elements(w, 4)]);
		check("byte[n][0]", 1, w -> new byte[elements(w, 4)][0]);
		check("not quite", 1, w -> new byte[elements(w, 1) - 7]);
	}

	private static void copies() throws Throwable {
		int[] ints = new int[0];
		check("int[].clone", 2, w -> new int[elements(w, 4)].clone());
		check("byte[].clone", 2, w -> new byte[elements(w, 1)].clone());
		check("boolean[].clone", 2, w -> new boolean[elements(w, 1)].clone());
		check("double[].clone", 2, w -> new double[elements(w, 8)].clone());
		check("String[].clone", 2, w -> new String[elements(w, 4)].clone());
		check("long[][].clone", 2, w -> new long[elements(w, 4)][].clone());
		check("copyOf(int[])", 1, w -> Arrays.copyOf(ints, elements(w, 4)));
		check("copyOf(T[])", 1, w -> Arrays.copyOf(new String[1], elements(w, 4)));
		check("copyOf(Object[])", 1, w -> Arrays.copyOf(new Object[1], elements(w, 4)));
		check("copyOf to String[]", 1,
			w -> Arrays.copyOf(new Object[1], elements(w, 4), String[].class));
		check("copyOfRange(T[])", 1, w -> Arrays.copyOfRange(new String[9], 1, 1 + elements(w, 4)));
		check("copyOfRange to Object[]", 1,
			w -> Arrays.copyOfRange(new String[9], 1, 1 + elements(w, 4), Object[].class));
		check("copyOfRange(char[])", 1, w -> Arrays.copyOfRange(new char[9], 1, 1 + elements(w, 2)));
	}

	private static void reflection() throws Throwable {
		MethodHandle longs = MethodHandles.arrayConstructor(long[].class);
		MethodHandle copy = MethodHandles.lookup().findStatic(Arrays.class, "copyOf",
			MethodType.methodType(int[].class, int[].class, int.class));
		java.lang.reflect.Method method = CountAll.class.getDeclaredMethod("shorts", int.class);
		IntFunction<float[]> floats = float[]::new;

		check("newInstance(int)", 1, w -> Array.newInstance(int.class, elements(w, 4)));
		check("newInstance(String)", 1, w -> Array.newInstance(String.class, elements(w, 4)));
		check("newInstance(byte, 2, n)", 2, w -> Array.newInstance(byte.class, 2, elements(w, 1)));
		check("newInstance(int[], 2, n)", 2, w -> Array.newInstance(int[].class, 2, elements(w, 4)));
		check("array constructor handle", 1, w -> (long[]) longs.invokeExact(elements(w, 8)));
		check("copyOf handle", 1, w -> (int[]) copy.invokeExact(new int[1], elements(w, 4)));
		check("reflected method", 1, w -> method.invoke(null, elements(w, 2)));
		check("float[]::new", 1, w -> floats.apply(elements(w, 4)));
	}

	static short[] shorts(int n) {
		return new short[n];
	}

	private static void strings() throws Throwable {
		String a = "a".repeat(250);
		String big = "b".repeat(2048);
		String wide = "\u20ac".repeat(1024);
		char[] chars = wide.toCharArray();

		check("StringBuilder.toString", 1, w -> new StringBuilder()
			.append(big, 0, elements(w, 1) - a.length()).append(a).toString());
		check("StringBuilder chain", 1, w -> chain(w, a));
		check("StringBuffer chain", 1, w -> buffer(w, a));
		check("concatenation", 1, w -> concatenate(a, w));
		check("String of wide chars", 1, w -> new String(chars, 0, elements(w, 2)));
		check("substring and getBytes", 2,
			w -> big.substring(0, elements(w, 1)).getBytes("ISO-8859-1").length);
	}

	private static final String[] HEADS = new String[2048];

	/** Makes a string of `words` with `tail`; a builder that then grows gets larger than that. */
	private static String head(int words, String tail) {
		int length = elements(words, 1) - tail.length();
		if (HEADS[length] == null)
			HEADS[length] = "h".repeat(length);
		return HEADS[length];
	}

	private static String chain(int words, String a) {
		return new StringBuilder().append(head(words, a)).append(a).toString();
	}

	private static String buffer(int words, String a) {
		return new StringBuffer().append(head(words, a)).append(a).toString();
	}

	private static String concatenate(String a, int words) {
		return head(words, a) + a;
	}

	private static void library() throws Throwable {
		List<String> list = new ArrayList<>(Collections.nCopies(1000, "x"));
		BigInteger small = BigInteger.ONE.shiftLeft(32 * 60).subtract(BigInteger.ONE);
		BigInteger[] factors = new BigInteger[1024];

		check("ArrayList.toArray(T[])", 1,
			w -> list.subList(0, elements(w, 4)).toArray(new String[0]));
		check("ArrayList.toArray()", 1, w -> list.subList(0, elements(w, 4)).toArray());
		check("Stream.toArray", 1,
			w -> list.subList(0, elements(w, 4)).stream().toArray(String[]::new));
		check("BigInteger.multiply", 1, w -> {
			int length = elements(w, 4) - 60;
			if (factors[length] == null)
				factors[length] = BigInteger.ONE.shiftLeft(32 * length).subtract(BigInteger.ONE);
			return factors[length].multiply(small);
		});
	}

	static class Large implements Cloneable {
		long a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15;
		long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15;
		long c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15;
		long d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15;

		Large(boolean early) {
			if (early)
				return;
			a0 = 1;
		}

		Large copy() throws CloneNotSupportedException {
			return (Large) super.clone();
		}
	}

	private static void ordinary() throws Throwable {
		long before = objects();
		for (int i = 0; i < ROUNDS; i++)
			sink = new Large((i & 1) == 0);
		report("large object", ROUNDS, objects() - before);
		Large large = (Large) sink;
		before = objects();
		for (int i = 0; i < ROUNDS; i++)
			sink = large.copy();
		report("clone of a large object", ROUNDS, objects() - before);
	}

	public static void main(String[] args) throws Throwable {
		bytecodes();
		copies();
		reflection();
		strings();
		library();
		ordinary();
		System.out.println("counted_all: ways=" + ways + " wrong=" + wrong);
	}
}
