import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.security.ProtectionDomain;
import java.util.function.Supplier;

/*
 * Makes objects of one class, Node, in classes that an attach cannot change, and in one that it can.
 *
 * Usage: java -javaagent:JAR Unchanged TIMES
 *
 * Stubborn is refused: the agent in JAR, which is this class, returns nonsense for its class file
 * once it is retransformed. A copy of Hidden is a hidden class. A lambda is one, too, that makes no
 * object of the program. It says "ready", waits for a line, and has each class make TIMES nodes.
 */
public final class Unchanged {
	static final class Node {
		int number;
	}

	public static final class Plain {
		public static void make(int times) {
			for (int i = 0; i < times; i++)
				sink = new Node();
		}
	}

	public static final class Stubborn {
		public static void make(int times) {
			for (int i = 0; i < times; i++)
				sink = new Node();
		}
	}

	public static final class Hidden {
		public static void make(int times) {
			for (int i = 0; i < times; i++)
				sink = new Node();
		}
	}

	static volatile Object sink;

	public static void premain(String options, Instrumentation instrumentation) {
		instrumentation.addTransformer(new ClassFileTransformer() {
			@Override
			public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] file) {
				return redefined != null && "Unchanged$Stubborn".equals(name) ? new byte[] {1, 2, 3, 4} : null;
			}
		}, true);
	}

	static Class<?> hidden() throws IOException, IllegalAccessException {
		try (InputStream in = Unchanged.class.getResourceAsStream("Unchanged$Hidden.class")) {
			return MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), true).lookupClass();
		}
	}

	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[0]);
		Class<?> hidden = hidden();
		Supplier<String> lambda = () -> "ready " + times;
		Plain.make(1);
		Stubborn.make(1);
		System.out.println(lambda.get().substring(0, 5));
		System.in.read();
		Plain.make(times);
		Stubborn.make(times);
		hidden.getMethod("make", int.class).invoke(null, times);
	}
}
