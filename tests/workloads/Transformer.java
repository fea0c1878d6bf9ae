import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/*
 * Rewrites every class that it sees, as a Java agent.
 *
 * Usage: java -javaagent:transformer.jar TransformedProgram ALLOCATIONS
 *
 * It adds an entry at the end of each constant pool: legal, and enough to move whatever
 * another agent remembered by offset. In TransformedProgram it also turns the constant
 * "before" into "after!".
 */
public final class Transformer implements ClassFileTransformer {
	public static void premain(String args, Instrumentation in) {
		in.addTransformer(new Transformer(), true);
		for (Class<?> c : in.getAllLoadedClasses())
			if (in.isModifiableClass(c) && c.getName().startsWith("java.util."))
				try {
					in.retransformClasses(c);
				} catch (Exception e) {
					throw new IllegalStateException(c.getName(), e);
				}
	}

	@Override
	public byte[] transform(ClassLoader loader, String name, Class<?> again, ProtectionDomain domain,
			byte[] b) {
		try {
			return withEntry(b, "TransformedProgram".equals(name));
		} catch (IOException e) {
			return null;
		}
	}

	static int u2(byte[] b, int at) { return (b[at] & 255) << 8 | b[at + 1] & 255; }

	static byte[] withEntry(byte[] b, boolean replace) throws IOException {
		int count = u2(b, 8), at = 10;
		b = b.clone();
		for (int i = 1; i < count; i++) {
			switch (b[at]) {
			case 1:
				int len = u2(b, at + 1);
				if (replace && new String(b, at + 3, len, "ISO-8859-1").equals("before"))
					System.arraycopy("after!".getBytes("ISO-8859-1"), 0, b, at + 3, len);
				at += 3 + len;
				break;
			case 5: case 6:
				at += 9;
				i++;
				break;
			case 7: case 8: case 16: case 19: case 20:
				at += 3;
				break;
			case 15:
				at += 4;
				break;
			default:
				at += 5;
			}
		}
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		DataOutputStream out = new DataOutputStream(bytes);
		out.write(b, 0, 8);
		out.writeShort(count + 1);
		out.write(b, 10, at - 10);
		out.writeByte(1);
		out.writeUTF("added by the other agent");
		out.write(b, at, b.length - at);
		return bytes.toByteArray();
	}
}
