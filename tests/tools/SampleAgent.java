// SPDX-License-Identifier: Apache-2.0
/* Declares the natives of tests/tools/sample_agent.c. */
final class SampleAgent {
	static native void start();

	static native void stop();

	static native void watch(Object o, String name);

	static native void nodes(Object[] all);

	static native void report(String file);
}
