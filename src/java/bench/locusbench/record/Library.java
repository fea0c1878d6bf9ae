// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

/** Makes instances of Values such that Kryo does not ask for sun.misc.Unsafe, which newer JVMs complain of on stderr. */
final class Library {
	private static final String PROPERTY = "kryo.unsafe"; // which Kryo reads once, when its first class is initialized

	private Library() {
	}

	static synchronized Values values(ClassLoader loader) {
		String before = System.getProperty(PROPERTY);
		System.setProperty(PROPERTY, "false");
		try {
			return new Values(loader);
		} finally {
			if (before == null) {
				System.clearProperty(PROPERTY);
			} else {
				System.setProperty(PROPERTY, before);
			}
		}
	}
}
