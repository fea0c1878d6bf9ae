import java.util.Arrays;

/*
 * Executes tasks that execute each other until the stack overflows, and prints how many fit on it.
 *
 * Usage: DeepTasks ROUNDS
 */
public final class DeepTasks implements Runnable {
	private static int depth, returned;

	private final int number;

	private DeepTasks(int number) { this.number = number; }

	@Override
	public void run() {
		depth = number;
		new DeepTasks(number + 1).run();
		returned++;
	}

	public static void main(String[] args) throws InterruptedException {
		int[] depths = new int[Integer.parseInt(args[0])];
		Thread deep = new Thread(null, () -> {
			for (int i = 0; i < depths.length; i++) {
				try {
					new DeepTasks(1).run();
				} catch (StackOverflowError e) {
					depths[i] = depth;
				}
			}
		}, "deep", 1 << 20);
		deep.start();
		deep.join();
		Arrays.sort(depths, depths.length / 2, depths.length); // the method is compiled by then
		System.out.println(depths[depths.length * 3 / 4]);
	}
}
