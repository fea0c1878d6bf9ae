// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.CollectionSerializer;
import com.esotericsoftware.kryo.serializers.MapSerializer;
import com.esotericsoftware.kryo.util.DefaultInstantiatorStrategy;
import com.esotericsoftware.minlog.Log;
import java.io.Serializable;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Map;
import org.objenesis.strategy.InstantiatorStrategy;
import org.objenesis.strategy.StdInstantiatorStrategy;

/**
 * Writes the values of a segment as bytes and reads them again: Kryo, told how each class is captured.
 *
 * An object that two values share is one object after reading, too. One instance is for one thread at a time.
 */
final class Values extends Kryo {
	/** The values need more bytes than there may be. */
	static final class TooLarge extends RuntimeException {
		private static final long serialVersionUID = 1;

		TooLarge() {
			super("", null, false, false);
		}
	}

	/** The values are nested more deeply than a stack of usual size holds. */
	static final class TooDeep extends RuntimeException {
		private static final long serialVersionUID = 1;

		TooDeep() {
			super("", null, false, false);
		}
	}

	/** A value of a segment cannot be captured: which one, and why. */
	static final class Refused extends Exception {
		private static final long serialVersionUID = 1;
		final int value;

		Refused(int value, Uncapturable why) {
			super(why.getMessage(), null, false, false);
			this.value = value;
		}
	}

	/** A collection as the program's grew: from its constructor without arguments, element by element, so that its order is the same. */
	private static final class Grown extends CollectionSerializer<Collection<?>> {
		@Override
		protected Collection<?> create(Kryo kryo, Input input, Class<? extends Collection<?>> type, int size) {
			return kryo.newInstance(type);
		}
	}

	/** The same of a map. */
	private static final class GrownMap extends MapSerializer<Map<?, ?>> {
		@Override
		protected Map<?, ?> create(Kryo kryo, Input input, Class<? extends Map<?, ?>> type, int size) {
			return kryo.newInstance(type);
		}
	}

	private static final int BUFFER_BYTES = 4096;
	/** Each takes a few hundred bytes of a stack. */
	private static final int DEPTH_OF_USUAL_STACK = 150;

	private static final Serializer<?> NONE = new FieldsSerializer(new Field[0]);

	private final Kinds kinds = new Kinds();
	private final Constant.Table constants = new Constant.Table(kinds);

	Values(ClassLoader loader) {
		if (Log.INFO && !Log.DEBUG) {
			Log.NONE(); // which is how it is where nobody has set it; Kryo's log goes to the program's standard output
		}
		setRegistrationRequired(false);
		setReferences(true);
		setAutoReset(false);
		setClassLoader(loader != null ? loader : ClassLoader.getSystemClassLoader());
		InstantiatorStrategy plain = new StdInstantiatorStrategy();
		InstantiatorStrategy constructed = new DefaultInstantiatorStrategy(plain);
		setInstantiatorStrategy(new InstantiatorStrategy() {
			@Override
			public <T> org.objenesis.instantiator.ObjectInstantiator<T> newInstantiatorOf(Class<T> type) {
				boolean grown = Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
				return (grown && Kinds.hasHiddenState(Kinds.jdkPart(type)) ? constructed : plain).newInstantiatorOf(type);
			}
		});
	}

	/** The bytes of the values, at most so many. `deeply`: this thread has a stack of unusual size. */
	byte[] write(Object[] values, int bytesMax, boolean deeply) throws Refused {
		Output output = new Output(BUFFER_BYTES, Math.max(BUFFER_BYTES, bytesMax));
		setMaxDepth(deeply ? Integer.MAX_VALUE : DEPTH_OF_USUAL_STACK);
		int at = 0;
		try {
			output.writeInt(values.length);
			for (; at < values.length; at++) {
				writeClassAndObject(output, values[at]);
			}
			return output.toBytes();
		} catch (RuntimeException | StackOverflowError | LinkageError e) {
			throw refused(at, e, deeply);
		} finally {
			reset();
		}
	}

	Object[] read(byte[] bytes, boolean deeply) throws Refused {
		Input input = new Input(bytes);
		setMaxDepth(deeply ? Integer.MAX_VALUE : DEPTH_OF_USUAL_STACK);
		int at = 0;
		try {
			Object[] values = new Object[input.readInt()];
			for (; at < values.length; at++) {
				values[at] = readClassAndObject(input);
			}
			return values;
		} catch (RuntimeException | StackOverflowError | LinkageError e) {
			throw refused(at, e, deeply);
		} finally {
			reset();
		}
	}

