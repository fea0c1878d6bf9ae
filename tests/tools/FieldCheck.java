// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/*
 * Asks field_agent for what lies at the offset of each field of each loaded class, while
 * collections move the mirrors, and compares with what Unsafe says. Prints counts as JSON.
 */
public final class FieldCheck {
	static final jdk.internal.misc.Unsafe UNSAFE = jdk.internal.misc.Unsafe.getUnsafe();

	static native Object[] loaded();
	static native String find(Class<?> c, long offset);
	static native long offset(Class<?> c, String name);

	static class Base {
		private int value;
		byte tiny;
	}

	static class Middle extends Base {
		private int value;
		Object reference;
	}

	static final class Leaf extends Middle {
		private int value;
		double d;
		boolean flag;
	}

	/* Defined as a hidden class, too. */
	static final class Hidden {
		long a;
		int b;
	}

	/* Never initialised by the program: looking at it must not do so. */
	static class Uninitialised {
		static {
			initialised = true;
		}

		int x;
	}

	record Point(int x, long y) {}

	static boolean initialised;
	static volatile Object garbage;

	static List<Field> fields(Class<?> c) {
		List<Field> all = new ArrayList<>();
		for (; c != null; c = c.getSuperclass())
			for (Field f : c.getDeclaredFields())
				if (!Modifier.isStatic(f.getModifiers()))
					all.add(f);
		return all;
	}

	static long skipped;

	/* Ask for one offset of each class, so that all are wanted, and let a search happen. */
	static void learn(List<Class<?>> classes) throws InterruptedException {
		for (Class<?> c : classes)
			find(c, 16);
		for (int i = 0; i < 1200; i++) {
			long unknown = 0;
			for (Class<?> c : classes)
				if (find(c, 0) == null)
					unknown++;
			skipped = unknown;
			if (unknown == 0)
				return;
			Thread.sleep(50);
		}
	}

	static String check(Class<?> c) {
		Map<String, Integer> seen = new HashMap<>();
		for (Field f : fields(c)) {
			long offset = UNSAFE.objectFieldOffset(f);
			Class<?> type = f.getType();
			int width = type.isPrimitive() ? type == long.class || type == double.class ? 8
			          : type == int.class || type == float.class ? 4
			          : type == short.class || type == char.class ? 2 : 1
			          : UNSAFE.arrayIndexScale(Object[].class);
			boolean first = seen.merge(f.getName(), 1, Integer::sum) == 1;
			for (int b = 0; b < width; b++) {
				String name = find(c, offset + b);
				String simple = f.getDeclaringClass().getName();
				simple = simple.substring(Math.max(simple.lastIndexOf('.'), simple.lastIndexOf('$')) + 1);
				if (!(first ? f.getName() : simple + "." + f.getName()).equals(name))
					return c + ": " + f + " at " + (offset + b) + " is called " + name;
			}
			if (first && offset(c, f.getName()) != offset * 16 + width)
				return c + ": " + f + ": offset by name";
		}
		return null;
	}

	public static void main(String[] args) throws Exception {
		List<Class<?>> classes = new ArrayList<>();
		List<String> wrong = new ArrayList<>();
		long fields = 0;
		LongSupplier lambda = () -> classes.size();
		Class<?> hidden;

		try (var in = FieldCheck.class.getResourceAsStream("FieldCheck$Hidden.class")) {
			hidden = MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), false).lookupClass();
		}
		new Leaf();
		new Point(1, 2);
		Thread collector = new Thread(() -> {
			while (true) {
				byte[][] keep = new byte[64][];
				for (int i = 0; i < keep.length; i++)
					keep[i] = new byte[1 << 14];
				garbage = keep;
			}
		});
		collector.setDaemon(true);
		collector.start();
		Class<?> uninitialised = Class.forName("FieldCheck$Uninitialised", false,
		                                       FieldCheck.class.getClassLoader());
		for (Object o : loaded()) {
			Class<?> c = (Class<?>) o;
			/* Fields of a class that is loaded but not linked cannot be asked for. */
			if (!c.isArray() && !c.isInterface() && !c.isPrimitive()
			    && (c == hidden || c.getName().startsWith("FieldCheck") || !UNSAFE.shouldBeInitialized(c)))
				classes.add(c);
		}
		UNSAFE.ensureClassInitialized(hidden);
		classes.remove(uninitialised);
		if (!classes.contains(hidden))
			classes.add(hidden);
		learn(classes);
		for (Class<?> c : classes) {
			String error = check(c);
			if (error != null)
				wrong.add(error);
			fields += fields(c).size();
		}
		for (Object array : new Object[] {new byte[0], new char[0], new int[0], new long[0], new Object[0], new int[0][0]}) {
			Class<?> c = array.getClass();
			long base = UNSAFE.arrayBaseOffset(c);
			if (!"".equals(find(c, base)) || !"(mark)".equals(find(c, 0)) || "".equals(find(c, base - 1)))
				wrong.add(c + ": where its elements begin");
		}
		find(uninitialised, 16);
		offset(uninitialised, "x");
		if (initialised)
			wrong.add("a class was initialised");
		if (offset(Leaf.class, "nosuch") != -1)
			wrong.add("a field that does not exist has an offset");
		for (String w : wrong)
			System.err.println(w);
		System.out.println("{\"classes\": " + classes.size() + ", \"fields\": " + fields + ", \"unlearnt\": "
		                   + skipped + ", \"wrong\": " + wrong.size() + ", \"hidden\": \"" + find(hidden, 16)
		                   + "\", \"lambda\": \"" + find(lambda.getClass(), 0) + "\"}");
	}
}
