package locusbench;

import java.util.ArrayList;
import java.util.List;

/** A benchmark class as text, and what its project has to know of it. */
final class Payload {
	String packageName; // of the benchmark class; never the unnamed package
	String className;
	String source;
	String originalClass;
	String originalMethod;
	int firstLine;
	int lastLine;
	List<String> inputNames = new ArrayList<>(); // of the recorded values, in their order
	List<String> notes = new ArrayList<>(); // what was left out or assumed, a sentence each
	boolean repeatable; // a second call without loading anew has to give the same outputs
}
