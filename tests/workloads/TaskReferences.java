import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Executes lambda expressions through the method references Runnable::run and Callable::call.
 *
 * Usage: TaskReferences COUNT
 *
 * Each kind of task is made on a line of its own, marked "task: NAME", COUNT times. Prints one line of
 * JSON: how often the tasks of each line ran.
 */
public final class TaskReferences {
	static final AtomicLong executor = new AtomicLong(), listed = new AtomicLong(), bound = new AtomicLong(),
			called = new AtomicLong(), stage = new AtomicLong();

	public static void main(String[] args) throws Exception {
		int count = Integer.parseInt(args[0]);
		Executor direct = Runnable::run;
		List<Runnable> tasks = new ArrayList<>();

		for (int i = 0; i < count; i++) {
			int k = i;
			direct.execute(() -> executor.addAndGet(k - k + 1)); // task: executor
			tasks.add(() -> listed.addAndGet(k - k + 1)); // task: listed
			Runnable target = () -> bound.addAndGet(k - k + 1); // task: bound
			Callable<Long> call = () -> called.addAndGet(k - k + 1); // task: called
			List.of(call).stream().map(TaskReferences::function).forEach(Runnable::run);
			each(target::run);
			CompletableFuture.runAsync(() -> stage.addAndGet(k - k + 1), Runnable::run).get(); // task: stage
		}
		tasks.forEach(Runnable::run);
		System.out.printf("{\"executor\":%d,\"listed\":%d,\"bound\":%d,\"called\":%d,\"stage\":%d}%n",
				executor.get(), listed.get(), bound.get(), called.get(), stage.get());
	}

	interface Call<T> {
		T get(Callable<T> from) throws Exception;
	}

	static Runnable function(Callable<Long> task) {
		return new Runnable() {
			@Override
			public void run() {
				Call<Long> call = Callable::call;

				try {
					call.get(task);
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			}
		};
	}

	/* A function object that is a task itself, and only calls another one: nothing of its own. */
	static void each(Runnable task) {
		task.run();
	}
}
