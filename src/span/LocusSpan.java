// SPDX-License-Identifier: Apache-2.0
package java.lang;

import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.LongFunction;

import jdk.internal.misc.Unsafe;
import jdk.internal.reflect.ConstantPool;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * Has the methods that transformed bytecode calls where spans are recorded. The agent defines the class as a member of
 * java.base.
 *
 * Each begin pushes exactly one frame on the thread's stack of spans, and end() pops one, so that the two
 * stay in step whatever a span turns out to be. In the same way left() or refused() follows each submission
 * that says so. None of the methods shows in a stack trace, or throws anything but a begin's StackOverflowError.
 *
 * The file is longer than 600 lines: the agent defines one class, which has no nested ones.
 */
public final class LocusSpan {
	private static final Unsafe U = Unsafe.getUnsafe();

	/* LC_TASK_WRAPPER of classfile/span_rewrite.h: of these, nothing is asked. */
	private static final int WRAPPER = 2;

	/* LC_SUBMIT_EXECUTE of format/kinds.h, and bits beside a kind of classfile/span_rewrite.h. */
	private static final int EXECUTE = 1, KINDS = 0xff, ENTERS = 0x100, ENTERS_ALL = 0x200, CALLED = 0x400;

	/*
	 * The offset of an object's first field tells the place of its class. 8: compact headers, with the class
	 * in the upper half of the mark word; 16: class pointers are not compressed. (The offset of an array's first
	 * element would be an int or a long, by the JDK.)
	 */
	private static final long HEADER = U.objectFieldOffset(Integer.class, "value");

	/*
	 * The offset of the class. Not final: compiled code calls the JVM for a field whose offset it knows to be
	 * the class's.
	 */
	private static long classOffset = HEADER == 8 ? 4 : 8;

	/*
	 * The bits of an object's first word that hold its identity hash; 0: only the JVM sets them. The word's offset is
	 * not final, like that of the class.
	 */
	private static final long HASH = hashBits();
	private static final int HASH_SHIFT = Long.numberOfTrailingZeros(HASH);
	private static long markOffset = 0;

	/* The two bits of a lock and one more: an object that is not locked, and has no other word in place of its own. */
	private static final long LOCK = 7, UNLOCKED = 1;

	/* LC_LINK_HASH_FACTOR of span/tasks/link.h. */
	private static final int HASH_FACTOR = 0x1e3779b1;

	/*
	 * Memory with the last number that each thread has given to an object, in its stripe of a cache line. A stripe has
	 * numbers in blocks, which no other one has. In the first line stands how many numbers are in stripes.
	 */
	private static final int STRIPES = 64, LINE = 64, BLOCK = 512;
	private static final long NUMBERS = HASH == 0 ? 0 : U.allocateMemory((STRIPES + 1) * LINE);
	private static final long THREAD_ID = U.objectFieldOffset(Thread.class, "tid");

	static {
		for (int i = 0; i <= STRIPES && HASH != 0; i++)
			U.putInt(NUMBERS + i * LINE, i == 0 ? 0 : BLOCK - 1);
	}

	/*
	 * Sets of class words. The agent is not told of creations of objects of `quiet` classes, of executions of `calls`,
	 * which are lambda expressions (span/tasks/task_watch.h), and of submissions of `wrappers`, which are the JDK's own
	 * and also in both other sets. Wrappers are never unloaded. The word of another unloaded class may be given to a new
	 * class, which stays in the set until one of its objects is submitted.
	 */
	private static final int SET_BITS = 12;
	private static final int[] quiet = new int[1 << SET_BITS], calls = new int[1 << SET_BITS],
		wrappers = new int[1 << SET_BITS];

	/* LC_TASK_WATCH_ of span/tasks/task_watch.h. */
	private static final int QUIET = 2, CALLS = 4;

	private LocusSpan() {
	}

