// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import locusbench.record.Inputs;
import locusbench.record.Recording;

/**
 * Writes recorded inputs as Java where they are short, so that a reader of the benchmark sees them: executions whose values
 * are all numbers, short strings, or short arrays of these. Others are serialised as a whole, since only so two values that
 * refer to one object still do.
 */
final class ShortInputs {
	private static final int BYTES_MAX = 2000; // serialised; longer ones are not looked at
	private static final int ELEMENTS_MAX = 16; // of an array
	private static final int CHARACTERS_MAX = 100; // of a string
	private static final int TEXT_MAX = 20_000; // of all: a method has 64 KiB of bytecode

	private final Recording recording;
	private final Selection selection;

	ShortInputs(Recording recording, Selection selection) {
		this.recording = recording;
		this.selection = selection;
	}

	/** The lines of a switch over the executions of the project that are short; "" where none is. */
	String text() {
		Inputs inputs = Inputs.of(new Recording(recording.executions, selection.tested, recording.notes));
		StringBuilder cases = new StringBuilder();
		for (int index = 0; index < selection.tested.size(); index++) {
			String values = selection.tested.get(index).inputs.length > BYTES_MAX ? null : values(inputs, index);
			if (values != null && cases.length() + values.length() < TEXT_MAX) {
				cases.append("\t\tcase ").append(index).append(":\n\t\t\treturn new Object[] {").append(values).append("};\n");
			}
		}
		return cases.length() == 0 ? "" : "\t\tswitch (input) {\n" + cases + "\t\tdefault: // it is serialised\n\t\t}\n";
	}

	/** The values of an execution as Java; null: they are too long, or of classes of the program, which are not here. */
	private static String values(Inputs inputs, int index) {
		List<String> texts = new ArrayList<>();
		Map<Object, Object> arrays = new IdentityHashMap<>();
		Object[] values;
		try {
			values = inputs.values(index);
		} catch (IllegalStateException e) {
			return null;
		}
		for (Object value : values) {
			String text = text(value);
			if (text == null || value != null && value.getClass().isArray() && arrays.put(value, value) != null) {
				return null;
			}
			texts.add(text);
		}
		return String.join(", ", texts);
	}

	private static String text(Object value) {
		if (value == null) {
			return "null";
		}
		Class<?> element = value.getClass().getComponentType();
		if (element == null) {
			return scalar(value);
		} else if (!element.isPrimitive() && element != String.class || Array.getLength(value) > ELEMENTS_MAX) {
			return null;
		}
		List<String> texts = new ArrayList<>();
		for (int i = 0; i < Array.getLength(value); i++) {
			Object one = Array.get(value, i);
			String text = one == null ? "null" : scalar(one);
			if (text == null) {
				return null;
			}
			texts.add(text);
		}
		return "new " + element.getSimpleName() + "[] {" + String.join(", ", texts) + "}";
	}

	private static String scalar(Object value) {
		if (value instanceof Integer || value instanceof Boolean) {
			return value.toString();
		} else if (value instanceof Long) {
			return value + "L";
		} else if (value instanceof Byte || value instanceof Short) {
			return "(" + (value instanceof Byte ? "byte" : "short") + ") " + value;
		} else if (value instanceof Double || value instanceof Float) {
			return floating((Number) value);
		} else if (value instanceof Character) {
			return "'" + escaped((Character) value, '\'') + "'";
		} else if (value instanceof String && ((String) value).length() <= CHARACTERS_MAX) {
			StringBuilder text = new StringBuilder("\"");
			((String) value).chars().forEach(c -> text.append(escaped((char) c, '"')));
			return text.append('"').toString();
		}
		return null;
	}

	private static String floating(Number value) {
		String type = value.getClass().getSimpleName();
		double number = value.doubleValue();
		if (Double.isNaN(number)) {
			return type + ".NaN";
		} else if (Double.isInfinite(number)) {
			return type + (number > 0 ? ".POSITIVE_INFINITY" : ".NEGATIVE_INFINITY");
		}
		return value + (value instanceof Float ? "f" : "d");
	}

	/** Unicode escapes are read before all else: what ends a line, or the literal, has an escape of its own. */
	private static String escaped(char c, char quote) {
		switch (c) {
		case '\n':
			return "\\n";
		case '\r':
			return "\\r";
		case '\\':
			return "\\\\";
		default:
			return c == quote ? "\\" + c : c >= ' ' && c <= '~' ? String.valueOf(c) : String.format(Locale.ROOT, "\\u%04x", (int) c);
		}
	}
}
