// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** A file of a project with words like @CLASS@ in it, which are replaced. */
final class Template {
	private String text;

	/** The resource of this name beside the class. */
	Template(String name) throws IOException {
		text = resource(name);
	}

	static String resource(String name) throws IOException {
		try (InputStream in = Template.class.getResourceAsStream(name)) {
			if (in == null) {
				throw new IOException("the jar of locus bench has no '" + name + "'");
			}
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	Template with(String word, Object value) {
		text = text.replace("@" + word + "@", String.valueOf(value));
		return this;
	}

	String text() {
		return text;
	}
}
