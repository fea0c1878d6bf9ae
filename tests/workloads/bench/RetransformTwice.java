import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.util.Arrays;

/*
 * A Java agent for bench_attach.py to compare with: has all loaded classes transformed two times, as an
 * attach and a detach of Locus do, and changes nothing in them.
 */
public final class RetransformTwice {
	static final int BATCH = 256, BETWEEN_MS = 2000;

	static void transform(Instrumentation instrumentation, Class<?>[] classes) throws Exception {
		for (int i = 0; i < classes.length; i += BATCH)
			instrumentation.retransformClasses(
			    Arrays.copyOfRange(classes, i, Math.min(i + BATCH, classes.length)));
	}

	public static void agentmain(String args, Instrumentation instrumentation) throws Exception {
		ClassFileTransformer none = new ClassFileTransformer() {
		};
		Class<?>[] classes = Arrays.stream(instrumentation.getAllLoadedClasses())
		                         .filter(instrumentation::isModifiableClass)
		                         .toArray(Class<?>[] ::new);

		instrumentation.addTransformer(none, true);
		transform(instrumentation, classes);
		Thread.sleep(BETWEEN_MS);
		transform(instrumentation, classes);
		instrumentation.removeTransformer(none);
	}
}