	/** The first of the two places of a word. */
	@ForceInline
	private static int at(int word) {
		return word * 0x9e3779b1 >>> 32 - SET_BITS;
	}

	/** Is the word in the set? No word is with uncompressed class pointers, since two classes may have one word. */
	@ForceInline
	private static boolean has(int[] words, int word) {
		int at = at(word);
		return HEADER != 16 && (words[at] == word || words[at ^ 1] == word);
	}

	private static void put(int[] words, int word, boolean in) {
		int at = at(word);
		if (in && !has(words, word))
			words[words[at] == 0 ? at : at ^ 1] = word;
		for (int i = 0; !in && i < 2; i++)
			if (words[at ^ i] == word)
				words[at ^ i] = 0;
	}

	/** The agent does not want what `state`, of QUIET and CALLS, says of a class. */
	private static void watch(int word, int state) {
		put(quiet, word, (state & QUIET) != 0);
		put(calls, word, (state & CALLS) != 0);
	}

	/** The 32 bits that tell classes apart in headers (jvm/layout/layout.h). */
	@ForceInline
	private static int classWord(Object o) {
		if (HEADER == 8)
			return U.getInt(o, classOffset) >>> 10;
		if (HEADER == 12)
			return U.getInt(o, classOffset);
		return (int) (U.getLong(o, classOffset) >>> 3);
	}

	/** HASH, or 0. */
	private static native long hashBits();

	/** The next number, which no other object gets until there are no new ones. */
	@ForceInline
	private static int nextNumber() {
		long at = NUMBERS + ((U.getLong(Thread.currentThread(), THREAD_ID) & STRIPES - 1) + 1) * LINE;
		int last, next;
		do {
			last = U.getInt(at);
			next = (last & BLOCK - 1) == BLOCK - 1 ? U.getAndAddInt(null, NUMBERS, BLOCK) : last + 1;
		} while (!U.compareAndSetInt(null, at, last, next));
		return next;
	}

	/**
	 * The object's identity hash. An object without one gets it here, which is faster than in the JVM, and places objects
	 * that one thread makes one after the other side by side in the agent's table. Inlined,
	 * it would make the program's frames larger, and deep recursion would overflow sooner. The hooks themselves may be
	 * inlined: behind one more frame, the agent needs longer to recognise their place.
	 */
	@Hidden
	@DontInline
	private static int hash(Object o) {
		if (HASH != 0) {
			long mark = U.getLong(o, markOffset);
			if ((mark & LOCK) == UNLOCKED && (mark & HASH) == 0) {
				int hash = nextNumber() * HASH_FACTOR & Integer.MAX_VALUE;
				if (hash != 0 && U.compareAndSetLong(o, markOffset, mark, mark | (long) hash << HASH_SHIFT))
					return hash;
			}
		}
		return System.identityHashCode(o);
	}

	/** The agent has met a wrapper of the boot loader. */
	private static void addWrapper(int word) {
		put(wrappers, word, true);
		watch(word, QUIET | CALLS);
	}

	/** A stream execution begins; `parallel` is the pipeline's isParallel(). */
	public static native void streamBegin(Object pipeline, boolean parallel);

	/** Likewise in a Head's own forEach(), which leaves parallel ones to evaluate(). */
	public static native void headBegin(boolean parallel);

	/** A method of a stream begins that is none of java.util.stream. */
	public static native void foreignBegin();

	/** A stream was asked for its iterator or spliterator. */
	public static native void pulled();

	/** The span that was begun last on this thread ends, by return or exception. */
	public static native void end();

	/** Likewise of a stream begun by streamBegin(), with what it has computed. */
	public static native void ended(Object result);

	private static native void streamTask(Object task, int hash);

	private static native void supportBegin(Object task, int hash);

	private static native void created(Object task, int hash, int classWord);

	private static native void submitted(Object task, int hash, int classWord, int kind);

	/** A method begins that may submit once more what it was given. */
	private static native void entered(boolean all);

