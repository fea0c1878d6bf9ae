// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.StringWriter;
import java.text.ParsePosition;
import java.util.Arrays;
import java.util.List;

/**
 * Writes and reads objects of the JDK of which a text says all, and which Java does not serialize. Classes too: Kryo would look at how
 * their objects are captured.
 */
final class TextSerializer extends Serializer<Object> {
	private static final List<Class<?>> PRIMITIVES = Arrays.asList(void.class, boolean.class, byte.class, char.class, short.class,
			int.class, long.class, float.class, double.class);

	static boolean serves(Class<?> type) {
		return type == Class.class || type == ParsePosition.class || type == StringWriter.class;
	}

	@Override
	public void write(Kryo kryo, Output output, Object object) {
		if (object instanceof Class) {
			output.writeString(((Class<?>) object).getName());
		} else if (object instanceof ParsePosition) {
			output.writeInt(((ParsePosition) object).getIndex());
			output.writeInt(((ParsePosition) object).getErrorIndex());
		} else {
			output.writeString(object.toString());
		}
	}

	@Override
	public Object read(Kryo kryo, Input input, Class<? extends Object> type) {
		if (type == Class.class) {
			return classOf(input.readString(), kryo.getClassLoader());
		} else if (type == ParsePosition.class) {
			ParsePosition position = new ParsePosition(input.readInt());
			position.setErrorIndex(input.readInt());
			return position;
		}
		StringWriter writer = new StringWriter();
		writer.write(input.readString());
		return writer;
	}

	private static Class<?> classOf(String name, ClassLoader loader) {
		for (Class<?> primitive : PRIMITIVES) {
			if (primitive.getName().equals(name)) {
				return primitive;
			}
		}
		try {
			return Class.forName(name, false, loader);
		} catch (ClassNotFoundException e) {
			throw Uncapturable.of(e);
		}
	}
}
