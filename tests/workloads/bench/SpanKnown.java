import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Executes streams and tasks of known lengths: each does a number of steps that depend on each other, four cycles
 * or so. Streams have a method each, and tasks a class each. Arguments: rounds. Prints one line of JSON: for each
 * name the executions and their CPU time in nanoseconds. The time of a stream is that of its loop without that of a
 * loop that makes the pipeline and does not execute it. The time of a task is that of the pool's only thread without
 * that of as many tasks that do nothing.
 */
public class SpanKnown {
	static final ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
	static final long CYCLES = 40_000_000; // of a name in a round, about
	static final int COUNT_MAX = 50_000; // of a name in a round
	static final int WARM_ROUNDS = 3;
	static volatile Object sink;
	static volatile int sum;

	static int work(int seed, int steps) {
		int v = seed;
		for (int i = 0; i < steps; i++)
			v = (v ^ i) * 31;
		return v;
	}

	static IntStream pipeline(int seed, int steps) {
		return IntStream.of(seed).map(v -> work(v, steps));
	}

	/** Makes the JIT compile what all streams have in common. */
	static int warmStream(int seed) {
		return pipeline(seed, 100).sum();
	}

	static int stream100(int seed) {
		return pipeline(seed, 100).sum();
	}

	static int stream400(int seed) {
		return pipeline(seed, 400).sum();
	}

	static int stream1600(int seed) {
		return pipeline(seed, 1600).sum();
	}

	static int stream6400(int seed) {
		return pipeline(seed, 6400).sum();
	}

	static int stream25600(int seed) {
		return pipeline(seed, 25600).sum();
	}

	/** Its cycles with those of the ten streams inside are known. */
	static int around10(int seed) {
		return IntStream.of(seed, seed + 1, seed + 2, seed + 3, seed + 4, seed + 5, seed + 6, seed + 7, seed + 8, seed + 9)
				.map(v -> work(v, 100) + IntStream.of(v).map(w -> work(w, 100)).sum()).sum();
	}

	abstract static class Task implements Runnable {
		final int seed;

		Task(int seed) {
			this.seed = seed;
		}
	}

	/** Makes the JIT compile what all tasks have in common. */
	static final class WarmTask extends Task {
		WarmTask(int seed) {
			super(seed);
		}

		@Override
		public void run() {
			sum -= seed;
		}
	}

	static final class Task0 extends Task {
		Task0(int seed) {
			super(seed);
		}

		@Override
		public void run() {
			sum += seed;
		}
	}

	static final class Task1000 extends Task {
		Task1000(int seed) {
			super(seed);
		}

		@Override
		public void run() {
			sum += work(seed, 1000);
		}
	}

	static final class Task4000 extends Task {
		Task4000(int seed) {
			super(seed);
		}

		@Override
		public void run() {
			sum += work(seed, 4000);
		}
	}

	static final class Task16000 extends Task {
		Task16000(int seed) {
			super(seed);
		}

		@Override
		public void run() {
			sum += work(seed, 16000);
		}
	}

	static final class Task64000 extends Task {
		Task64000(int seed) {
			super(seed);
		}

		@Override
		public void run() {
			sum += work(seed, 64000);
		}
	}

	/** Its cycles with those of the ten streams inside are known. */
	static final class TaskAround10 extends Task {
		TaskAround10(int seed) {
			super(seed);
		}

		@Override
		public void run() {
			int all = 0;
			for (int i = 0; i < 10; i++)
				all += pipeline(seed + i, 100).sum() + work(all, 100);
			sum += all;
		}
	}

	/** Something that is executed again and again. */
	static final class Known {
		final String name;
		final int count;
		final IntUnaryOperator stream;
		final IntFunction<Runnable> task;
		long executions, cpu;

		Known(String name, int steps, IntUnaryOperator stream, IntFunction<Runnable> task) {
			this.name = name;
			this.stream = stream;
			this.task = task;
			long most = CYCLES / (4L * steps + 200);
			count = (int) Math.min(most, COUNT_MAX);
		}

		void print(boolean first, double less) {
			System.out.print((first ? "" : ", ") + "\"" + name + "\": {\"executions\": " + executions + ", \"cpu\": "
					+ (long) (cpu - less * executions) + "}");
		}
	}

	static long made(int count) {
		long before = bean.getCurrentThreadCpuTime();
		for (int i = 0; i < count; i++)
			sink = pipeline(i, count);
		return bean.getCurrentThreadCpuTime() - before;
	}

	static void streams(Known k) {
		IntUnaryOperator stream = k.stream;
		int all = 0;
		long before = bean.getCurrentThreadCpuTime();
		for (int i = 0; i < k.count; i++)
			all += stream.applyAsInt(i);
		k.cpu += bean.getCurrentThreadCpuTime() - before;
		k.executions += k.count;
		sum += all;
	}

	/* The pool waits until all tasks are in its queue, so that it never looks for one in vain. */
	static void tasks(Known k, ExecutorService pool, long worker) throws InterruptedException {
		CountDownLatch begin = new CountDownLatch(1), ready = new CountDownLatch(1), end = new CountDownLatch(1);
		pool.execute(() -> {
			ready.countDown();
			try {
				begin.await();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		});
		for (int i = 0; i < k.count; i++)
			pool.execute(k.task.apply(i));
		pool.execute(end::countDown);
		ready.await();
		long before = bean.getThreadCpuTime(worker);
		begin.countDown();
		end.await();
		k.cpu += bean.getThreadCpuTime(worker) - before;
		k.executions += k.count;
	}

	public static void main(String[] args) throws Exception {
		Known[] streams = { new Known("stream100", 100, SpanKnown::stream100, null),
			new Known("stream400", 400, SpanKnown::stream400, null),
			new Known("stream1600", 1600, SpanKnown::stream1600, null),
			new Known("stream6400", 6400, SpanKnown::stream6400, null),
			new Known("stream25600", 25600, SpanKnown::stream25600, null),
			new Known("around10", 2000, SpanKnown::around10, null) };
		Known[] tasks = { new Known("Task0", 0, null, Task0::new),
			new Known("Task1000", 1000, null, Task1000::new), new Known("Task4000", 4000, null, Task4000::new),
			new Known("Task16000", 16000, null, Task16000::new), new Known("Task64000", 64000, null, Task64000::new),
			new Known("TaskAround10", 2000, null, TaskAround10::new) };
		Thread[] worker = new Thread[1];
		ExecutorService pool = Executors.newSingleThreadExecutor(r -> worker[0] = new Thread(r, "pool"));
		pool.submit(() -> null).get();
		Known stream = new Known("warmStream", 100, SpanKnown::warmStream, null), task = new Known("WarmTask", 0, null, WarmTask::new);
		for (int i = 0; i < WARM_ROUNDS; i++) {
			made(COUNT_MAX);
			streams(stream);
			tasks(task, pool, worker[0].getId());
		}
		long made = 0, madeCount = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			made += made(COUNT_MAX);
			madeCount += COUNT_MAX;
			for (Known k : streams)
				streams(k);
			for (Known k : tasks)
				tasks(k, pool, worker[0].getId());
		}
		pool.shutdown();
		System.out.print("{");
		for (Known k : streams)
			k.print(k == streams[0], (double) made / madeCount);
		for (Known k : tasks)
			k.print(false, k == tasks[0] ? 0 : (double) tasks[0].cpu / tasks[0].executions);
		System.out.println("}");
	}
}
