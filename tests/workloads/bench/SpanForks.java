import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * Executes trees of ForkJoin tasks on a pool of one thread, so that all its code runs in tasks. Arguments: steps of a
 * task's own work (four cycles or so each), trees, depth of a tree. Prints one line of JSON: the thread's CPU time, and the tasks.
 */
public class SpanForks {
	static final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
	static Thread worker;

	static final class Tree extends RecursiveTask<Integer> {
		final int depth, steps;

		Tree(int depth, int steps) {
			this.depth = depth;
			this.steps = steps;
		}

		@Override
		protected Integer compute() {
			int v = depth;
			for (int i = 0; i < steps; i++)
				v = (v ^ i) * 31;
			if (depth == 0)
				return v;
			Tree left = new Tree(depth - 1, steps), right = new Tree(depth - 1, steps);
			left.fork();
			right.fork();
			return v ^ right.join() ^ left.join();
		}
	}

	public static void main(String[] args) throws Exception {
		int steps = Integer.parseInt(args[0]), trees = Integer.parseInt(args[1]), depth = Integer.parseInt(args[2]), sum = 0;
		ForkJoinPool pool = new ForkJoinPool(1);
		pool.submit(() -> worker = Thread.currentThread()).get();
		long before = bean.getThreadCpuTime(worker.getId());
		for (int i = 0; i < trees; i++)
			sum ^= pool.submit(new Tree(depth, steps)).get();
		long cpu = bean.getThreadCpuTime(worker.getId()) - before;
		System.out.println("{\"total_cpu\": " + cpu + ", \"tasks\": " + trees * ((2L << depth) - 1) + ", \"sum\": " + sum + "}");
	}
}
