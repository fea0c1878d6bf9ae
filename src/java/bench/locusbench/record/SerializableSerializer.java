// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.Serializer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;

/** Writes and reads objects by Java's own serialization: those with fields that reflection may not read. */
final class SerializableSerializer extends Serializer<Object> {
	/** Finds classes where Kryo does. */
	private static final class Stream extends ObjectInputStream {
		private final ClassLoader loader;

		Stream(InputStream in, ClassLoader loader) throws IOException {
			super(in);
			this.loader = loader;
		}

		@Override
		protected Class<?> resolveClass(ObjectStreamClass described) throws IOException, ClassNotFoundException {
			try {
				return Class.forName(described.getName(), false, loader);
			} catch (ClassNotFoundException primitive) {
				return super.resolveClass(described);
			}
		}
	}

	static byte[] bytesOf(Object object) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			out.writeObject(object);
		} catch (NotSerializableException e) {
			throw new Uncapturable("an object of class " + object.getClass().getName() + " holds one of class "
					+ e.getMessage() + ", which is not serializable");
		} catch (IOException e) {
			throw Uncapturable.of(e);
		}
		return bytes.toByteArray();
	}

	@Override
	public void write(Kryo kryo, Output output, Object object) {
		byte[] bytes = bytesOf(object);
		output.writeInt(bytes.length);
		output.writeBytes(bytes);
	}

	@Override
	public Object read(Kryo kryo, Input input, Class<? extends Object> type) {
		byte[] bytes = input.readBytes(input.readInt());
		try (ObjectInputStream in = new Stream(new ByteArrayInputStream(bytes), kryo.getClassLoader())) {
			return in.readObject();
		} catch (IOException | ClassNotFoundException e) {
			throw Uncapturable.of(e);
		}
	}
}