	/** The method that was entered last on this thread returns. */
	public static native void left();

	/** Likewise, by an exception. */
	public static native void refused();

	private static native void taskBegin(Object task, int hash, int classWord, int traits);

	private static native void made(Object function, int classWord);

	private static native void unmount(long id);

	private static native void mount(long id);

	/** A virtual thread is about to leave its carrier, or has just got one. */
	@Hidden
	@SuppressWarnings("deprecation")
	public static void unmount(Object thread) {
		unmount(((Thread) thread).getId());
	}

	@Hidden
	@SuppressWarnings("deprecation")
	public static void mount(Object thread) {
		mount(((Thread) thread).getId());
	}

	/** A ForkJoin task of a stream was constructed: it belongs to the stream that runs now. */
	@Hidden
	public static void streamTask(Object task) {
		streamTask(task, hash(task));
	}

	/** It computes. */
	@Hidden
	public static void supportBegin(Object task) {
		supportBegin(task, hash(task));
	}

	/** A task was constructed, or made by a lambda expression. */
	@Hidden
	public static void created(Object task) {
		if (task == null)
			return;
		int word = classWord(task);
		if (!has(quiet, word))
			created(task, hash(task), word);
	}

	/** A task is handed to somebody else to execute; `kind` is enum lc_submit_kind and LC_SUBMIT_ bits. */
	@Hidden
	public static void submitted(Object task, int kind) {
		int word = task == null ? 0 : classWord(task);
		if (task != null && !has(wrappers, word))
			submitted(task, hash(task), word, kind);
		else if ((kind & (ENTERS | ENTERS_ALL)) != 0)
			entered(task != null && (kind & ENTERS_ALL) != 0);
	}

	/** Each of a collection of tasks is handed on. Whatever its iterator throws, its caller will see. */
	@Hidden
	public static void submittedAll(Object tasks, int kind) {
		try {
			if (tasks instanceof Iterable)
				for (Object task : (Iterable<?>) tasks)
					submitted(task, kind & KINDS);
			else if (tasks instanceof Object[])
				for (Object task : (Object[]) tasks)
					submitted(task, kind & KINDS);
		} catch (Throwable e) {
			// The method that was called iterates over it too.
		}
		entered(true);
	}

	/** run(), call(), exec() or compute() begins; `traits` are the LC_TASK_ bits of its class. */
	@Hidden
	public static void taskBegin(Object task, int traits) {
		taskBegin(task, (traits & WRAPPER) != 0 ? 0 : hash(task), classWord(task), traits);
	}

	/**
	 * Stands for a call of Executor.execute(). Other classes have a hook in the method itself.
	 */
	@Hidden
	@ForceInline
	public static void execute(Executor executor, Runnable task) {
		if (executor == null)
			throw noTask("java.util.concurrent.Executor.execute(java.lang.Runnable)");
		if (!executor.getClass().isHidden()) {
			executor.execute(task);
			return;
		}
		submitted(task, EXECUTE | ENTERS | CALLED);
		try {
			executor.execute(task);
		} catch (Throwable e) {
			refused();
			throw e;
		}
		left();
	}

	/** The JVM's message for an unknown null: in a hidden frame there would be no message. */
	@Hidden
	private static NullPointerException noTask(String method) {
		return new NullPointerException("Cannot invoke \"" + method + "\"");
	}

	/** Stands for a call of Runnable.run(): hidden classes have no hook of their own. */
	@Hidden
	@ForceInline
	public static void run(Runnable task) {
		if (task == null)
			throw noTask("java.lang.Runnable.run()");
		if (!task.getClass().isHidden() || has(calls, classWord(task))) {
			task.run();
			return;
		}
		taskBegin(task, 0);
		try {
			task.run();
		} finally {
			end();
		}
	}

