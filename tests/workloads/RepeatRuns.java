import java.nio.file.Files;
import java.nio.file.Path;

/*
 * Does the same work in each run, and ends as it is told for that run.
 *
 * Usage: RepeatRuns FILE MODE...
 *
 * FILE counts the runs: the first has the first MODE, runs behind the last MODE have that one. All
 * allocate 200 arrays of 5,000 bytes and one of 300,000 ints. "ok" prints the sum and what standard
 * input holds, "fail" ends with status 3, "hang" sleeps, "kill" kills itself, "stderr" writes a line
 * there, "time" prints a number that is another in each run.
 */
public final class RepeatRuns {
	static final byte[][] kept = new byte[16][];

	static long sum(int[] numbers) {
		long sum = 0;
		for (int round = 0; round < 1_000; round++)
			for (int i = 0; i < numbers.length; i++)
				sum += numbers[i] * 31L + round;
		return sum;
	}

	public static void main(String[] args) throws Exception {
		Path file = Path.of(args[0]);
		int run = Files.exists(file) ? Integer.parseInt(Files.readString(file)) : 0;
		Files.writeString(file, String.valueOf(run + 1));
		String mode = args[Math.min(run + 1, args.length - 1)];
		if (mode.equals("hang"))
			Thread.sleep(600_000);
		int[] numbers = new int[300_000];
		long sum = sum(numbers);
		for (int i = 0; i < 200; i++)
			kept[i % kept.length] = new byte[5_000];
		if (mode.equals("fail"))
			System.exit(3);
		if (mode.equals("kill"))
			new ProcessBuilder("kill", "-9", String.valueOf(ProcessHandle.current().pid())).start().waitFor();
		if (mode.equals("stderr"))
			System.err.println("warning: odd");
		System.out.println(mode.equals("time") ? System.nanoTime() : sum + " " + System.in.read());
	}
}
