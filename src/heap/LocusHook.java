package java.lang;

/**
 * What the inserted bytecode calls. Defined by the agent as a member of java.base, before any
 * class that refers to it is.
 *
 * The constants are place holders: the agent overwrites them in the class file with what holds in
 * this JVM. They must stay int constants that javac keeps in the constant pool, each once.
 *
 * The methods are small enough to be inlined; below the threshold they are one compare. They
 * allocate nothing, and call nothing but String.value() and each other.
 */
public final class LocusHook {
	/* Shortest arrays to report, by bytes of an element. */
	private static final int MIN_1 = 0x7C0C0501;
	private static final int MIN_2 = 0x7C0C0502;
	private static final int MIN_4 = 0x7C0C0503;
	private static final int MIN_8 = 0x7C0C0504;
	private static final int MIN_REFERENCE = 0x7C0C0505;
	/* Where the first element lies, likewise. */
	private static final int BASE_1 = 0x7C0C0506;
	private static final int BASE_2 = 0x7C0C0507;
	private static final int BASE_4 = 0x7C0C0508;
	private static final int BASE_8 = 0x7C0C0509;
	private static final int BASE_REFERENCE = 0x7C0C050A;
	private static final int SHIFT_REFERENCE = 0x7C0C050B;
	/* Alignment of objects in bytes, less one. */
	private static final int ALIGN_MASK = 0x7C0C050C;

	private LocusHook() {
	}

	/** An array of so many 8-byte words (unsigned), header included. */
	private static native void alloc(Object array, int words, int site);

	/** An ordinary object that may reach the threshold, at the end of a constructor. */
	public static native void allocObject(Object o, int site);

	private static int words(int base, int length, int shift) {
		int mask = ALIGN_MASK;

		return (int) ((((long) length << shift) + base + mask & ~mask) >>> 3);
	}

	public static void array(boolean[] a, int site) {
		if (a.length >= MIN_1)
			alloc(a, words(BASE_1, a.length, 0), site);
	}

	public static void array(byte[] a, int site) {
		if (a.length >= MIN_1)
			alloc(a, words(BASE_1, a.length, 0), site);
	}

	public static void array(char[] a, int site) {
		if (a.length >= MIN_2)
			alloc(a, words(BASE_2, a.length, 1), site);
	}

	public static void array(short[] a, int site) {
		if (a.length >= MIN_2)
			alloc(a, words(BASE_2, a.length, 1), site);
	}

	public static void array(int[] a, int site) {
		if (a.length >= MIN_4)
			alloc(a, words(BASE_4, a.length, 2), site);
	}

	public static void array(float[] a, int site) {
		if (a.length >= MIN_4)
			alloc(a, words(BASE_4, a.length, 2), site);
	}

	public static void array(long[] a, int site) {
		if (a.length >= MIN_8)
			alloc(a, words(BASE_8, a.length, 3), site);
	}

	public static void array(double[] a, int site) {
		if (a.length >= MIN_8)
			alloc(a, words(BASE_8, a.length, 3), site);
	}

	public static void array(Object[] a, int site) {
		if (a.length >= MIN_REFERENCE)
			alloc(a, words(BASE_REFERENCE, a.length, SHIFT_REFERENCE), site);
	}

	/** An array of whatever type. */
	public static void any(Object o, int site) {
		if (o instanceof Object[])
			array((Object[]) o, site);
		else if (o instanceof byte[])
			array((byte[]) o, site);
		else if (o instanceof int[])
			array((int[]) o, site);
		else if (o instanceof long[])
			array((long[]) o, site);
		else if (o instanceof double[])
			array((double[]) o, site);
		else if (o instanceof char[])
			array((char[]) o, site);
		else if (o instanceof float[])
			array((float[]) o, site);
		else if (o instanceof short[])
			array((short[]) o, site);
		else if (o instanceof boolean[])
			array((boolean[]) o, site);
	}

	/**
	 * An array just made, with its sub-arrays. Those of one level are all there or all null, and
	 * have the same length.
	 */
	public static void multi(Object o, int site) {
		any(o, site);
		if (!(o instanceof Object[]))
			return;
		Object[] a = (Object[]) o;
		if (a.length == 0 || a[0] == null)
			return;
		for (int i = 0; i < a.length; i++)
			multi(a[i], site);
	}

	/** A string just made: its array. */
	public static void string(String s, int site) {
		array(s.value(), site);
	}

	/** The result of a method that may return the array it was given. */
	public static void grown(int[] result, int[] given, int site) {
		if (result != given)
			array(result, site);
	}
}
