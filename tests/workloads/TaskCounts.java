import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Hands tasks on in many ways, often enough to be compiled, and counts itself what it handed on and
 * what was executed: a line "way handed executed inside" for each, where what is executed inside another task,
 * as a part of it, is not among the executed ones. The lines that make the tasks are marked.
 * The file is longer than 600 lines: all ways share the counters.
 */
public class TaskCounts {
	/* The counts of one way: handed on and executed. */
	static final class Count {
		Count more;
		final LongAdder handed = new LongAdder(), executed = new LongAdder(), inside = new LongAdder();
		void print(String way) {
			System.out.println(way + " " + handed.sum() + " " + (executed.sum() - inside.sum()) + " " + inside.sum());
		}
		void await() throws InterruptedException {
			while (executed.sum() < handed.sum())
				Thread.sleep(1);
		}
	}

	interface Way { void go(Count c, int n) throws Exception; }

	static long sink;

	static void close(ExecutorService e) throws InterruptedException {
		e.shutdown();
		e.awaitTermination(100, TimeUnit.SECONDS);
	}

	/* An Executor of the program, which hands on what it is given. */
	static final class Relay implements Executor {
		final Executor next;
		Relay(Executor next) { this.next = next; }
		@Override public void execute(Runnable task) { next.execute(task); }
	}

	/* Akka's way: the object is a Runnable and a ForkJoinTask, and each layer hands it on. */
	static final class Actors extends ForkJoinPool {
		Actors() { super(2); }
		@Override public void execute(Runnable task) { super.execute((ForkJoinTask<?>) task); }
	}

	static final class Mailbox extends ForkJoinTask<Void> implements Runnable {
		final Executor executor;
		final Count count;
		int left;
		Mailbox(Executor executor, Count count, int left) { this.executor = executor; this.count = count; this.left = left; }
		@Override public Void getRawResult() { return null; }
		@Override protected void setRawResult(Void v) { }
		@Override protected boolean exec() { run(); return false; }
		@Override public void run() {
			count.executed.increment();
			if (--left > 0) {
				count.handed.increment();
				executor.execute(this);
			}
		}
	}

	static void pool(Count c, int n) throws Exception {
		ExecutorService e = Executors.newFixedThreadPool(2);
		for (int i = 0; i < n; i++) {
			int k = i;
			c.handed.increment();
			e.execute(() -> { sink += k; c.executed.increment(); }); // task: pool
		}
		close(e);
	}

	static void callable(Count c, int n) throws Exception {
		ExecutorService e = Executors.newSingleThreadExecutor();
		for (int i = 0; i < n; i++) {
			int k = i;
			c.handed.increment();
			e.submit(() -> { c.executed.increment(); return k; }); // task: callable
		}
		close(e);
	}

	static void reused(Count c, int n) throws Exception {
		Runnable one = c.executed::increment; // task: reused
		for (int i = 0; i < n; i++) {
			c.handed.increment();
			CompletableFuture<Void> f = CompletableFuture.runAsync(one);
			if (i % 16 == 0)
				f.join();
		}
		c.await();
	}

	static void relayed(Count c, int n) throws Exception {
		ExecutorService e = Executors.newFixedThreadPool(2);
		Executor relay = new Relay(new Relay(e)), lambda = x -> relay.execute(x);
		Runnable one = c.executed::increment; // task: relayed
		for (int i = 0; i < n; i++) {
			c.handed.increment();
			(i % 2 == 0 ? relay : lambda).execute(one);
		}
		close(e);
	}

	static void mailboxes(Count c, int n) throws Exception {
		Actors pool = new Actors();
		Executor relay = new Relay(new Relay(pool));
		for (int i = 0; i < 4; i++) {
			c.handed.increment();
			relay.execute(new Mailbox(relay, c, n / 4)); // task: mailboxes
		}
		c.await();
		close(pool);
	}

