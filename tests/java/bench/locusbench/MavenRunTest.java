// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The one line of the output of Maven and JMH that is the reason. */
class MavenRunTest {
	private static final Path LOG = Path.of("log");

	@Test
	void anErrorOfTheCompilerComesFirst() {
		assertEquals("the benchmark does not compile: X.java:3: ';' expected", MavenRun.reason(
				"[ERROR] COMPILATION ERROR : \n[ERROR] /a/src/main/java/p/X.java:[3,7] ';' expected\n[ERROR] Failed to execute goal\n", LOG));
	}

	@Test
	void aFailureOfTheTestIsToldWithoutItsMethod() {
		assertEquals("the regression test fails: the benchmark's outputs are not those of the program, for input 3 ==> array",
				MavenRun.reason("[ERROR] Failures: \n[ERROR]   XTest.recorded:20->check:46 the benchmark's outputs are not those of the"
						+ " program, for input 3 ==> array\n", LOG));
		assertEquals("the regression test fails: IllegalState no such thing",
				MavenRun.reason("[ERROR] Errors: \n[ERROR]   XTest.recorded:20 \u00bb IllegalState no such thing\n", LOG));
	}

	@Test
	void elseItIsMavensFirstLine() {
		assertEquals("Maven does not build the project: no plugin", MavenRun.reason("[ERROR] no plugin\n[ERROR] more\n", LOG));
		assertEquals("Maven does not build the project: see log", MavenRun.reason("", LOG));
	}

	@Test
	void ofJmhItIsTheLineOfTheFailure() {
		assertEquals("java.lang.ArithmeticException: / by zero", MavenRun.failure(
				"# Fork: 1 of 1\n<failure>\n\njava.lang.ArithmeticException: / by zero\n\tat a.B.segment(B.java:3)\n", LOG));
		assertEquals("the last", MavenRun.failure("first\nthe last\n\n", LOG));
	}
}