	@Hidden
	@ForceInline
	public static Object call(Callable<?> task) throws Exception {
		if (task == null)
			throw noTask("java.util.concurrent.Callable.call()");
		if (!task.getClass().isHidden() || has(calls, classWord(task)))
			return task.call();
		taskBegin(task, 0);
		try {
			return task.call();
		} finally {
			end();
		}
	}

	/**
	 * A function object for the method reference Runnable::run calls this instead. Its own class is hidden, so that
	 * no message says what was null.
	 */
	@Hidden
	@ForceInline
	public static void runReferred(Runnable task) {
		if (task == null)
			throw new NullPointerException();
		run(task);
	}

	@Hidden
	@ForceInline
	public static Object callReferred(Callable<?> task) throws Exception {
		if (task == null)
			throw new NullPointerException();
		return call(task);
	}

	@Hidden
	@ForceInline
	private static Object told(Object function, Object stream) {
		if (stream != null)
			made(function, classWord(function));
		return stream;
	}

	/**
	 * Stands for the call of a function whose stream java.util.stream itself executes next, as flatMap() does:
	 * when that stream begins, the function has returned, and is on the stack no more.
	 */
	@Hidden
	@ForceInline
	public static Object flat(Function<Object, ?> function, Object element) {
		return told(function, function.apply(element));
	}

	@Hidden
	@ForceInline
	public static Object flat(IntFunction<?> function, int element) {
		return told(function, function.apply(element));
	}

	@Hidden
	@ForceInline
	public static Object flat(LongFunction<?> function, long element) {
		return told(function, function.apply(element));
	}

	@Hidden
	@ForceInline
	public static Object flat(DoubleFunction<?> function, double element) {
		return told(function, function.apply(element));
	}

	/**
	 * The method of the program that a function's object stands for: a lambda expression's body, the method of a
	 * method reference, or apply() of an ordinary class. Null where that is a method of the JDK, or not known.
	 * The agent asks it once for a class.
	 */
	private static Method body(Object function) {
		try {
			Class<?> c = function.getClass();
			if (!c.isHidden()) {
				for (Method m : c.getDeclaredMethods())
					if (m.getName().equals("apply") && !m.isBridge())
						return ofProgram(m);
				return null;
			}
			ConstantPool pool = c.getConstantPool();
			for (int i = pool.getSize() - 1; i > 0; i--) {
				ConstantPool.Tag tag = pool.getTagAt(i);
				if (tag != ConstantPool.Tag.METHODREF && tag != ConstantPool.Tag.INTERFACEMETHODREF)
					continue;
				Member m = pool.getMethodAtIfLoaded(i);
				// Methods of java.lang are conversions of boxed numbers.
				if (m instanceof Method && m.getDeclaringClass().getPackageName() != "java.lang")
					return ofProgram((Method) m);
			}
			return null;
		} catch (Throwable e) {
			return null;
		}
	}

	private static Method ofProgram(Method m) {
		ClassLoader loader = m.getDeclaringClass().getClassLoader();
		return loader == null || loader == ClassLoader.getPlatformClassLoader() ? null : m;
	}

	/* How much of an object print() reads: elements and fields, and how deep they lie in each other. */
	private static final int PRINT_PARTS = 1 << 14;
	private static final int PRINT_DEPTH = 12;

	/**
	 * A number made of what a stream is made from, or of what it has computed: equal where the contents are,
	 * and with overwhelming probability not else. 0: it cannot be told. The lowest bit is set where the
	 * object is one of few of its kind: null, a boolean, an empty collection, a small number. No code of the
	 * program is called: what is not the JDK's own data counts by its identity.
	 */
	private static long print(Object o) {
		int[] left = { PRINT_PARTS };
		long h;
		try {
			h = print(o, 0, left);
		} catch (Throwable e) {
			return 0; // it was changed meanwhile
		}
		if (left[0] < 0)
			return 0;
		return isPlain(o) ? h | 1 : (h & ~1L) == 0 ? 2 : h & ~1L;
	}