	/* The submission is part of a task that the caller had to run, in the middle of another one. */
	static void callerRuns(Count c, int n) throws Exception {
		ThreadPoolExecutor e = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(4),
			new ThreadPoolExecutor.CallerRunsPolicy());
		for (int i = 0; i < n; i++) {
			int k = i;
			c.handed.increment();
			e.execute(() -> { sink += k; c.executed.increment(); }); // task: callerRuns
		}
		close(e);
	}

	/* A task that the first pool refuses goes to another one. */
	static void spilled(Count c, int n) throws Exception {
		ExecutorService second = Executors.newSingleThreadExecutor(), third = Executors.newSingleThreadExecutor();
		ThreadPoolExecutor e = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(4),
			(task, from) -> second.execute(task));
		ThreadPoolExecutor f = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(4));
		Executor either = new Executor() {
			@Override public void execute(Runnable task) {
				try {
					f.execute(task);
				} catch (RejectedExecutionException x) {
					third.execute(task);
				}
			}
		};
		for (int i = 0; i < n; i++) {
			int k = i;
			Runnable one = () -> { sink += k; c.executed.increment(); }; // task: spilled
			c.handed.increment();
			(i % 2 == 0 ? e : either).execute(one);
		}
		close(e);
		close(f);
		close(second);
		close(third);
	}

	static void scheduled(Count c, int n) throws Exception {
		ScheduledExecutorService e = Executors.newScheduledThreadPool(2);
		for (int i = 0; i < n; i++) {
			int k = i;
			Runnable one = () -> { sink += k; c.executed.increment(); }; // task: scheduled
			c.handed.increment();
			if (i % 3 == 0)
				e.execute(one);
			else if (i % 3 == 1)
				e.submit(one);
			else
				e.schedule(one, 1, TimeUnit.MICROSECONDS);
		}
		close(e);
	}

	static void invokeAll(Count c, int n) throws Exception {
		ExecutorService e = Executors.newFixedThreadPool(2), f = new ForkJoinPool(2);
		for (int i = 0; i < n / 20; i++) {
			List<Callable<Integer>> ten = new ArrayList<>();
			for (int j = 0; j < 10; j++) {
				int k = j;
				ten.add(() -> { c.executed.increment(); return k; }); // task: invokeAll
			}
			c.handed.add(20);
			e.invokeAll(ten);
			f.invokeAll(ten);
		}
		close(e);
		close(f);
	}

	static final class Pair extends RecursiveAction {
		final Count count;
		final int n;
		Pair(Count count, int n) { this.count = count; this.n = n; }
		@Override protected void compute() {
			count.executed.increment();
			if (n > 0) {
				count.handed.add(2);
				invokeAll(new Pair(count, n - 1), new Pair(count, n - 1)); // task: pairs
			}
		}
	}

	static void pairs(Count c, int n) throws Exception {
		ForkJoinPool e = new ForkJoinPool(2);
		Pair root = new Pair(c, 31 - Integer.numberOfLeadingZeros(n));
		e.invoke(root);
		c.executed.decrement(); // the root is made elsewhere
		close(e);
	}

	/* The usual divide and conquer: one half is forked, the other one computed by a call. */
	static final class Half extends RecursiveTask<Integer> {
		final Count count;
		final int n;
		Half(Count count, int n) { this.count = count; this.n = n; }
		@Override protected Integer compute() {
			count.executed.increment();
			if (n == 0)
				return 1;
			Half left = new Half(count, n - 1), right = new Half(count, n - 1); // task: halves
			count.handed.increment();
			count.inside.increment();
			left.fork();
			return right.compute() + left.join();
		}
	}

	static void halves(Count c, int n) throws Exception {
		ForkJoinPool e = new ForkJoinPool(2);
		int depth = 31 - Integer.numberOfLeadingZeros(n);
		if (e.invoke(new Half(c, depth)) != 1 << depth)
			throw new AssertionError("halves");
		c.executed.decrement(); // the root is made elsewhere
		close(e);
	}

	/* Likewise without a result, in a class that inherits compute() from one of the program's. */
	static class Strip extends RecursiveAction {
		final Count count;
		final int n;
		Strip(Count count, int n) { this.count = count; this.n = n; }
		Strip next() { return new Strip(count, n - 1); }
		@Override protected void compute() {
			count.executed.increment();
			for (int i = 0; i < 4 && n > 0; i++) {
				Strip strip = next();
				if (i == 0) {
					count.handed.increment();
					strip.fork();
					strip.join();
				} else {
					count.inside.increment();
					strip.compute();
				}
			}
		}
	}

	static final class LongStrip extends Strip {
		LongStrip(Count count, int n) { super(count, n); }
		@Override Strip next() { return new LongStrip(count, n - 1); } // task: strips
	}

	static void strips(Count c, int n) throws Exception {
		ForkJoinPool e = new ForkJoinPool(2);
		e.invoke(new LongStrip(c, (31 - Integer.numberOfLeadingZeros(n)) / 2));
		c.executed.decrement();
		close(e);
	}

	static final class Sum extends CountedCompleter<Void> {
		final Count count;
		final int from, to;
		Sum(Sum parent, Count count, int from, int to) {
			super(parent);
			this.count = count;
			this.from = from;
			this.to = to;
		}
		@Override public void compute() {
			count.executed.increment();
			if (to - from > 1) {
				int middle = from + to >>> 1;
				setPendingCount(2);
				Sum right = new Sum(this, count, middle, to), left = new Sum(this, count, from, middle); // task: completers
				count.handed.increment();
				count.inside.increment();
				right.fork();
				left.compute();
			}
			tryComplete();
		}
	}

	static void completers(Count c, int n) throws Exception {
		ForkJoinPool e = new ForkJoinPool(2);
		e.invoke(new Sum(null, c, 0, n));
		c.executed.decrement();
		close(e);
	}

	static void stages(Count c, int n) throws Exception {
		ExecutorService e = Executors.newFixedThreadPool(2);
		for (int i = 0; i < n; i++) {
			CompletableFuture<Integer> f = new CompletableFuture<>();
			c.handed.increment();
			f.thenApply(x -> x + 1).thenAcceptAsync(x -> c.executed.increment(), i % 2 == 0 ? e : x -> e.execute(x)); // task: stages
			f.complete(i);
		}
		c.await();
		close(e);
	}

	private final BlockingQueue<Runnable> jobs = new LinkedBlockingQueue<>();

	private void loop() {
		for (Runnable job = take(); job != null; job = take())
			job.run();
	}

	private Runnable take() {
		try {
			return jobs.poll(500, TimeUnit.MILLISECONDS);
		} catch (InterruptedException e) {
			return null;
		}
	}

	/* Workers of the program's own, on threads that know nothing but a loop. */
	static void handMade(Count c, int n) throws Exception {
		TaskCounts workers = new TaskCounts();
		Thread[] threads = { new Thread(workers::loop), new Thread(() -> workers.loop()) };
		for (Thread t : threads)
			t.start();
		for (int i = 0; i < n; i++) {
			int k = i;
			workers.jobs.put(() -> { sink += k; c.executed.increment(); }); // task: handMade
		}
		for (Thread t : threads)
			t.join();
	}

	/* A task that runs another one: decorators are one task with what they are given. */
	static final class Wrapper implements Runnable {
		final Runnable wrapped;
		Wrapper(Runnable wrapped) { this.wrapped = wrapped; }
		@Override public void run() { wrapped.run(); }
	}

	private void startWrapped(ExecutorService pool, int workers) {
		for (int i = 0; i < workers; i++) {
			if (i % 4 == 0)
				pool.execute(this::loop);
			else if (i % 4 == 1)
				pool.execute(new Wrapper(this::loop));
			else if (i % 4 == 2)
				pool.submit(new Wrapper(new Wrapper(this::loop)));
			else
				new Thread(new Wrapper(new Wrapper(this::loop))).start();
		}
	}

	/*
	 * Loops that are tasks of a pool, or wrapped in tasks. Jobs are in their queue before them: those of a
	 * loop that was submitted are its parts.
	 */
	static void queuedBefore(Count c, int n) throws Exception {
		ExecutorService pool = Executors.newCachedThreadPool();
		TaskCounts workers = new TaskCounts();
		for (int i = 0; i < n; i++) {
			int k = i;
			workers.jobs.put(() -> { // task: queuedBefore
				sink += k;
				c.executed.increment();
				if (Thread.currentThread().getName().startsWith("pool"))
					c.inside.increment();
			});
		}
		workers.startWrapped(pool, 8);
		while (c.executed.sum() < n)
			Thread.sleep(1);
		close(pool);
	}

	/* Likewise, while they run; and of all jobs each makes another one, which the loops execute later. */
	static void queuedLater(Count c, int n) throws Exception {
		ExecutorService pool = Executors.newCachedThreadPool();
		TaskCounts workers = new TaskCounts();
		c.more = new Count();
		workers.startWrapped(pool, 8);
		for (int i = 0; i < n; i += 2) {
			workers.jobs.put(() -> { // task: queuedLater
				c.executed.increment();
				workers.jobs.add(new Job(c.more)); // task: madeByJobs
			});
		}
		while (c.more.executed.sum() < n / 2)
			Thread.sleep(1);
		close(pool);
		c.more.print("madeByJobs");
	}

	static final class Job implements Runnable {
		final Count count;
		Job(Count count) { this.count = count; }
		@Override public void run() { count.executed.increment(); }
	}

	/* One object, many times, and before the loops. */
	static void queuedAgain(Count c, int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		TaskCounts workers = new TaskCounts();
		c.inside.add(n);
		Runnable one = c.executed::increment; // task: queuedAgain
		for (int i = 0; i < n; i++)
			workers.jobs.put(one);
		pool.execute(workers::loop);
		pool.execute(workers::loop);
		close(pool);
	}

	/* An Executor of the program's that drains its queue in a task of another one. */
	static final class Serial implements Executor, Runnable {
		final Executor next;
		final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
		boolean active;
		Serial(Executor next) { this.next = next; }
		@Override public synchronized void execute(Runnable task) {
			queue.add(task);
			if (!active) {
				active = true;
				next.execute(this);
			}
		}
		@Override public void run() {
			for (int i = 0; ; i++) {
				Runnable task;
				synchronized (this) {
					task = queue.poll();
					if (task == null || i == 3) {
						active = task != null;
						if (active) {
							next.execute(this);
							queue.add(task);
						}
						return;
					}
				}
				task.run();
			}
		}
	}

	static void serial(Count c, int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		Serial serial = new Serial(pool);
		for (int i = 0; i < n; i++) {
			int k = i;
			c.handed.increment();
			serial.execute(() -> { sink += k; c.executed.increment(); }); // task: serial
			if (i % 100 == 0)
				c.await();
		}
		c.await();
		close(pool);
	}

	/* The task that a decorator gets is a part of it. */
	static void decorated(Count c, int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < n; i++) {
			int k = i;
			Runnable given = () -> { sink += k; c.executed.increment(); c.inside.increment(); }; // task: decorated
			pool.execute(i % 2 == 0 ? new Wrapper(given) : () -> given.run());
		}
		close(pool);
	}

	static void delayed(Count c, int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		Executor later = CompletableFuture.delayedExecutor(10, TimeUnit.MICROSECONDS, pool);
		for (int i = 0; i < n / 4; i++) {
			int k = i;
			Runnable one = () -> { sink += k; c.executed.increment(); }; // task: delayed
			c.handed.increment();
			if (i % 2 == 0)
				later.execute(one);
			else
				CompletableFuture.runAsync(one, later);
		}
		c.await();
		close(pool);
	}

	/* No task, and run by the program itself as well. */
	static class Worked {
		Count count;
		public void run() { count.executed.increment(); }
		public Object call() { count.executed.increment(); return null; }
	}
	static class WorkedToo extends Worked { }
	static class Heir extends WorkedToo implements Runnable { }
	static final class Heiress extends Worked implements Callable<Object> { }
	static final class Grandchild extends Heir { }

	static <T extends Worked> T with(T worked, Count c) {
		worked.count = c;
		return worked;
	}

	static void inherited(Count c, int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		Worked none = with(new Worked(), c);
		for (int i = 0; i < n; i++) {
			none.run();
			c.executed.decrement();
			c.handed.increment();
			if (i % 3 == 0)
				pool.execute(with(new Heir(), c)); // task: inherited
			else if (i % 3 == 1)
				pool.submit((Runnable) with(new Grandchild(), c)); // task: inherited2
			else
				pool.submit((Callable<Object>) with(new Heiress(), c)); // task: inherited3
		}
		close(pool);
	}

	interface Counted extends Runnable {
		Count count();
		@Override default void run() { count().executed.increment(); }
	}
	interface CountedCall extends Callable<Integer> {
		Count count();
		@Override default Integer call() { count().executed.increment(); return 1; }
	}
	static class Default implements Counted {
		final Count count;
		Default(Count count) { this.count = count; }
		@Override public Count count() { return count; }
	}
	static final class DefaultCall extends ArrayList<String> implements CountedCall {
		final Count count;
		DefaultCall(Count count) { this.count = count; }
		@Override public Count count() { return count; }
	}

	static void defaults(Count c, int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < n; i++) {
			c.handed.increment();
			if (i % 2 == 0)
				pool.execute(new Default(c)); // task: defaults
			else
				pool.submit((Callable<Integer>) new DefaultCall(c)); // task: defaults2
		}
		close(pool);
	}

	static void run(String name, int n, Way way) throws Exception {
		Count c = new Count();
		way.go(c, n);
		c.print(name);
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		run("pool", n, TaskCounts::pool);
		run("callable", n, TaskCounts::callable);
		run("reused", n, TaskCounts::reused);
		run("relayed", n, TaskCounts::relayed);
		run("mailboxes", n, TaskCounts::mailboxes);
		run("callerRuns", n, TaskCounts::callerRuns);
		run("spilled", n, TaskCounts::spilled);
		run("scheduled", n, TaskCounts::scheduled);
		run("invokeAll", n, TaskCounts::invokeAll);
		run("pairs", n, TaskCounts::pairs);
		run("halves", n, TaskCounts::halves);
		run("strips", n, TaskCounts::strips);
		run("completers", n, TaskCounts::completers);
		run("stages", n, TaskCounts::stages);
		run("handMade", n, TaskCounts::handMade);
		run("delayed", n, TaskCounts::delayed);
		run("inherited", n, TaskCounts::inherited);
		run("defaults", n, TaskCounts::defaults);
		run("queuedBefore", n, TaskCounts::queuedBefore);
		run("queuedLater", n, TaskCounts::queuedLater);
		run("queuedAgain", n, TaskCounts::queuedAgain);
		run("serial", n, TaskCounts::serial);
		run("decorated", n, TaskCounts::decorated);
	}
}
