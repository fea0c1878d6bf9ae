import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Leaves tasks in each other in all ways but the straight one: by exceptions through several of them, by
 * stack overflow, and while compiled code is given up for the interpreter (a class is loaded that changes
 * what a call may reach). Counts what was executed: a line "way handed executed inside" for each.
 */
public class TasksUnwound {
	static final LongAdder executed = new LongAdder(), inside = new LongAdder();
	static long sink;

	static void print(String way, long handed) {
		System.out.println(way + " " + handed + " " + (executed.sum() - inside.sum()) + " " + inside.sum());
		executed.reset();
		inside.reset();
	}

	static void close(ExecutorService e) throws InterruptedException {
		e.shutdown();
		if (!e.awaitTermination(100, TimeUnit.SECONDS))
			throw new AssertionError("pool does not end");
	}

	/* One of many in each other; of each 7th the exception is caught by the third one around it. */
	static final class Throws implements Runnable {
		final int depth;
		final boolean fails;
		Throws(int depth, boolean fails) { this.depth = depth; this.fails = fails; }
		@Override public void run() {
			executed.increment();
			if (depth > 0)
				inside.increment();
			if (depth == 12) {
				if (fails)
					throw new IllegalStateException("wanted");
				return;
			}
			Throws next = new Throws(depth + 1, fails); // task: thrownThrough
			if (depth % 3 == 0)
				try {
					next.run();
				} catch (IllegalStateException e) {
					sink++;
					if (depth > 3)
						throw e;
				}
			else
				next.run();
		}
	}

	static void exceptions(int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < n; i++)
			pool.execute(new Throws(0, i % 7 == 0)); // task: outermost
		close(pool);
	}

	static class Deep implements Runnable {
		@Override public void run() {
			sink++;
			new Deep().run();
		}
	}

	/* Two frames of Java to each task, and no other way out than the overflow. */
	static class DeepToo extends Deep {
		@Override public void run() { next(); }
		void next() { new DeepToo().run(); }
	}

	/* Work after an overflow, on the same thread, is in none of the tasks that it has ended. */
	static void overflows(int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < n; i++) {
			int k = i;
			pool.execute(() -> { // task: overflows
				executed.increment();
				try {
					(k % 2 == 0 ? new Deep() : new DeepToo()).run();
				} catch (StackOverflowError e) {
					sink++;
				}
				Runnable after = () -> { executed.increment(); inside.increment(); };
				after.run();
			});
			for (int j = 0; j < 10; j++)
				pool.execute(() -> sink += k); // task: afterwards
		}
		close(pool);
	}

	abstract static class Shape {
		abstract int area(int x);
	}

	static final class Square extends Shape { @Override int area(int x) { return x * x; } }
	static final class S1 extends Shape { @Override int area(int x) { return x + 1; } }
	static final class S2 extends Shape { @Override int area(int x) { return x + 2; } }
	static final class S3 extends Shape { @Override int area(int x) { return x + 3; } }
	static final class S4 extends Shape { @Override int area(int x) { return x + 4; } }
	static volatile Shape shape;

	/* Nine in each other, with many local variables, so that frames of compiled code are large. */
	static final class Nested implements Runnable {
		final int depth, round;
		Nested(int depth, int round) { this.depth = depth; this.round = round; }
		@Override public void run() {
			executed.increment();
			if (depth > 0)
				inside.increment();
			long a = round, b = a * 3, c = b ^ a, d = c + b, e = d * 5, f = e ^ c, g = f + d, h = g * 7;
			if (depth < 8)
				new Nested(depth + 1, round).run(); // task: compiledAnew
			else if (round % 3000 == 2999)
				load(round / 3000);
			Shape s = shape;
			for (int i = 0; i < 50; i++)
				a += s.area(i) + b + c + d + e + f + g + h;
			sink += a;
		}
		static void load(int which) {
			try {
				if (which < 5)
					shape = (Shape) Class.forName("TasksUnwound$S" + (1 + which % 4)).getDeclaredConstructor().newInstance();
			} catch (ReflectiveOperationException e) {
				throw new AssertionError(e);
			}
		}
	}

	static void deoptimised(int n) throws Exception {
		shape = new Square();
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < n; i++)
			pool.execute(new Nested(0, i)); // task: compiledOutermost
		close(pool);
	}

	/* A loop that is compiled while it runs: its frame is another one at its end. */
	static void replaced(int n) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		for (int i = 0; i < 40; i++) {
			pool.execute(new Runnable() { // task: replaced
				@Override public void run() {
					executed.increment();
					long x = 0;
					for (int j = 0; j < n * 3; j++) {
						int k = j;
						x += k * 31L;
						if (j % 1000 == 0) {
							Runnable step = () -> { executed.increment(); inside.increment(); sink += k; };
							step.run();
						}
					}
					sink += x;
				}
			});
		}
		close(pool);
	}

	public static void main(String[] args) throws Exception {
		int n = Integer.parseInt(args[0]);
		exceptions(n);
		print("exceptions", n);
		overflows(40);
		print("overflows", 40);
		deoptimised(n);
		print("deoptimised", n);
		replaced(n);
		print("replaced", 40);
	}
}
