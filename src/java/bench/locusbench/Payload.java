// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A benchmark class as text, and what its project has to know of it. */
final class Payload {
	String packageName; // of the benchmark class; never the unnamed package
	String className;
	String source; // of the class with the segment: the benchmark class, or one of its name in the unnamed package
	boolean isUnnamed; // the segment is of the unnamed package
	final Map<String, String> others = new LinkedHashMap<>(); // more source files, by path
	String originalClass;
	String originalMethod;
	int firstLine;
	int lastLine;
	List<String> inputNames = new ArrayList<>(); // of the recorded values, in their order
	List<String> notes = new ArrayList<>(); // what was left out or assumed, a sentence each
	boolean loadsAgain; // values are loaded before each call
	boolean goesOn; // a call without loading anew finds some state as the call before has left it

	/** The class of the regression test. */
	String testName() {
		return packageName + "." + className + "Test";
	}

	/** The path of `source`. */
	String file() {
		return (isUnnamed ? "" : packageName.replace('.', '/') + "/") + className + ".java";
	}
}
