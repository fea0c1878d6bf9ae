import java.lang.reflect.Field;
import java.lang.reflect.Method;
import jdk.internal.misc.Unsafe;

/**
 * Asks the hook of `new` whether an object lies at an address that no program may read, as the heap may give back the
 * memory of an object between any two bytecodes of interpreted code.
 *
 * Usage: GivenBack (compiled | interpreted), with --add-exports java.base/jdk.internal.misc=ALL-UNNAMED and --add-opens
 * java.base/java.lang=ALL-UNNAMED, below --min-size=0. `compiled`: asks until the JIT has compiled the hook, which finds an
 * object in memory that is there; only memory of another collection is one that it must not read.
 */
public final class GivenBack {
	private static final Unsafe U = Unsafe.getUnsafe();
	private static final long KERNEL = 0xffff800000000000L;
	private static final int CLASS = 0x4321;
	private static final int FEW = 50, MOST = 10_000_000; /* calls */
	private static Class<?> hook;

	private static long constant(String name) throws Exception {
		Field field = hook.getDeclaredField(name);
		field.setAccessible(true);
		return field.getLong(null);
	}

	private static int shift() throws Exception {
		Field field = hook.getDeclaredField("CLASS_SHIFT");
		field.setAccessible(true);
		return field.getInt(null);
	}

	private static void check(boolean holds, String what) {
		if (!holds)
			throw new AssertionError(what);
	}

	public static void main(String[] args) throws Exception {
		hook = Class.forName("java.lang.LocusHook");
		Method isOf = hook.getDeclaredMethod("isOf", long.class, long.class, long.class, long.class);
		isOf.setAccessible(true);
		long thread = U.getLong(Thread.currentThread(), constant("EETOP"));
		/* A thread's struct, whose GC sequence is this one; its entry of a bytecode; and an object. */
		long state = U.allocateMemory(64), entry = U.allocateMemory(64), object = U.allocateMemory(64);
		long sequence = constant("SEQUENCE");
		for (long memory : new long[] {state, entry, object})
			U.setMemory(memory, 64, (byte) 0);
		U.putInt(entry + 8, CLASS);
		U.putLong(state + 32, -1); /* bytes that the thread had allocated then */
		U.putInt(object + constant("CLASS_OFFSET"), CLASS << shift());
		Object[] there = {thread, state, entry, object}, gone = {thread, state, entry, KERNEL};
		boolean compiled = args[0].equals("compiled"), found = false;
		for (int calls = compiled ? MOST : FEW; calls > 0 && !found; calls--) {
			U.putInt(state, U.getInt(sequence));
			found = (boolean) isOf.invoke(null, compiled ? there : gone);
		}
		check(found == compiled, compiled ? "no object is found" : "an object is found where no memory is");
		U.putInt(state, U.getInt(sequence) + 1);
		check(!(boolean) isOf.invoke(null, gone), "an object of another collection is found");
		System.out.println("done");
	}
}