	/* For classes that a look must not be the first to load. */
	private static boolean isCalled(Object o, String name) {
		return o.getClass().getName().equals(name);
	}

	private static boolean isPlain(Object o) {
		if (o == null || o instanceof Boolean || o instanceof Byte || o instanceof Character || o instanceof Enum)
			return true;
		if (o instanceof Integer || o instanceof Long || o instanceof Short)
			return ((Number) o).longValue() >= -100 && ((Number) o).longValue() <= 100;
		if (o instanceof Double || o instanceof Float)
			return ((Number) o).doubleValue() == Math.rint(((Number) o).doubleValue())
					&& Math.abs(((Number) o).doubleValue()) <= 100;
		if (o instanceof String)
			return ((String) o).length() < 2;
		if (o instanceof Optional)
			return isPlain(((Optional<?>) o).orElse(null));
		if (isCalled(o, "java.util.OptionalInt"))
			return isPlain(((OptionalInt) o).orElse(0));
		if (isCalled(o, "java.util.OptionalLong"))
			return isPlain(((OptionalLong) o).orElse(0));
		if (isCalled(o, "java.util.OptionalDouble"))
			return isPlain(((OptionalDouble) o).orElse(0));
		if (o.getClass().isArray())
			return java.lang.reflect.Array.getLength(o) == 0;
		if (isKnown(o.getClass()))
			return o instanceof Map ? ((Map<?, ?>) o).isEmpty() : o instanceof Collection && ((Collection<?>) o).isEmpty();
		return false;
	}

	private static long mix(long h, long v) {
		h = (h ^ v) * 0x9e3779b97f4a7c15L;
		return h ^ h >>> 29;
	}

	/* Collections of the JDK that hold their elements themselves, and whose iterators call nobody. */
	private static boolean isKnown(Class<?> c) {
		String name = c.getName();
		if (!name.startsWith("java.util."))
			return false;
		switch (name.substring(10)) {
		case "ArrayList":
		case "LinkedList":
		case "ArrayDeque":
		case "HashMap":
		case "LinkedHashMap":
		case "TreeMap":
		case "EnumMap":
		case "HashSet":
		case "LinkedHashSet":
		case "TreeSet":
		case "Arrays$ArrayList":
		case "Collections$EmptyList":
		case "Collections$EmptySet":
		case "Collections$EmptyMap":
		case "Collections$SingletonList":
		case "Collections$SingletonSet":
		case "Collections$SingletonMap":
		case "ImmutableCollections$ListN":
		case "ImmutableCollections$List12":
		case "ImmutableCollections$SetN":
		case "ImmutableCollections$Set12":
		case "ImmutableCollections$MapN":
		case "ImmutableCollections$Map1":
		case "concurrent.ConcurrentHashMap":
		case "concurrent.CopyOnWriteArrayList":
			return true;
		default:
			return false;
		}
	}

	/* Objects whose fields tell what a stream computes: stages, spliterators, lambda expressions. */
	private static boolean hasParts(Class<?> c) {
		String name = c.getName();
		return c.isHidden() || c.getClassLoader() == null && (name.startsWith("java.util.stream.")
				|| name.startsWith("java.util.") && (name.contains("pliterator") || name.endsWith("SummaryStatistics")));
	}

