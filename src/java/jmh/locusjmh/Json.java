// SPDX-License-Identifier: Apache-2.0
package locusjmh;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON: an object is a Map, an array a List, a number a Double; with null, Boolean and String.
 *
 * Counts are shown rounded, so that a Double is exact enough for them.
 */
final class Json {
	/** The text is not JSON. */
	static final class Malformed extends Exception {
		private static final long serialVersionUID = 1;

		Malformed(String what, int at) {
			super(what + " at character " + at);
		}
	}

	private static final int DEPTH_MAX = 200;

	private final String text;
	private int at;
	private int depth;

	private Json(String text) {
		this.text = text;
	}

	static Object parse(String text) throws Malformed {
		Json json = new Json(text);
		Object value = json.value();
		json.skipSpace();
		if (json.at < text.length()) {
			throw new Malformed("more than one value", json.at);
		}
		return value;
	}

	/** The member of an object; null where there is none, or `object` is none. */
	static Object get(Object object, String name) {
		return object instanceof Map ? ((Map<?, ?>) object).get(name) : null;
	}

	/** The member, an array; empty where there is none. */
	static List<?> list(Object object, String name) {
		Object value = get(object, name);
		return value instanceof List ? (List<?>) value : new ArrayList<Object>();
	}

	static double number(Object object, String name) {
		Object value = get(object, name);
		return value instanceof Double ? (Double) value : 0;
	}

	static String string(Object object, String name) {
		Object value = get(object, name);
		return value instanceof String ? (String) value : "";
	}

	static boolean flag(Object object, String name) {
		return Boolean.TRUE.equals(get(object, name));
	}

	private Object value() throws Malformed {
		skipSpace();
		switch (peek()) {
		case '{':
			return object();
		case '[':
			return array();
		case '"':
			return string();
		case 't':
			return word("true", Boolean.TRUE);
		case 'f':
			return word("false", Boolean.FALSE);
		case 'n':
			return word("null", null);
		default:
			return number();
		}
	}

	private char peek() {
		return at < text.length() ? text.charAt(at) : 0;
	}

	private void skipSpace() {
		while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
			at++;
		}
	}

	private void expect(char c) throws Malformed {
		skipSpace();
		if (peek() != c) {
			throw new Malformed("no '" + c + "'", at);
		}
		at++;
	}

	/** After an element: is there another one? */
	private boolean another(char end) throws Malformed {
		skipSpace();
		if (peek() == ',') {
			at++;
			return true;
		}
		expect(end);
		return false;
	}

	/** The opening bracket is passed; is there nothing but the closing one? */
	private boolean empty(char begin, char end) throws Malformed {
		expect(begin);
		if (++depth > DEPTH_MAX) {
			throw new Malformed("nested too deeply", at);
		}
		skipSpace();
		if (peek() != end) {
			return false;
		}
		at++;
		return true;
	}

	private Map<String, Object> object() throws Malformed {
		Map<String, Object> members = new LinkedHashMap<>();
		boolean more = !empty('{', '}');
		while (more) {
			skipSpace();
			String name = string();
			expect(':');
			members.put(name, value());
			more = another('}');
		}
		depth--;
		return members;
	}

	private List<Object> array() throws Malformed {
		List<Object> elements = new ArrayList<>();
		boolean more = !empty('[', ']');
		while (more) {
			elements.add(value());
			more = another(']');
		}
		depth--;
		return elements;
	}

	private String string() throws Malformed {
		StringBuilder out = new StringBuilder();
		expect('"');
		while (peek() != '"') {
			if (at >= text.length()) {
				throw new Malformed("a string without end", at);
			}
			char c = text.charAt(at++);
			out.append(c == '\\' ? escaped() : c);
		}
		at++;
		return out.toString();
	}

	private char escaped() throws Malformed {
		char c = peek();
		int known = "\"\\/bfnrt".indexOf(c);
		at++;
		if (known >= 0) {
			return "\"\\/\b\f\n\r\t".charAt(known);
		}
		if (c != 'u' || at + 4 > text.length()) {
			throw new Malformed("an unknown escape", at);
		}
		try {
			int code = Integer.parseInt(text.substring(at, at + 4), 16);
			at += 4;
			return (char) code;
		} catch (NumberFormatException e) {
			throw new Malformed("an unknown escape", at);
		}
	}

	private Object word(String word, Object value) throws Malformed {
		if (!text.startsWith(word, at)) {
			throw new Malformed("no value", at);
		}
		at += word.length();
		return value;
	}

	private Double number() throws Malformed {
		int begin = at;
		while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
			at++;
		}
		try {
			return Double.valueOf(text.substring(begin, at));
		} catch (NumberFormatException e) {
			throw new Malformed("no value", begin);
		}
	}
}
