import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/*
 * Ends in another way in each mode, after some tracked allocations. It prints the same each time.
 *
 * Usage: Endings MODE (see main) [MILLIONS of steps of a calculation before it ends]
 */
public final class Endings {
	static volatile Object sink;

	static void allocate() {
		for (int i = 0; i < 2000; i++)
			sink = new byte[2000 + i];
	}

	static int calculate(long steps) {
		int x = 1;
		for (long i = 0; i < steps; i++)
			x = x * 1103515245 + 12345;
		return x;
	}

	static int recurse(int n) { return 1 + recurse(n + 1); }

	static int overflows() {
		int caught = 0;
		for (int i = 0; i < 20; i++)
			try {
				recurse(0);
			} catch (StackOverflowError e) {
				caught++;
				sink = new int[1000];
			}
		return caught;
	}

	static int exhaust() {
		int caught = 0;
		for (int i = 0; i < 5; i++)
			try {
				List<byte[]> all = new ArrayList<>();
				while (true)
					all.add(new byte[100_000]);
			} catch (OutOfMemoryError e) {
				caught++;
			}
		return caught;
	}

	static void everyByte(PrintStream out) {
		for (int i = 0; i < 256; i++)
			out.write(i);
		out.flush();
	}

	static void echo() throws Exception {
		InputStream in = System.in;
		byte[] buffer = new byte[5000];
		for (int n; (n = in.read(buffer)) > 0; )
			System.out.write(buffer, 0, n);
		System.out.flush();
	}

	public static void main(String[] args) throws Exception {
		allocate();
		if (args.length > 1)
			sink = calculate(Long.parseLong(args[1]) * 1_000_000);
		System.out.println("out \u00fc");
		System.err.println("err");
		switch (args[0]) {
		case "return":
			break;
		case "bytes":
			everyByte(System.out);
			everyByte(System.err);
			break;
		case "echo":
			echo();
			break;
		case "exit":
			System.exit(3);
			break;
		case "uncaught":
			throw new IllegalStateException("on purpose");
		case "uncaught-in-thread":
			Thread t = new Thread(() -> { throw new IllegalStateException("in a thread"); }, "thrower");
			t.start();
			t.join();
			break;
		case "hook":
			Runtime.getRuntime().addShutdownHook(new Thread(() -> {
				allocate();
				System.out.println("hook ran");
			}));
			System.exit(4);
			break;
		case "halt-in-hook":
			Runtime.getRuntime().addShutdownHook(new Thread(() -> {
				System.out.println("hook halts");
				System.out.flush();
				Runtime.getRuntime().halt(6);
			}));
			break;
		case "halt":
			Runtime.getRuntime().halt(5);
			break;
		case "exit-from-thread":
			Thread x = new Thread(() -> System.exit(7));
			x.start();
			Thread.sleep(60_000);
			break;
		case "daemon":
			Thread d = new Thread(() -> {
				while (true)
					allocate();
			});
			d.setDaemon(true);
			d.start();
			Thread.sleep(200);
			break;
		case "stack-overflow":
			System.out.println(overflows());
			break;
		case "out-of-memory":
			System.out.println(exhaust());
			break;
		case "out-of-memory-uncaught":
			List<long[]> all = new ArrayList<>();
			while (true)
				all.add(new long[100_000]);
		default:
			System.exit(99);
		}
		System.out.println("end");
	}
}