	private static long print(Object o, int depth, int[] left) {
		if (left[0]-- < 0)
			return 0;
		if (o == null)
			return 3;
		if (o instanceof String)
			return mix(((String) o).length() + 5L, o.hashCode());
		if (o instanceof Integer || o instanceof Long || o instanceof Short || o instanceof Byte)
			return mix(7, ((Number) o).longValue());
		if (o instanceof Double)
			return mix(11, Double.doubleToLongBits((Double) o));
		if (o instanceof Float || o instanceof Character || o instanceof Boolean)
			return mix(13, o.hashCode());
		Class<?> c = o.getClass();
		if (c.isArray() && depth < PRINT_DEPTH)
			return printArray(o, depth, left);
		if (o instanceof Optional)
			return mix(17, print(((Optional<?>) o).orElse(null), depth + 1, left));
		if (isCalled(o, "java.util.OptionalInt") || isCalled(o, "java.util.OptionalLong")
				|| isCalled(o, "java.util.OptionalDouble") || isCalled(o, "java.math.BigInteger"))
			return mix(19, o.hashCode());
		if (isKnown(c) && depth < PRINT_DEPTH)
			return o instanceof Map ? printMap((Map<?, ?>) o, depth, left) : printAll((Collection<?>) o, depth, left);
		if (hasParts(c) && depth < PRINT_DEPTH)
			return printParts(o, c, depth, left);
		return mix(23, System.identityHashCode(o));
	}

	private static long printArray(Object o, int depth, int[] left) {
		int length = java.lang.reflect.Array.getLength(o);
		long h = mix(29, length);
		if ((left[0] -= length / 8) < 0)
			return 0;
		if (o instanceof Object[]) {
			for (Object e : (Object[]) o)
				h = mix(h, print(e, depth + 1, left));
			return h;
		}
		if (o instanceof int[])
			for (int e : (int[]) o)
				h = mix(h, e);
		else if (o instanceof long[])
			for (long e : (long[]) o)
				h = mix(h, e);
		else if (o instanceof double[])
			for (double e : (double[]) o)
				h = mix(h, Double.doubleToLongBits(e));
		else if (o instanceof byte[])
			for (byte e : (byte[]) o)
				h = mix(h, e);
		else if (o instanceof char[])
			for (char e : (char[]) o)
				h = mix(h, e);
		else
			h = mix(h, System.identityHashCode(o));
		return h;
	}

	/* Sets and maps have no order: their parts are added up. */
	private static long printAll(Collection<?> all, int depth, int[] left) {
		boolean set = all instanceof Set;
		long h = mix(31, all.size());
		for (Object e : all) {
			h = set ? h + mix(37, print(e, depth + 1, left)) : mix(h, print(e, depth + 1, left));
			if (left[0] < 0)
				return 0;
		}
		return h;
	}

	private static long printMap(Map<?, ?> map, int depth, int[] left) {
		long h = mix(41, map.size());
		for (Map.Entry<?, ?> e : map.entrySet()) {
			h += mix(print(e.getKey(), depth + 1, left), print(e.getValue(), depth + 1, left));
			if (left[0] < 0)
				return 0;
		}
		return h;
	}

	private static long printParts(Object o, Class<?> c, int depth, int[] left) {
		long h = mix(43, System.identityHashCode(c));
		for (Class<?> k = c; k != null && k != Object.class; k = k.getSuperclass()) {
			for (Field f : k.getDeclaredFields())
				if ((f.getModifiers() & 8) == 0)
					h = mix(h, printField(o, f, depth, left));
			if (left[0] < 0)
				return 0;
		}
		return h;
	}

	private static long printField(Object o, Field f, int depth, int[] left) {
		Class<?> type = f.getType();
		switch (f.getName()) {
		case "sourceStage": // A stage is told by the stages before it.
		case "nextStage":
		case "sourceCloseAction":
		case "expectedModCount":
		case "linkedOrConsumed":
			return 0;
		case "this$0":
			if (o instanceof java.util.stream.BaseStream)
				return 0;
			break;
		default:
		}
		long at = U.objectFieldOffset(f);
		if (!type.isPrimitive())
			return print(U.getReference(o, at), depth + 1, left);
		left[0]--;
		if (type == long.class || type == double.class)
			return U.getLong(o, at);
		if (type == int.class || type == float.class)
			return U.getInt(o, at);
		return type == short.class || type == char.class ? U.getShort(o, at) : U.getByte(o, at);
	}
}
