import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Method;

/*
 * Defines and runs classes and methods whose names only a class file can hold.
 *
 * Usage: OddNames ALLOCATIONS
 *
 * Each class has one static method that allocates a byte[]. A name may hold any character but
 * . ; [ / (and, in a method, < and >).
 */
public final class OddNames {
	static final String[] CLASSES = {
		"Odd<script>alert(1)<script>", "Odd\"quote'back\\slash", "Odd\ttab\nline\rreturn",
		"Odd\u7dda\u7a0b\ud83e\uddf5", "Odd\u0000nul\u0001\u007f\u0085\u2028", "Odd&amp%s%n{}$1 ,:#"};
	static final String[] METHODS = {
		"alert(1)&quot", "m\"'\\", "m\t\n\r", "m\u7dda\ud83e\uddf5", "m\u0000\u0001\u2029", "%s%n ,:#=|"};
	static volatile Object sink;

	static final class Definer extends ClassLoader {
		Class<?> define(byte[] b) { return defineClass(null, b, 0, b.length); }
	}

	static void utf8(DataOutputStream out, String s) throws IOException {
		out.writeByte(1);
		out.writeUTF(s);
	}

	/* public class NAME { public static byte[] METHOD(int n) { return new byte[n]; } } */
	static byte[] classFile(String name, String method) throws IOException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		DataOutputStream out = new DataOutputStream(bytes);
		out.writeInt(0xcafebabe);
		out.writeInt(52);
		out.writeShort(8);
		utf8(out, name);
		out.writeByte(7);
		out.writeShort(1);
		utf8(out, "java/lang/Object");
		out.writeByte(7);
		out.writeShort(3);
		utf8(out, method);
		utf8(out, "(I)[B");
		utf8(out, "Code");
		out.writeShort(0x21);
		out.writeShort(2);
		out.writeShort(4);
		out.writeShort(0);
		out.writeShort(0);
		out.writeShort(1);
		out.writeShort(9);
		out.writeShort(5);
		out.writeShort(6);
		out.writeShort(1);
		out.writeShort(7);
		byte[] code = {0x1a, (byte) 0xbc, 8, (byte) 0xb0};
		out.writeInt(12 + code.length);
		out.writeShort(1);
		out.writeShort(1);
		out.writeInt(code.length);
		out.write(code);
		out.writeShort(0);
		out.writeShort(0);
		out.writeShort(0);
		return bytes.toByteArray();
	}

	static String json(String s) {
		StringBuilder b = new StringBuilder("\"");
		for (char c : s.toCharArray())
			b.append(String.format("\\u%04x", (int) c));
		return b + "\"";
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		StringBuilder out = new StringBuilder("[");
		for (int i = 0; i < CLASSES.length; i++) {
			Class<?> c = new Definer().define(classFile(CLASSES[i], METHODS[i]));
			Method m = c.getMethod(METHODS[i], int.class);
			for (int k = 0; k < n; k++)
				sink = m.invoke(null, 3000);
			out.append(i > 0 ? "," : "").append("{\"class\":" + json(CLASSES[i]) + ",\"method\":"
					+ json(METHODS[i]) + ",\"allocations\":" + n + "}");
		}
		System.out.println(out + "]");
	}
}
