package java.lang;

import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.DoubleFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.LongFunction;

import jdk.internal.misc.Unsafe;
import jdk.internal.reflect.ConstantPool;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * What bytecode calls where spans are recorded. Defined by the agent as a member of java.base.
 *
 * Each begin pushes exactly one frame on the thread's stack of spans, and end() pops one, so that the two
 * stay in step whatever a span turns out to be. In the same way left() or refused() follows each submission
 * that says so. None of the methods throws or shows in a stack trace.
 */
public final class LocusSpan {
	private static final Unsafe U = Unsafe.getUnsafe();

	/* LC_TASK_WRAPPER of classfile/span_rewrite.h: of these, nothing is asked. */
	private static final int WRAPPER = 2;

	/* LC_SUBMIT_EXECUTE of format/kinds.h, and bits beside a kind of classfile/span_rewrite.h. */
	private static final int EXECUTE = 1, KINDS = 0xff, ENTERS = 0x100, ENTERS_ALL = 0x200, CALLED = 0x400;

	/*
	 * Where an object's class is follows from where its fields begin. 8: compact headers, where the class
	 * is in the upper half of the mark word; 16: class pointers are not compressed. (That an array's elements
	 * begin somewhere is an int or a long, by the JDK.)
	 */
	private static final long HEADER = U.objectFieldOffset(Integer.class, "value");

	/*
	 * Where to read it. Not final: compiled code calls the JVM for a field whose offset it knows to be the
	 * class's.
	 */
	private static long classOffset = HEADER == 8 ? 4 : 8;

	private LocusSpan() {
	}

	/** What tells classes apart in headers, of 32 bits (jvm/layout.h). */
	@ForceInline
	private static int classWord(Object o) {
		if (HEADER == 8)
			return U.getInt(o, classOffset) >>> 10;
		if (HEADER == 12)
			return U.getInt(o, classOffset);
		return (int) (U.getLong(o, classOffset) >>> 3);
	}

	/** A stream execution begins; `parallel` is the pipeline's isParallel(). */
	public static native void streamBegin(boolean parallel);

	/** Likewise in a Head's own forEach(), which leaves parallel ones to evaluate(). */
	public static native void headBegin(boolean parallel);

	/** A method of a stream begins that is none of java.util.stream. */
	public static native void foreignBegin();

	/** A stream was asked for its iterator or spliterator. */
	public static native void pulled();

	/** What was begun last on this thread ends, by return or exception. */
	public static native void end();

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
		streamTask(task, System.identityHashCode(task));
	}

	/** It computes. */
	@Hidden
	public static void supportBegin(Object task) {
		supportBegin(task, System.identityHashCode(task));
	}

	/** A task was constructed, or made by a lambda expression. */
	@Hidden
	public static void created(Object task) {
		if (task != null)
			created(task, System.identityHashCode(task), classWord(task));
	}

	/** A task is handed to somebody else to execute; `kind` is enum lc_submit_kind and LC_SUBMIT_ bits. */
	@Hidden
	public static void submitted(Object task, int kind) {
		if (task != null)
			submitted(task, System.identityHashCode(task), classWord(task), kind);
		else if ((kind & (ENTERS | ENTERS_ALL)) != 0)
			entered(false);
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

	/** run(), call() or exec() begins; `traits` are the LC_TASK_ bits of its class. */
	@Hidden
	public static void taskBegin(Object task, int traits) {
		taskBegin(task, (traits & WRAPPER) != 0 ? 0 : System.identityHashCode(task), classWord(task), traits);
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

	/** As the JVM says it where it does not know what was null: the message of a hidden frame would be none. */
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
		if (!task.getClass().isHidden()) {
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
		if (!task.getClass().isHidden())
			return task.call();
		taskBegin(task, 0);
		try {
			return task.call();
		} finally {
			end();
		}
	}

	/**
	 * Stands for the call of a function whose stream java.util.stream itself executes next, as flatMap() does:
	 * when that stream begins, the function has returned, and is on the stack no more.
	 */
	@Hidden
	@ForceInline
	public static Object flat(Function<Object, ?> function, Object element) {
		Object stream = function.apply(element);
		if (stream != null)
			made(function, classWord(function));
		return stream;
	}

	@Hidden
	@ForceInline
	public static Object flat(IntFunction<?> function, int element) {
		Object stream = function.apply(element);
		if (stream != null)
			made(function, classWord(function));
		return stream;
	}

	@Hidden
	@ForceInline
	public static Object flat(LongFunction<?> function, long element) {
		Object stream = function.apply(element);
		if (stream != null)
			made(function, classWord(function));
		return stream;
	}

	@Hidden
	@ForceInline
	public static Object flat(DoubleFunction<?> function, double element) {
		Object stream = function.apply(element);
		if (stream != null)
			made(function, classWord(function));
		return stream;
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
				// Those of java.lang are conversions of boxed numbers.
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
}
