// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Executes streams and tasks in each way, and compares how often the hooks of spans were called. */
public final class CountSpans {
	/* enum span_count of verify_spans.h; kinds of submissions from 100. */
	private static final int STREAM = 0, PARALLEL = 1, HEAD = 2, FOREIGN = 3, PULLED = 4, SUPPORT = 7;
	private static final int CREATED = 8, SUBMITTED = 9, TASK = 10, WRAPPER = 11, THREAD = 12;
	private static final int MOUNT = 13, UNMOUNT = 14, UNBALANCED = 15;
	private static final int EXECUTE = 101, SUBMIT = 102, FORK = 103, FORK_JOIN = 104, INVOKE_ALL = 105;
	private static final int SCHEDULE = 106, ASYNC = 107, START = 108, KINDS_END = 109;

	private static native long count(int which);

	/** How many spans are open on this thread. */
	private static native long depth();

	private interface Body {
		void run() throws Exception;
	}

	private static int ways, wrong;
	private static volatile Object sink;

	/** `expected` are pairs: a count and by how much it grows. Others are not looked at. */
	private static void way(String name, Body body, int... expected) throws Exception {
		long[] before = new long[KINDS_END];
		long depth = depth();
		for (int i = 0; i < KINDS_END; i++)
			before[i] = count(i);
		body.run();
		ways++;
		boolean right = depth() == depth && count(UNBALANCED) == 0;
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < expected.length; i += 2) {
			long got = count(expected[i]) - before[expected[i]];
			right &= got == expected[i + 1];
			text.append(" count ").append(expected[i]).append(": ").append(got)
				.append(" of ").append(expected[i + 1]).append(',');
		}
		if (!right) {
			wrong++;
			System.out.println("wrong: " + name + ":" + text + " depth " + depth() + " of " + depth);
		}
	}

	private static void expect(Class<? extends Throwable> type, Body body) {
		try {
			body.run();
		} catch (Throwable e) {
			if (type.isInstance(e))
				return;
			e.printStackTrace(System.out);
		}
		wrong++;
		System.out.println("wrong: no " + type);
	}

	/* Not lambda expressions: their own bodies are hooked. */
	private static class Job implements Runnable {
		public void run() {
			sink = this;
		}
	}

	private static class Loop implements Runnable {
		private int left = 5;

		/** Its first instruction is the target of a jump. */
		public void run() {
			do {
				left--;
			} while (left > 0);
		}
	}

	private static final class Answer implements Callable<String> {
		public String call() {
			return "answer";
		}
	}

	private static final class Failing implements Runnable {
		public void run() {
			synchronized (this) {
				throw new IllegalStateException("expected");
			}
		}
	}

	private static final class Sub extends Job {
		public void run() {
			super.run();
		}
	}

	private static final class Sum extends RecursiveTask<Integer> {
		private final int n;

		Sum(int n) {
			this.n = n;
		}

		protected Integer compute() {
			if (n == 0)
				return 1;
			Sum left = new Sum(n - 1), right = new Sum(n - 1);
			left.fork();
			return right.invoke() + left.join();
		}
	}

	private static void streams() throws Exception {
		List<Integer> list = new ArrayList<>(Arrays.asList(1, 2, 3, 4, 5));
		way("sum", () -> sink = IntStream.range(0, 100).sum(), STREAM, 1, PARALLEL, 0, PULLED, 0);
		way("toArray", () -> sink = list.stream().map(i -> i + 1).toArray(), STREAM, 1);
		way("forEach of a head", () -> list.stream().forEach(i -> sink = i), HEAD, 1, STREAM, 0);
		way("forEach", () -> list.stream().map(i -> i + 1).forEach(i -> sink = i), STREAM, 1, HEAD, 0);
		way("flatMap", () -> sink = list.stream().flatMap(i -> Stream.of(i, i).map(j -> j + 1))
			.collect(Collectors.toList()), STREAM, 6, HEAD, 0, PULLED, 0);
		way("iterator", () -> {
			Iterator<Integer> i = list.stream().map(j -> j).iterator();
			while (i.hasNext())
				sink = i.next();
		}, PULLED, 1, STREAM, 0);
		way("parallel", () -> sink = IntStream.range(0, 100000).parallel().filter(i -> i % 3 == 0).sum(),
			PARALLEL, 1, STREAM, 0);
		/* The parallelism is given by whoever starts this. */
		int targets = 4 * Integer.getInteger("java.util.concurrent.ForkJoinPool.common.parallelism");
		long leaves = 2L * Integer.highestOneBit(targets - 1);
		long supports = count(SUPPORT);
		CountDownLatch done = new CountDownLatch(1024);
		IntStream.range(0, 1024).parallel().forEach(i -> done.countDown());
		done.await();
		/* Each task computes once, however often it splits: there is one for each leaf. */
		ways++;
		if (count(SUPPORT) - supports != leaves) {
			wrong++;
			System.out.println("wrong: " + (count(SUPPORT) - supports) + " of " + leaves + " leaves");
		}
		way("exception", () -> expect(ArithmeticException.class,
			() -> list.stream().map(i -> i / 0).forEach(i -> sink = i)), STREAM, 1);
		way("used twice", () -> expect(IllegalStateException.class, () -> {
			Stream<Integer> s = list.stream();
			s.forEach(i -> sink = i);
			s.forEach(i -> sink = i);
		}), HEAD, 2);
		Class<?> gatherers;
		try {
			gatherers = Class.forName("java.util.stream.Gatherers");
		} catch (ClassNotFoundException e) {
			return;
		}
		Object window = gatherers.getMethod("windowFixed", int.class).invoke(null, 2);
		var gather = Stream.class.getMethod("gather", Class.forName("java.util.stream.Gatherer"));
		way("gatherer", () -> sink = ((Stream<?>) gather.invoke(list.stream(), window))
			.collect(Collectors.toList()), STREAM, 1, PULLED, 0);
		way("gatherer in parallel", () -> sink = ((Stream<?>) gather.invoke(list.parallelStream(), window))
			.collect(Collectors.toList()), PARALLEL, 1, STREAM, 0);
		way("gatherer, then forEach", () -> ((Stream<?>) gather.invoke(list.stream(), window))
			.forEach(i -> sink = i), STREAM, 1);
	}

	private static void make(int n) {
		Runnable r = () -> sink = n;
		sink = r;
	}

	private static void tasks() throws Exception {
		Runnable job = new Job(), lambda = () -> sink = null;
		Callable<Object> answer = () -> "answer";
		way("run", () -> job.run(), TASK, 1);
		way("run of a class", () -> new Job().run(), TASK, 1, CREATED, 1);
		way("run of a loop", () -> new Loop().run(), TASK, 1);
		/* The class file does not tell its superclass; its superclass is hooked. */
		way("run calls super.run", () -> new Sub().run(), TASK, 1, CREATED, 1);
		way("run of a lambda", () -> lambda.run(), TASK, 1, CREATED, 0);
		make(0); /* the first time, the JDK makes tasks of its own */
		way("a lambda is made", () -> make(ways), CREATED, 1, TASK, 0);
		way("call of a lambda", () -> sink = answer.call(), TASK, 1);
		way("call", () -> sink = new Answer().call(), TASK, 1, CREATED, 1);
		way("call by its bridge", () -> sink = ((Callable<?>) new Answer()).call(), TASK, 1);
		way("exception", () -> expect(IllegalStateException.class, () -> new Failing().run()), TASK, 1);
		way("null", () -> expect(NullPointerException.class, () -> ((Runnable) null).run()), TASK, 0);
		way("FutureTask", () -> {
			FutureTask<Object> f = new FutureTask<>(answer);
			f.run();
			sink = f.get();
		}, TASK, 1, WRAPPER, 0); // of the JDK's own wrapper nothing is told
		Executor direct = r -> r.run();
		way("an executor that is a lambda", () -> direct.execute(job), EXECUTE, 1, TASK, 1);
		Thread t = new Thread(lambda);
		way("a thread", () -> {
			t.start();
			t.join();
		}, START, 1, THREAD, 1, TASK, 1);
		way("a timer", () -> {
			Timer timer = new Timer(true);
			CountDownLatch ran = new CountDownLatch(1);
			timer.schedule(new TimerTask() {
				public void run() {
					ran.countDown();
				}
			}, 1);
			ran.await();
		}, SCHEDULE, 1, TASK, 1);
	}

	private static void executors() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		way("execute", () -> {
			CountDownLatch ran = new CountDownLatch(1);
			pool.execute(ran::countDown);
			ran.await();
		}, EXECUTE, 1, TASK, 1);
		way("submit", () -> sink = pool.submit(new Answer()).get(), SUBMIT, 1, TASK, 1);
		way("570 tasks", () -> {
			CountDownLatch ran = new CountDownLatch(570);
			for (int i = 0; i < 570; i++)
				pool.submit(() -> ran.countDown());
			ran.await();
		}, SUBMIT, 570, TASK, 570);
		way("invokeAll", () -> sink = pool.invokeAll(Arrays.asList(new Answer(), new Answer())),
			INVOKE_ALL, 2, TASK, 2);
		way("supplyAsync", () -> sink = CompletableFuture.supplyAsync(() -> 1, pool).get(), EXECUTE, 1,
			TASK, 1);
		/* The task, and what wraps it. */
		way("runAsync", () -> sink = CompletableFuture.runAsync(new Job(), pool).get(), ASYNC, 1,
			EXECUTE, 1, TASK, 1);
		pool.shutdown();
		pool.awaitTermination(10, TimeUnit.SECONDS);
		ScheduledExecutorService scheduled = Executors.newScheduledThreadPool(1);
		way("schedule", () -> sink = scheduled.schedule(new Answer(), 1, TimeUnit.MILLISECONDS).get(),
			TASK, 1);
		scheduled.shutdown();
		scheduled.awaitTermination(10, TimeUnit.SECONDS);
		ForkJoinPool fork = new ForkJoinPool(2);
		way("fork", () -> sink = fork.invoke(new Sum(4)), FORK, 15, TASK, 31, FORK_JOIN, 1);
		way("a pool's submit", () -> sink = fork.submit(new Answer()).get(), TASK, 1, FORK_JOIN, 1);
		fork.shutdown();
		fork.awaitTermination(10, TimeUnit.SECONDS);
	}

	private static void virtualThreads() throws Exception {
		java.lang.reflect.Method start;
		try {
			start = Thread.class.getMethod("startVirtualThread", Runnable.class);
		} catch (NoSuchMethodException e) {
			return;
		}
		Object lock = new Object();
		Runnable body = () -> {
			long depth = depth();
			for (int i = 0; i < 50; i++) {
				try {
					Thread.sleep(1);
				} catch (InterruptedException e) {
					break;
				}
				Stream.of(1, 2).map(j -> j + 1).forEach(j -> {
					synchronized (lock) {
						LockSupport.parkNanos(1000);
					}
				});
				if (depth() != depth)
					virtualWrong++;
			}
		};
		long ran = count(THREAD);
		way("virtual threads", () -> {
			List<Thread> threads = new ArrayList<>();
			for (int i = 0; i < 100; i++)
				threads.add((Thread) start.invoke(null, body));
			for (Thread t : threads)
				t.join();
		}, STREAM, 5000);
		ran = count(THREAD) - ran;
		Thread.sleep(100); /* the last one is being unmounted */
		/* Each, and carriers. */
		if (virtualWrong > 0 || count(MOUNT) != count(UNMOUNT) || count(MOUNT) < 5000 || ran < 100
			|| ran > 110) {
			wrong++;
			System.out.println("wrong: virtual threads: " + virtualWrong + " " + count(MOUNT) + " "
				+ count(UNMOUNT) + " " + ran);
		}
	}

	private static volatile int virtualWrong;

	public static void main(String[] args) throws Exception {
		streams();
		tasks();
		executors();
		virtualThreads();
		System.out.println("counted_all: ways=" + ways + " wrong=" + wrong);
	}
}
