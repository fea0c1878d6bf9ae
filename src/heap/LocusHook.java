// SPDX-License-Identifier: Apache-2.0
package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Has the methods that the inserted bytecode calls. Defined by the agent as a member of java.base,
 * before any class that refers to it is.
 *
 * The constants are place holders: the agent overwrites them in the class file with what holds in
 * this JVM. They must stay constants that javac keeps in the constant pool, each once.
 *
 * The methods are small enough to be inlined; below the threshold they are one compare. They
 * allocate nothing, and call nothing but String.value(), Thread.currentThread() (which the agent
 * makes currentCarrierThread() where there are virtual threads), Unsafe, and each other.
 *
 * When every object is tracked, what a thread allocated is told from its allocation buffer (TLAB): a
 * hook that finds the buffer's top higher by just the size of its object than the hook before left
 * it, and the object's class there, knows the address without a reference to the object, which thus
 * need not escape. It appends to the thread's log and counts, as heap/hook.c would; heap/tlab.h has
 * the layout. Interpreted code may stop for a collection anywhere, and compiled code may become
 * interpreted where it branches. So isOf() says who may read the heap, and append() compares the GC
 * sequence at the end too.
 *
 * The hook behind `new` of a tracked class looks for its object at the buffer's top in the same way,
 * however much others have allocated since the last hook. While the thread may look at the stack for
 * each object, native code does so: append()'s limit is then where the log ends.
 *
 * A short array is treated as an object: its hook passes no reference to native code, so the JIT may
 * remove the array as it would without the hook.
 *
 * Interpreted code pays for each call, and getInt(address) is two. Hence getInt(null, address).
 */
public final class LocusHook {
	/* Shortest arrays to report; 0 for all, where arrays of the type are watched. */
	private static final int MIN_BOOLEAN = 0x7C0C0501;
	private static final int MIN_CHAR = 0x7C0C0502;
	private static final int MIN_FLOAT = 0x7C0C0503;
	private static final int MIN_DOUBLE = 0x7C0C0504;
	private static final int MIN_BYTE = 0x7C0C0505;
	private static final int MIN_SHORT = 0x7C0C0506;
	private static final int MIN_INT = 0x7C0C0507;
	private static final int MIN_LONG = 0x7C0C0508;
	private static final int MIN_REFERENCE = 0x7C0C0509;
	/* The offset of an array's first element, by bytes of an element. */
	private static final int BASE_1 = 0x7C0C050A;
	private static final int BASE_2 = 0x7C0C050B;
	private static final int BASE_4 = 0x7C0C050C;
	private static final int BASE_8 = 0x7C0C050D;
	private static final int BASE_REFERENCE = 0x7C0C050E;
	private static final int SHIFT_REFERENCE = 0x7C0C050F;
	/* Alignment of objects in bytes, less one. */
	private static final int ALIGN_MASK = 0x7C0C0510;
	/* Every object is tracked: 1, or 2 if native code needs no reference to short arrays; else 0. */
	private static final int ALL = 0x7C0C0511;
	/* The word at CLASS_OFFSET is shifted by this to get an object's class word. */
	private static final int CLASS_SHIFT = 0x7C0C0512;
	/* Below so many 8-byte words, only a watch wants an array. */
	private static final int MIN_WORDS = 0x7C0C0513;
	/* Strings are watched: 1, else 0. */
	private static final int STRINGS = 0x7C0C0514;
	/* In the number of a site: LC_SITE_TRACKED of classfile/rewrite.h. */
	private static final int TRACKED = 1 << 25;
	/* ... and the bits of a site whose bytecode does not tell the class, or whose array another hook may see. */
	private static final int CALLED = 1 << 31 | 1 << 30 | 1 << 26;
	/* The state of a thread that runs Java code. */
	private static final int IN_JAVA = 0x7C0C0515;
	/* Addresses: of the GC sequence, and of the table of threads. */
	private static final long SEQUENCE = 0x7C0C0500_00000001L;
	private static final long THREADS = 0x7C0C0500_00000002L;
	/* Offsets: in a java.lang.Thread of its JavaThread's address, and in a JavaThread of the buffer's top. */
	private static final long EETOP = 0x7C0C0500_00000003L;
	private static final long TLAB_TOP = 0x7C0C0500_00000004L;
	private static final long ALLOCATED_BYTES = 0x7C0C0500_00000005L;
	/* The offset in an object of the word that holds its class word. */
	private static final long CLASS_OFFSET = 0x7C0C0500_00000006L;
	/* Address of an int: an object to watch is being looked for, else 0. */
	private static final long WATCHING = 0x7C0C0500_00000007L;
	/* The offset of a JavaThread's state. */
	private static final long STATE = 0x7C0C0500_00000008L;
	/* The offset in a JavaThread of its buffer's start. */
	private static final long TLAB_START = 0x7C0C0500_00000009L;

