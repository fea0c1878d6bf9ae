// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.lang.reflect.Field;

/**
 * Writes and reads objects of a program's class field by field, transient and synthetic ones too: what the object is, not
 * what it would send elsewhere.
 */
final class FieldsSerializer extends Serializer<Object> {
	private final Field[] fields;

	FieldsSerializer(Field[] fields) {
		this.fields = fields;
	}

	@Override
	public void write(Kryo kryo, Output output, Object object) {
		for (Field field : fields) {
			try {
				Object value = field.get(object);
				Class<?> type = field.getType();
				if (type.isPrimitive()) {
					Primitives.write(output, type, value);
				} else {
					kryo.writeClassAndObject(output, value);
				}
			} catch (IllegalAccessException | RuntimeException e) {
				throw failure(e, field);
			}
		}
	}

	@Override
	public Object read(Kryo kryo, Input input, Class<? extends Object> type) {
		Object object = kryo.newInstance(type);
		kryo.reference(object);
		for (Field field : fields) {
			try {
				Class<?> declared = field.getType();
				field.set(object, declared.isPrimitive() ? Primitives.read(input, declared) : kryo.readClassAndObject(input));
			} catch (IllegalAccessException | RuntimeException e) {
				throw failure(e, field);
			}
		}
		return object;
	}

	/** A limit stays what it is; of all else the field is told. */
	private static RuntimeException failure(Exception e, Field field) {
		RuntimeException limit = Values.limit(e);
		return limit != null ? limit : Uncapturable.of(e).in(field.getDeclaringClass(), field.getName());
	}
}
