import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads a text of JSON, which is made first, by recursive descent into lists, maps and strings, and writes it again:
 * that gives the same text. Argument: how often.
 */
public final class Json {
	private static final int RECORDS = 300;

	private final String text;
	private int at;

	private Json(String text) { this.text = text; }

	private IllegalStateException unexpected() {
		return new IllegalStateException("unexpected at " + at);
	}

	private char peek() {
		while (at < text.length() && Character.isWhitespace(text.charAt(at)))
			at++;
		if (at == text.length())
			throw unexpected();
		return text.charAt(at);
	}

	private void expect(char c) {
		if (peek() != c)
			throw unexpected();
		at++;
	}

	/** Is the next character this one? It is read then. */
	private boolean next(char c) {
		if (peek() != c)
			return false;
		at++;
		return true;
	}

	private Object word(String word, Object value) {
		if (!text.startsWith(word, at))
			throw unexpected();
		at += word.length();
		return value;
	}

	private Object value() {
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

	private Map<String, Object> object() {
		Map<String, Object> members = new LinkedHashMap<>();
		expect('{');
		if (next('}'))
			return members;
		do {
			peek();
			String name = string();
			expect(':');
			members.put(name, value());
		} while (next(','));
		expect('}');
		return members;
	}

	private ArrayList<Object> array() {
		ArrayList<Object> elements = new ArrayList<>();
		expect('[');
		if (next(']'))
			return elements;
		do {
			elements.add(value());
		} while (next(','));
		expect(']');
		return elements;
	}

	private String string() {
		expect('"');
		StringBuilder read = new StringBuilder();
		for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++))
			read.append(c == '\\' ? escaped(text.charAt(at++)) : c);
		return read.toString();
	}

	private char escaped(char c) {
		switch (c) {
		case 'n':
			return '\n';
		case 't':
			return '\t';
		case 'u':
			at += 4;
			return (char) Integer.parseInt(text.substring(at - 4, at), 16);
		default:
			return c;
		}
	}

	private Object number() {
		int start = at;
		while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0)
			at++;
		if (start == at)
			throw unexpected();
		String digits = text.substring(start, at);
		if (digits.indexOf('.') >= 0)
			return Double.valueOf(digits);
		return Long.valueOf(digits);
	}

	private static Object read(String text) {
		Json json = new Json(text);
		Object value = json.value();
		Result.check(json.at == text.length(), "more than a value");
		return value;
	}

	private static void write(Object value, StringBuilder out) {
		if (value instanceof Map<?, ?> members) {
			String separator = "{";
			for (Map.Entry<?, ?> member : members.entrySet()) {
				out.append(separator);
				write(member.getKey(), out);
				out.append(':');
				write(member.getValue(), out);
				separator = ",";
			}
			out.append(members.isEmpty() ? "{}" : "}");
		} else if (value instanceof ArrayList<?> elements) {
			String separator = "[";
			for (Object element : elements) {
				out.append(separator);
				write(element, out);
				separator = ",";
			}
			out.append(elements.isEmpty() ? "[]" : "]");
		} else if (value instanceof String string) {
			writeString(string, out);
		} else {
			out.append(value);
		}
	}

	private static void writeString(String string, StringBuilder out) {
		out.append('"');
		for (int i = 0; i < string.length(); i++) {
			char c = string.charAt(i);
			if (c == '"' || c == '\\')
				out.append('\\').append(c);
			else if (c == '\n')
				out.append("\\n");
			else if (c == '\t')
				out.append("\\t");
			else
				out.append(c);
		}
		out.append('"');
	}

	/** A text as a service would send it: records with names, numbers, flags and lists of operations. */
	private static String make() {
		Random16 random = new Random16();
		StringBuilder out = new StringBuilder("{\"head\":{\"id\":1,\"kind\":null},\"records\":[");
		for (int i = 0; i < RECORDS; i++) {
			out.append(i == 0 ? "" : ",").append("{\"name\":\"record ").append(i).append("\",\"open\":");
			out.append(random.next() % 2 == 0).append(",\"note\":\"a \\\"word\\\"\\n").append(random.next());
			out.append("\",\"size\":").append(random.next() - 30000).append(",\"part\":");
			out.append(random.next() / 65536.0).append(",\"steps\":[");
			for (int k = random.next() % 8; k >= 0; k--)
				out.append("[\"set\",\"w").append(random.next() % 100).append("\",{}]").append(k == 0 ? "" : ",");
			out.append("]}");
		}
		return out.append("]}").toString();
	}

	public static void main(String[] args) {
		String text = make();
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			StringBuilder again = new StringBuilder();
			write(read(text), again);
			Result.check(text.contentEquals(again), "another text than was read");
			sum += again.length();
		}
		Result.is(sum);
	}
}