	/* struct lc_tlab_thread and its entries. */
	private static final int ENTRIES = 64;
	private static final int ENTRY_MASK = 32767;
	private static final int NO_CLASS = -1;

	/* Results of look(). */
	private static final int UNKNOWN = 2;
	private static final int THERE = 3;
	private static final int OTHER = 4;

	private static final Unsafe U = Unsafe.getUnsafe();

	private LocusHook() {
	}

	/** An array of so many 8-byte words (unsigned), header included. */
	private static native void alloc(Object array, int words, int site);

	/** An ordinary object that may reach the threshold, at the end of a constructor. */
	public static native void allocObject(Object o, int site);

	/** A string of a method that the JIT may have replaced, and its array. */
	private static native void allocString(Object array, int words, Object string, int site);

	/** An object of that class may have been made just now: at `address`, if that is not 0. */
	private static native void madeSlowly(long thread, Class<?> type, int site, long address);

	/** The same of an array of so many words. */
	private static native void madeArraySlowly(long thread, Class<?> type, int words, int site, long address);

	/** For the audit: an object whose hook has run before its constructor did. */
	public static native void constructed(Object o);

	/** A block outside the heap: its address, 0 if there was no memory, and its size. */
	public static native void memoryAllocated(long address, long bytes);

	/** The same of a file that was mapped. */
	public static native void memoryMapped(long address, long bytes);

	/** A block outside the heap that is about to be freed. */
	public static native void memoryFreed(long address);

	/** So many bytes are about to be allocated; the JDK rounds them up to whole words. */
	@ForceInline
	public static void memoryAsked(long bytes) {
		if ((bytes & 7) != 0)
			memoryRounded(bytes);
	}

	private static native void memoryRounded(long bytes);

	/** A block that is about to be reallocated; and what came of it, as of memoryAllocated(). */
	public static native void memoryMoving(long address);

	public static native void memoryMoved(long address, long bytes);

	/** This carrier has just got the virtual thread of that ID; 0: the one that it had has left it. */
	private static native void carries(long id);

	/** A virtual thread has just got a carrier, or is leaving it. */
	@SuppressWarnings("deprecation")
	public static void carries(Object thread) {
		carries(((Thread) thread).getId());
	}

	public static void carried(Object thread) {
		carries(0);
	}

	/** An ordinary object that may be the one to watch. */
	private static native void observe(Object o);

	/* Not constant expressions for javac, but for the JIT. */
	private static int all() {
		return ALL;
	}

	private static int strings() {
		return STRINGS;
	}

	/** The running thread's JavaThread. */
	private static long thread() {
		return U.getLong(Thread.currentThread(), EETOP);
	}

	/** The thread's struct lc_tlab_thread, or 0. */
	@ForceInline
	private static long state(long thread) {
		long slot = THREADS + ((thread >>> 6 ^ thread >>> 14) & 4095) * 16;
		return U.getLong(null, slot) == thread ? U.getLong(null, slot + 8) : 0;
	}

