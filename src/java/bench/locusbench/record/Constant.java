// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Stands for an object that a class has in a static final field and that never changes: such an object is compared by
 * identity, so that what is read again has to be the one that the class has there.
 */
final class Constant {
	/** Writes the field, and reads the object in it. */
	static final class ByField extends Serializer<Object> {
		@Override
		public void write(Kryo kryo, Output output, Object object) {
			output.writeString(((Constant) object).field.getDeclaringClass().getName());
			output.writeString(((Constant) object).field.getName());
		}

		@Override
		public Object read(Kryo kryo, Input input, Class<? extends Object> type) {
			String holder = input.readString();
			String name = input.readString();
			try {
				Field field = Class.forName(holder, true, kryo.getClassLoader()).getDeclaredField(name);
				field.setAccessible(true);
				return field.get(null);
			} catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
				throw Uncapturable.of(e);
			}
		}
	}

	/** The constants of the classes whose objects have been seen. */
	static final class Table {
		private final Kinds kinds;
		private final Set<Class<?>> seen = new HashSet<>();
		private final Map<Object, Constant> constants = new IdentityHashMap<>();

		Table(Kinds kinds) {
			this.kinds = kinds;
		}

		/** The object itself, or the stand-in of a constant. */
		Object of(Object object) {
			see(object.getClass());
			Constant constant = constants.get(object);
			return constant != null ? constant : object;
		}

		private void see(Class<?> type) {
			for (Class<?> at = type; at != null && !Kinds.isOfJdk(at) && seen.add(at); at = at.getSuperclass()) {
				if (at.isAnonymousClass()) {
					see(at.getEnclosingClass()); // whose code has made the object
				}
				for (Field field : at.getDeclaredFields()) {
					if (Modifier.isStatic(field.getModifiers()) && Modifier.isFinal(field.getModifiers()) && !field.getType().isPrimitive()) {
						add(field);
					}
				}
			}
		}

		private void add(Field field) {
			try {
				field.setAccessible(true);
				Object value = field.get(null);
				if (value != null && neverChanges(value.getClass())) {
					constants.putIfAbsent(value, new Constant(field));
				}
			} catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
				// then its object is captured as any other
			}
		}

		private boolean neverChanges(Class<?> type) {
			if (type == Object.class) {
				return true;
			} else if (Kinds.isOfJdk(type) || type.isEnum() || type.isArray() || Kinds.outside(type) != null || Kinds.jdkPart(type) != Object.class) {
				return false;
			}
			for (Field field : kinds.fieldsOf(type)) {
				boolean value = field.getType().isPrimitive() || VALUES.contains(field.getType()) || field.getType().isEnum();
				if (!value || !Modifier.isFinal(field.getModifiers())) {
					return false;
				}
			}
			return true;
		}
	}

	private static final List<Class<?>> VALUES = Arrays.asList(String.class, Class.class, Integer.class, Long.class, Double.class, Float.class,
			Short.class, Byte.class, Character.class, Boolean.class, BigInteger.class, BigDecimal.class);

	private final Field field;

	private Constant(Field field) {
		this.field = field;
	}
}
