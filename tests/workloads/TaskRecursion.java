// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * Forks tasks in recursion, which the JIT inlines into itself: few lines of code, at ever other
 * depths of the stack and in ever other frames. Prints how many tasks were made.
 */
public class TaskRecursion {
	static class Fib extends RecursiveTask<Integer> {
		final int n;

		Fib(int n) {
			this.n = n;
		}

		@Override
		protected Integer compute() {
			if (n < 2)
				return 1; // this task
			Fib right = new Fib(n - 1);
			right.fork();
			return 1 + new Fib(n - 2).compute() + right.join();
		}
	}

	public static void main(String[] args) {
		long made = 0;

		for (int i = 0; i < 1500; i++)
			made += ForkJoinPool.commonPool().invoke(new Fib(12));
		System.out.println(made);
	}
}