	/**
	 * The same as isOf(), in interpreted code, which reads no heap. The interpreter removes no
	 * allocation: its object ends at the top, unless it lies outside of the buffer, and then the
	 * thread's count of allocated bytes has grown. Compiled code that calls an interpreted hook may have removed the
	 * object; this method believes it only as long as the JIT has removed none of the entry.
	 */
	private static boolean isLast(long thread, long s, long e) {
		return U.getInt(null, s) == U.getInt(null, SEQUENCE) && U.getInt(null, e + 8) != NO_CLASS
				&& U.getLong(null, e + 24) == 0
				&& U.getLong(null, thread + ALLOCATED_BYTES) == U.getLong(null, s + 32);
	}

	/**
	 * The object between `last` and the top is the entry's, and `last` is of this GC sequence.
	 *
	 * A collection may give back the memory at `last`, and then a read of it ends the program. So no
	 * collection may come between the compare of the sequence and that read. In compiled code none
	 * does: from the second read of the state to that read there is no call and no branch, at which
	 * the JVM could stop the thread or leave the code. Interpreted code may stop behind each bytecode.
	 * The state tells the two apart: compiled code reads IN_JAVA, but getInt() that the interpreter
	 * calls runs in the JVM, which is another state. If anything differs, `s` is read instead.
	 *
	 * For this, all reads must be one intrinsic method, which the JIT compiles into its caller
	 * everywhere or nowhere. getInt(address) is a method around it, at whose start C1 may stop.
	 */
	@ForceInline
	private static boolean isOf(long thread, long s, long e, long last) {
		if (U.getInt(null, thread + STATE) != IN_JAVA)
			return isLast(thread, s, e);
		return look(thread, s, e, last) == THERE;
	}

	/** Is there an object of the entry's class at `last`? UNKNOWN in interpreted code. See isOf(). */
	@ForceInline
	private static int look(long thread, long s, long e, long last) {
		Unsafe u = U;
		if (u.getInt(null, thread + STATE) != IN_JAVA)
			return UNKNOWN;
		int differs = u.getInt(null, thread + STATE) ^ IN_JAVA
				| u.getInt(null, s) ^ u.getInt(null, SEQUENCE);
		long instead = (differs | -differs) >> 31; /* 0 where nothing differs, else -1 */
		int word = u.getInt(null, ((last ^ s) & instead ^ last) + CLASS_OFFSET);
		return differs != 0 ? UNKNOWN : word >>> CLASS_SHIFT == u.getInt(null, e + 8) ? THERE : OTHER;
	}

	/** Record what lies in the buffer from `last` to `top`, unless native code wants to. */
	@ForceInline
	private static boolean append(long s, long e, long last, long top, long words) {
		long log = U.getLong(null, s + 16);
		long at = U.getLong(null, log);
		long counter = U.getLong(null, e + 16); /* none where native code has only met removed objects */
		if (at >= U.getLong(null, s + 24) || counter == 0)
			return false;
		long record = U.getLong(null, log + 16) + (at << 4);
		U.putLong(null, record, last | U.getLong(null, s + 40));
		U.putLong(null, record + 8, words | (long) U.getInt(null, e + 12) << 32);
		U.putLong(null, log, at + 1);
		U.putLong(null, s + 8, top);
		U.putLong(null, counter, U.getLong(null, counter) + 1);
		U.putLong(null, counter + 8, U.getLong(null, counter + 8) + (top - last));
		if (U.getInt(null, s) != U.getInt(null, SEQUENCE))
			U.putLong(null, s + 8, 0);
		return true;
	}

	/**
	 * The address of the entry's object, if only some classes are tracked; 0: unknown; -1: the JIT has
	 * removed the allocation. The object ends at the buffer's top, behind the last hook's, or is the
	 * first of a new buffer that has none yet. An object that small is made outside of the buffer only
	 * if it waits for a collection. NO_CLASS stands in entries of larger objects.
	 */
	@ForceInline
	private static long tracked(long thread, long s, long e, long top, long last) {
		long low = U.getLong(null, thread + TLAB_START);
		long from = top - U.getInt(null, e + 4);
		int found = UNKNOWN;
		if (U.getInt(null, e + 8) == NO_CLASS || low == 0)
			return 0;
		if (low == U.getLong(null, s + 48))
			low = last;
		if (from >= low)
			found = look(thread, s, e, from);
		else if (U.getInt(null, s) == U.getInt(null, SEQUENCE))
			found = OTHER;
		if (found != OTHER)
			return found == THERE ? from : 0;
		U.putInt(null, e + 28, 1);
		return -1;
	}

