// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.tools.ToolProvider;
import locusbench.record.Recording;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Inputs that are short become Java, which javac reads as the values that they were. */
class ShortInputsTest {
	@TempDir
	Path directory;

	private static String text(Object... values) throws Exception {
		Recording recording = Recording.made(values);
		return new ShortInputs(recording, new Selection(recording)).text();
	}

	private Object[] read(String text) throws Exception {
		Path source = directory.resolve("V.java");
		Files.writeString(source, "public class V { public static Object[] values(int input) {\n" + text + "return null; } }\n");
		assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-proc:none", source.toString()));
		try (URLClassLoader loader = new URLClassLoader(new URL[] {directory.toUri().toURL()})) {
			Method method = loader.loadClass("V").getMethod("values", int.class);
			return (Object[]) method.invoke(null, 0);
		}
	}

	@Test
	void javacReadsTheSameValues() throws Exception {
		Object[] values = {null, 1, Integer.MIN_VALUE, -7L, Long.MAX_VALUE, (byte) -128, (short) 3, true, 'x', '\'', '\\', '\n', '\uffff', 0.1, -0.0,
			Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE, 1.5f, Float.POSITIVE_INFINITY, "", "a \"word\"\r\n\\u0022\t\u00e9\ud83d\ude00\0",
			new int[] {1, -2}, new double[0], new byte[] {-1}, new char[] {'\u2028'}, new String[] {null, "x"}, new boolean[] {false}};
		assertArrayEquals(values, read(text(values)));
	}

	@Test
	void whatIsLongOrOfOtherClassesStaysSerialised() throws Exception {
		assertEquals("", text(1, new int[17]));
		assertEquals("", text("x".repeat(101)));
		assertEquals("", text(new ArrayList<>(Collections.nCopies(2, 1))));
		assertEquals("", text((Object) new int[][] {{1}}));
		assertTrue(text("x".repeat(100), new long[16]).contains("case 0:"));
	}

	@Test
	void twoValuesThatAreOneArrayStaySo() throws Exception {
		int[] array = {1};
		assertEquals("", text(array, array));
		assertTrue(text(array, array.clone()).contains("new int[] {1}, new int[] {1}"));
	}

	@Test
	void eachExecutionIsACaseOfItsOwn() throws Exception {
		List<Recording.Execution> all = new ArrayList<>();
		for (Object value : List.of(1, List.of(2), 3)) {
			all.add(new Recording.Execution(all.size(), new byte[0], Recording.made(new Object[] {value}).recorded.get(0).inputs));
		}
		Recording recording = new Recording(3, all, List.of());
		String text = new ShortInputs(recording, new Selection(recording)).text().replaceAll("\\s+", " ");
		assertEquals(" switch (input) { case 0: return new Object[] {1}; case 2: return new Object[] {3}; default: // it is serialised } ", text);
	}
}