	@Override
	public void writeClassAndObject(Output output, Object object) {
		super.writeClassAndObject(output, object == null ? null : constants.of(object));
	}

	private static Refused refused(int value, Throwable failure, boolean deeply) {
		RuntimeException limit = limit(failure);
		if (limit instanceof TooDeep && deeply) {
			return new Refused(value, new Uncapturable("it is nested too deeply"));
		}
		if (limit != null) {
			throw limit;
		}
		return new Refused(value, Uncapturable.of(failure));
	}

	/** Which limit is behind a failure: TooLarge or TooDeep, null where it is none. */
	static RuntimeException limit(Throwable failure) {
		for (Throwable at = failure; at != null; at = at.getCause()) {
			if (at instanceof TooLarge || at instanceof KryoBufferOverflowException) {
				return new TooLarge();
			}
			boolean deep = at instanceof KryoException && String.valueOf(at.getMessage()).startsWith("Max depth exceeded");
			if (at instanceof TooDeep || at instanceof StackOverflowError || deep) {
				return new TooDeep();
			}
		}
		return null;
	}

	@Override
	public Serializer<?> getDefaultSerializer(@SuppressWarnings("rawtypes") Class type) {
		Class<?> of = type;
		String outside = Kinds.outside(of);
		if (of == Constant.class) {
			return new Constant.ByField();
		} else if (outside != null) {
			throw new Uncapturable(outside + " (" + of.getName().replaceFirst("\\$\\$Lambda.*", "") + ")"); // each has a number of its own
		}
		if (of.isArray() || Enum.class.isAssignableFrom(of) || Kinds.isRecord(of)) {
			return super.getDefaultSerializer(of);
		}
		return Kinds.isOfJdk(of) ? forJdk(of) : forProgram(of);
	}

	/** Called where Kryo knows no serializer. */
	@Override
	protected Serializer<?> newDefaultSerializer(@SuppressWarnings("rawtypes") Class type) {
		return NONE;
	}

	@Override
	public boolean isClosure(@SuppressWarnings("rawtypes") Class type) {
		return false; // getDefaultSerializer() refuses them
	}

	@Override
	public boolean isProxy(@SuppressWarnings("rawtypes") Class type) {
		return false;
	}

	private Serializer<?> forJdk(Class<?> type) {
		if (WrapperSerializer.serves(type)) {
			return new WrapperSerializer();
		} else if (TextSerializer.serves(type)) {
			return new TextSerializer();
		}
		Serializer<?> known = super.getDefaultSerializer(type);
		Class<?> kind = known.getClass();
		if (kind == CollectionSerializer.class || kind == MapSerializer.class) {
			return isGrowable(type) ? grown(type) : serializable(type, type);
		}
		return known != NONE ? known : type == Object.class ? fields(type) : serializable(type, type);
	}

	private Serializer<?> forProgram(Class<?> type) {
		Class<?> jdk = Kinds.jdkPart(type);
		if (!Kinds.hasHiddenState(jdk)) {
			return fields(type);
		}
		boolean collection = Collection.class.isAssignableFrom(jdk) || Map.class.isAssignableFrom(jdk);
		if (collection && kinds.fieldsOf(type).length == 0 && hasEmptyConstructor(type)) {
			return grown(type);
		}
		return serializable(type, jdk);
	}

	private Serializer<?> fields(Class<?> type) {
		return new FieldsSerializer(kinds.fieldsOf(type));
	}

	private static Serializer<?> grown(Class<?> type) {
		return Map.class.isAssignableFrom(type) ? new GrownMap() : new Grown();
	}

	private static Serializer<?> serializable(Class<?> type, Class<?> jdk) {
		if (!Serializable.class.isAssignableFrom(type)) {
			throw new Uncapturable("the fields of " + jdk.getName() + " cannot be read, and " + type.getName()
					+ " is not serializable");
		}
		return new SerializableSerializer();
	}

	private static boolean isGrowable(Class<?> type) {
		return Modifier.isPublic(type.getModifiers()) && hasEmptyConstructor(type);
	}

	private static boolean hasEmptyConstructor(Class<?> type) {
		for (Constructor<?> constructor : type.getDeclaredConstructors()) {
			if (constructor.getParameterCount() == 0) {
				return !Kinds.isOfJdk(type) || Modifier.isPublic(constructor.getModifiers());
			}
		}
		return false;
	}
}