	/** Native code notes more about a new buffer than append() does. */
	@ForceInline
	private static boolean isSameBuffer(long thread, long s) {
		return U.getLong(null, thread + TLAB_START) == U.getLong(null, s + 48);
	}

	/** Has the JIT removed the allocation? The thread has allocated nothing since the last hook. Notes it. */
	@ForceInline
	private static boolean isRemoved(long thread, long s, long e, long bytes) {
		if (bytes != 0 || U.getLong(null, thread + ALLOCATED_BYTES) != U.getLong(null, s + 32))
			return false;
		U.putInt(null, e + 28, 1);
		return true;
	}

	/** Behind `new`, before the constructor. */
	@ForceInline
	public static void made(Class<?> type, int site) {
		long thread = thread();
		long s = state(thread);
		long address = 0;
		if (s != 0) {
			long e = s + ENTRIES + ((site & ENTRY_MASK) << 5);
			long top = U.getLong(null, thread + TLAB_TOP);
			long last = U.getLong(null, s + 8);
			long bytes = top - last;
			if (isRemoved(thread, s, e, bytes))
				return;
			if (U.getInt(null, e) == site && all() == 0) {
				address = tracked(thread, s, e, top, last);
				if (address < 0 || address != 0 && isSameBuffer(thread, s)
						&& append(s, e, address, top, top - address >>> 3))
					return;
			} else if (U.getInt(null, e) == site && U.getInt(null, e + 4) == bytes && isOf(thread, s, e, last)) {
				if (append(s, e, last, top, bytes >>> 3))
					return;
				address = last;
			}
		}
		madeSlowly(thread, type, site, address);
	}

	/** Behind the bytecode that makes an array of less than 64 words, 512 bytes. The JIT knows the array's class. */
	@ForceInline
	private static void madeShort(Object array, int words, int site) {
		long thread = thread();
		long s = state(thread);
		long address = 0;
		if (s != 0) {
			long e = s + ENTRIES + ((site & ENTRY_MASK) << 5);
			long top = U.getLong(null, thread + TLAB_TOP);
			long last = U.getLong(null, s + 8);
			if (isRemoved(thread, s, e, top - last))
				return;
			if (U.getInt(null, e) == site && top - last == (long) words << 3 && isOf(thread, s, e, last)) {
				if (append(s, e, last, top, words))
					return;
				address = last;
			}
		}
		madeArraySlowly(thread, array.getClass(), words, site, address);
	}

	/**
	 * The address of an array that is the last object of the thread's, if only some classes are tracked; 0:
	 * unknown. Nothing was made outside of the buffer since the last hook, so the array ends at the top.
	 */
	@ForceInline
	private static long trackedArray(long thread, long s, long top, long bytes) {
		long from = top - bytes;
		return from >= U.getLong(null, s + 8) && isSameBuffer(thread, s)
				&& U.getLong(null, thread + ALLOCATED_BYTES) == U.getLong(null, s + 32) ? from : 0;
	}

	/** For less than 128 words: else, LC_TLAB_LARGE_WORDS, native code looks at the stack. */
	@ForceInline
	private static boolean appendArray(int words, int site) {
		long thread = thread();
		long s = state(thread);
		if (s == 0)
			return false;
		long e = s + ENTRIES + ((site & ENTRY_MASK) << 5);
		long top = U.getLong(null, thread + TLAB_TOP);
		if (U.getInt(null, e) != site)
			return false;
		long from = all() != 0 ? U.getLong(null, s + 8) : trackedArray(thread, s, top, (long) words << 3);
		return top - from == (long) words << 3 && isOf(thread, s, e, from) && append(s, e, from, top, words);
	}

