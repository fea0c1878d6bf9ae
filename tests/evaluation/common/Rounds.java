import com.sun.management.OperatingSystemMXBean;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;

/**
 * Runs a program again and again in one JVM, and tells what a round takes once the JVM is warm. Arguments: seconds that are
 * left out, CPU seconds to measure, the program's class, and its arguments.
 *
 * Rounds are left out until their time is over and the last three took equally long (within a tenth of their median), but not
 * longer than three times the seconds. Each round checks its own result. The last but one line is "measured: " with the CPU and
 * clock time of a round in seconds, and whether the rounds became alike; the last one is the program's result.
 */
public final class Rounds {
	private static final int ALIKE = 3, TIMES = 3;
	private static final double SPREAD = 0.1;
	private static final OperatingSystemMXBean SYSTEM =
			(OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

	private final Method main;
	private final String[] arguments;
	private final Deque<Double> last = new ArrayDeque<>(); // what rounds took, in seconds
	private String result;

	private Rounds(Method main, String[] arguments) {
		this.main = main;
		this.arguments = arguments;
	}

	/** The CPU time of this JVM, in seconds. */
	static double cpuSeconds() {
		return SYSTEM.getProcessCpuTime() / 1e9;
	}

	/** Runs the program once; returns the seconds that it took, by the clock. */
	private double run() throws Exception {
		PrintStream out = System.out;
		ByteArrayOutputStream printed = new ByteArrayOutputStream();
		System.setOut(new PrintStream(printed, true));
		long start = System.nanoTime();
		try {
			main.invoke(null, (Object) arguments.clone());
		} finally {
			System.out.flush();
			System.setOut(out);
		}
		double seconds = (System.nanoTime() - start) / 1e9;
		String[] lines = printed.toString().strip().split("\n");
		String last = lines[lines.length - 1];
		Result.check(result == null || result.equals(last), "a round has another result: " + last);
		result = last;
		return seconds;
	}

	/** Took the last rounds equally long? */
	private boolean alike() {
		double[] sorted = last.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		return sorted.length == ALIKE && sorted[ALIKE - 1] - sorted[0] <= SPREAD * sorted[ALIKE / 2];
	}

	/** Runs rounds that do not count; returns how many. */
	private int warmUp(double seconds) throws Exception {
		double took = 0;
		int rounds = 0;
		while (took < seconds || !alike() && took < TIMES * seconds) {
			last.add(run());
			took += last.getLast();
			rounds++;
			if (last.size() > ALIKE)
				last.remove();
		}
		return rounds;
	}

	public static void main(String[] args) throws Exception {
		Method main = Class.forName(args[2]).getMethod("main", String[].class);
		Rounds rounds = new Rounds(main, Arrays.copyOfRange(args, 3, args.length));
		int before = rounds.warmUp(Double.parseDouble(args[0]));
		boolean alike = rounds.alike();
		double most = Double.parseDouble(args[1]), wall = 0, start = cpuSeconds(), cpu;
		int count = 0;
		do {
			wall += rounds.run();
			count++;
			cpu = cpuSeconds() - start;
		} while (cpu < most);
		System.out.printf(Locale.ROOT, "measured: cpu=%.6f wall=%.6f rounds=%d left_out=%d stable=%d%n", cpu / count, wall / count,
				count, before, alike ? 1 : 0);
		System.out.println(rounds.result);
	}
}
