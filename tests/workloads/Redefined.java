import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/*
 * A class is redefined while its methods run: by this program as a Java agent, or by somebody else.
 *
 * Usage: java [-javaagent:redefined.jar] Redefined FILE MILLISECONDS
 *
 * FILE is another version of class Swapped, in which the lines marked here are further down, and whose
 * version() is 2; "-": somebody else brings it when "ready" was printed. The class runs and allocates for
 * so much CPU time with each version. Meanwhile a thread is in a method of the first version that ends last. It
 * prints what was allocated by each version and by the method that does not return, then the CPU
 * time of each version in microseconds.
 */
public final class Redefined {
	static Instrumentation instrumentation;
	static volatile boolean ended;
	static final int[][] cells = new int[64][1 << 16];
	static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
	static final long[] made = new long[3], cpu = new long[3];
	static long sum;

	public static void premain(String args, Instrumentation in) {
		instrumentation = in;
	}

	/* Run until that version is there, and has taken so much CPU time. */
	static void run(long ms, int version) {
		int now = 0;
		while (now != version || cpu[version] < ms * 1000000) {
			long begin = threads.getCurrentThreadCpuTime();
			now = Swapped.version();
			sum += Swapped.loop(cells, 1 << 14);
			sum += Swapped.make().length;
			made[now]++;
			cpu[now] += threads.getCurrentThreadCpuTime() - begin;
		}
	}

	public static void main(String[] args) throws Exception {
		long ms = Long.parseLong(args[1]);
		long[] old = new long[1];
		Thread stays = new Thread(() -> old[0] = Swapped.stay(cells), "stays");
		stays.start();
		run(ms, 1);
		if (args[0].equals("-")) {
			System.out.println("ready");
			run(0, 2);
		} else {
			instrumentation.redefineClasses(new ClassDefinition(Swapped.class, Files.readAllBytes(Path.of(args[0]))));
		}
		run(ms, 2);
		ended = true;
		stays.join();
		System.out.println(made[1] + " " + made[2] + " " + old[0] + " " + cpu[1] / 1000 + " " + cpu[2] / 1000);
	}
}

final class Swapped {
	static volatile Object kept;

	static int version() { return 1; }

	static long loop(int[][] cells, int times) {
		long sum = times, at = times;
		// more lines
		for (int i = 0; i < times; i++) {
			at = at * 6364136223846793005L + 1442695040888963407L;
			sum += cells[(int)(at >>> 58)][(int)(at >>> 40) & 0xffff]; // loop
		}
		return sum;
	}

	static int[] make() {
		int[] made = new int[1000]; // make
		kept = made;
		return made;
	}

	static long stay(int[][] cells) {
		long made = 0, at = 1;
		while (!Redefined.ended) {
			for (int i = 0; i < 1 << 14; i++) {
				at = at * 6364136223846793005L + 1442695040888963407L;
				cells[(int)(at >>> 58)][(int)(at >>> 40) & 0xffff]++; // stay
			}
			kept = new long[500]; // keep
			made++;
		}
		return made;
	}
}