	@ForceInline
	private static void madeArray(Object array, int words, int site) {
		if (all() == 0 && (site & TRACKED) == 0) {
			if (words >= 0 && words < MIN_WORDS && U.getInt(null, WATCHING) == 0)
				return;
		} else if (all() == 2 && words >>> 6 == 0 && (site & CALLED) == 0) {
			madeShort(array, words, site);
			return;
		} else if (words >>> 7 == 0 && appendArray(words, site)) {
			return;
		}
		alloc(array, words, site);
	}

	/* Inlined always: a call would be given the array, and the JIT could remove none. */
	@ForceInline
	private static int words(int base, int length, int shift) {
		int mask = ALIGN_MASK;

		return (int) ((((long) length << shift) + base + mask & ~mask) >>> 3);
	}

	@ForceInline
	public static void array(boolean[] a, int site) {
		if (a.length >= MIN_BOOLEAN)
			madeArray(a, words(BASE_1, a.length, 0), site);
	}

	@ForceInline
	public static void array(byte[] a, int site) {
		if (a.length >= MIN_BYTE)
			madeArray(a, words(BASE_1, a.length, 0), site);
	}

	@ForceInline
	public static void array(char[] a, int site) {
		if (a.length >= MIN_CHAR)
			madeArray(a, words(BASE_2, a.length, 1), site);
	}

	@ForceInline
	public static void array(short[] a, int site) {
		if (a.length >= MIN_SHORT)
			madeArray(a, words(BASE_2, a.length, 1), site);
	}

	@ForceInline
	public static void array(int[] a, int site) {
		if (a.length >= MIN_INT)
			madeArray(a, words(BASE_4, a.length, 2), site);
	}

	@ForceInline
	public static void array(float[] a, int site) {
		if (a.length >= MIN_FLOAT)
			madeArray(a, words(BASE_4, a.length, 2), site);
	}

	@ForceInline
	public static void array(long[] a, int site) {
		if (a.length >= MIN_LONG)
			madeArray(a, words(BASE_8, a.length, 3), site);
	}

	@ForceInline
	public static void array(double[] a, int site) {
		if (a.length >= MIN_DOUBLE)
			madeArray(a, words(BASE_8, a.length, 3), site);
	}

	@ForceInline
	public static void array(Object[] a, int site) {
		if (a.length >= MIN_REFERENCE)
			madeArray(a, words(BASE_REFERENCE, a.length, SHIFT_REFERENCE), site);
	}

	/** An array of references that may be the one to watch, or of a tracked class. */
	public static void watchedArray(Object[] a, int site) {
		if (a.length >= MIN_REFERENCE || (site & TRACKED) != 0 || U.getInt(null, WATCHING) != 0)
			madeArray(a, words(BASE_REFERENCE, a.length, SHIFT_REFERENCE), site);
	}

	/** An ordinary object of a watched class, or of a subclass, when it is constructed or cloned. */
	public static void watched(Object o) {
		if (U.getInt(null, WATCHING) != 0)
			observe(o);
	}

	/** An array of whatever type. */
	public static void any(Object o, int site) {
		if (o instanceof Object[])
			watchedArray((Object[]) o, site);
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

	/** The hooks that follow do not take the thread's last object for theirs: native code counts it. */
	private static void passOver() {
		long thread = thread();
		long s = state(thread);
		if (s != 0)
			U.putLong(null, s + 8, U.getLong(null, thread + TLAB_TOP));
	}

	/**
	 * An array just made, with its sub-arrays. Sub-arrays of one level are all there or all null, and
	 * have the same length.
	 */
	public static void multi(Object o, int site) {
		if (all() == 0 && (site & TRACKED) != 0)
			passOver();
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
		byte[] a = s.value();
		if (all() != 0 || (site & TRACKED) != 0 || strings() != 0 && U.getInt(null, WATCHING) != 0)
			allocString(a, words(BASE_1, a.length, 0), s, site);
		else
			array(a, site);
	}

	/** The result of a method that may return the array it was given. */
	public static void grown(int[] result, int[] given, int site) {
		if (result != given)
			array(result, site);
	}
}
