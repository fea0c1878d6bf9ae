import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/*
 * Allocates in classes that an agent, which is this class too, rewrites without looking at what it is handed.
 *
 * Usage: java -javaagent:ignorant.jar=MODE Ignorant TIMES
 *
 * MODE "loads": the agent returns the class file on disk when Ignorant$Late is loaded; "retransforms": when it is retransformed, which
 * main() asks for after the first half; "heeds": in both cases what it is handed. Each half allocates TIMES arrays in Ignorant$Late,
 * and as many in Ignorant. Ends with status 3.
 */
public final class Ignorant implements ClassFileTransformer {
	static volatile Object kept;
	static Instrumentation instrumentation;
	static String mode;

	static final class Late {
		static void lateAllocate(int times) {
			for (int i = 0; i < times; i++)
				kept = new int[1000];
		}
	}

	static void allocate(int times) {
		for (int i = 0; i < times; i++)
			kept = new int[1000];
	}

	public static void premain(String args, Instrumentation in) {
		instrumentation = in;
		mode = args;
		in.addTransformer(new Ignorant(), true);
	}

	@Override
	public byte[] transform(ClassLoader loader, String name, Class<?> again, ProtectionDomain domain, byte[] b) {
		if (!"Ignorant$Late".equals(name) || mode.equals("retransforms") && again == null)
			return null;
		if (mode.equals("heeds"))
			return b.clone();
		try (InputStream in = loader.getResourceAsStream("Ignorant$Late.class")) {
			return in.readAllBytes();
		} catch (java.io.IOException e) {
			return null;
		}
	}

	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[0]);
		Late.lateAllocate(times);
		allocate(times);
		if (!mode.equals("loads"))
			instrumentation.retransformClasses(Late.class);
		Late.lateAllocate(times);
		allocate(times);
		System.out.println("allocated");
		System.exit(3);
	}
}
