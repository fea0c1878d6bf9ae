// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import locusbench.record.Recording;

/**
 * Makes up inputs for a segment of which no execution is recorded: numbers, texts, and arrays of both. Arrays are long enough
 * for every index that the made numbers can be.
 */
final class MadeInputs {
	private static final int LENGTH = 1000;
	private static final int SEED = 42;

	private MadeInputs() {
	}

	/** One execution's inputs. Refuses types that it knows no values of. */
	static Recording make(Variables variables) throws IOException, Refusal {
		Random random = new Random(SEED);
		List<Object> values = new ArrayList<>();
		for (Variables.Input input : variables.inputs) {
			Object value = value(input.type, random);
			if (value == null) {
				throw new Refusal("no execution was recorded, and no value of " + input.type + " can be made up for '"
						+ input.inProgram + "'");
			}
			values.add(value);
		}
		return Recording.made(values.toArray());
	}

	private static Object value(String type, Random random) {
		if (type.endsWith("[]")) {
			Object first = value(type.substring(0, type.length() - 2), random);
			if (first == null) {
				return null;
			}
			Object array = Array.newInstance(primitive(first.getClass(), type), LENGTH);
			for (int i = 0; i < LENGTH; i++) {
				Array.set(array, i, value(type.substring(0, type.length() - 2), random));
			}
			return array;
		}
		switch (type) {
		case "int":
			return random.nextInt(LENGTH);
		case "long":
			return (long) random.nextInt(LENGTH);
		case "short":
			return (short) random.nextInt(LENGTH);
		case "byte":
			return (byte) random.nextInt(Byte.MAX_VALUE);
		case "char":
			return (char) ('a' + random.nextInt(26));
		case "boolean":
			return random.nextBoolean();
		case "float":
			return random.nextFloat();
		case "double":
			return random.nextDouble();
		case "java.lang.String":
		case "java.lang.CharSequence":
			return Integer.toString(random.nextInt(), 36);
		default:
			return null;
		}
	}

	private static Class<?> primitive(Class<?> boxed, String arrayType) {
		if (arrayType.startsWith("java.")) {
			return boxed;
		}
		try {
			return (Class<?>) boxed.getField("TYPE").get(null);
		} catch (ReflectiveOperationException e) {
			return boxed; // an array
		}
	}
}
