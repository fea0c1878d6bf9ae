// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.io.Closeable;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.io.Writer;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Channel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.stream.BaseStream;

/**
 * Tells what is known of a class without an object of it: whether it is of the JDK, which fields it has, and why its objects
 * cannot be captured.
 *
 * Fields that classes of the JDK declare are never read, even where the JVM's options allow it, so that a recording
 * and a benchmark whose options differ agree. One instance is for one thread.
 */
final class Kinds {
	/** Classes that stand for something outside of the heap, and the words for them. */
	private static final Object[][] OUTSIDE = {
		{Thread.class, "a thread"},
		{ThreadGroup.class, "a thread group"},
		{ThreadLocal.class, "a thread-local variable"},
		{ClassLoader.class, "a class loader"},
		{Executor.class, "an executor"},
		{BaseStream.class, "a stream"},
		{InputStream.class, "a stream"},
		{OutputStream.class, "a stream"},
		{Reader.class, "a stream"},
		{Writer.class, "a stream"},
		{Channel.class, "a channel"},
		{Socket.class, "a socket"},
		{ServerSocket.class, "a socket"},
		{Process.class, "a process"},
		{Reference.class, "a weak, soft or phantom reference"},
		{AccessibleObject.class, "a reflected member"},
		{MethodHandle.class, "a method handle"},
		{VarHandle.class, "a variable handle"},
	};
	/** Fields of the JDK whose loss no program sees. */
	private static final List<String> CACHES = Arrays.asList("java.util.AbstractList.modCount",
			"java.util.AbstractMap.keySet", "java.util.AbstractMap.values");

	private final Map<Class<?>, Field[]> fields = new HashMap<>();

	static boolean isOfJdk(Class<?> type) {
		ClassLoader loader = type.getClassLoader();
		return loader == null || loader == ClassLoader.getPlatformClassLoader();
	}

	/** The class itself where it is of the JDK, else the nearest superclass that is. */
	static Class<?> jdkPart(Class<?> type) {
		Class<?> at = type;
		while (at != null && !isOfJdk(at)) {
			at = at.getSuperclass();
		}
		return at == null ? Object.class : at; // an interface has no superclass
	}

	static boolean isLambda(Class<?> type) {
		return type.isSynthetic() && (type.getName().contains("$$Lambda") || type.getName().indexOf('/') >= 0);
	}

	static boolean isRecord(Class<?> type) {
		return type.getSuperclass() != null && type.getSuperclass().getName().equals("java.lang.Record");
	}

	/** The kind of an object that cannot be captured in any program; null for all others. */
	static String outside(Class<?> type) {
		if (isLambda(type)) {
			return "a lambda";
		}
		if (Proxy.isProxyClass(type)) {
			return "a dynamic proxy";
		}
		for (Object[] kind : OUTSIDE) {
			if (type != StringWriter.class && ((Class<?>) kind[0]).isAssignableFrom(type)) {
				return (String) kind[1];
			}
		}
		return isOfJdk(type) && type != StringWriter.class && Closeable.class.isAssignableFrom(type) ? "a resource" : null;
	}

	/** Has a class of the JDK, or a superclass of it, fields of objects whose loss a program sees? */
	static boolean hasHiddenState(Class<?> jdk) {
		for (Class<?> at = jdk; at != null; at = at.getSuperclass()) {
			for (Field field : at.getDeclaredFields()) {
				if (!Modifier.isStatic(field.getModifiers()) && !CACHES.contains(at.getName() + "." + field.getName())) {
					return true;
				}
			}
		}
		return false;
	}

	/** The fields of an object that the program's classes declare, by class and name; they can be read and written. */
	Field[] fieldsOf(Class<?> type) {
		Field[] known = fields.get(type);
		if (known == null) {
			List<Field> found = new ArrayList<>();
			for (Class<?> at = type; at != null && !isOfJdk(at); at = at.getSuperclass()) {
				Field[] declared = at.getDeclaredFields();
				Arrays.sort(declared, Comparator.comparing(Field::getName));
				for (Field field : declared) {
					if (!Modifier.isStatic(field.getModifiers())) {
						open(field);
						found.add(field);
					}
				}
			}
			known = found.toArray(new Field[0]);
			fields.put(type, known);
		}
		return known;
	}

	private static void open(Field field) {
		try {
			field.setAccessible(true);
		} catch (RuntimeException closed) {
			throw new Uncapturable("its module does not open it").in(field.getDeclaringClass(), field.getName());
		}
	}
}
