// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;

/** Writes and reads values of fields whose type is primitive. */
final class Primitives {
	private Primitives() {
	}

	static void write(Output output, Class<?> type, Object value) {
		if (type == int.class) {
			output.writeInt((Integer) value);
		} else if (type == long.class) {
			output.writeLong((Long) value);
		} else if (type == double.class) {
			output.writeDouble((Double) value);
		} else if (type == float.class) {
			output.writeFloat((Float) value);
		} else if (type == boolean.class) {
			output.writeBoolean((Boolean) value);
		} else if (type == char.class) {
			output.writeChar((Character) value);
		} else if (type == short.class) {
			output.writeShort((Short) value);
		} else {
			output.writeByte((Byte) value);
		}
	}

	static Object read(Input input, Class<?> type) {
		if (type == int.class) {
			return input.readInt();
		} else if (type == long.class) {
			return input.readLong();
		} else if (type == double.class) {
			return input.readDouble();
		} else if (type == float.class) {
			return input.readFloat();
		} else if (type == boolean.class) {
			return input.readBoolean();
		} else if (type == char.class) {
			return input.readChar();
		} else if (type == short.class) {
			return input.readShort();
		}
		return input.readByte();
	}
}
