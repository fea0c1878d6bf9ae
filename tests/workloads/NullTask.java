import java.util.concurrent.Callable;

/** Calls run() and call() on null, throws from lambda expressions, and prints what the program sees. */
public class NullTask {
	static Runnable field;

	interface Body {
		void run() throws Exception;
	}

	static void show(Body body) {
		try {
			body.run();
		} catch (Exception e) {
			System.out.println(e);
			for (StackTraceElement frame : e.getStackTrace())
				System.out.println("  " + frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber());
		}
	}

	public static void main(String[] args) {
		for (int i = 0; i < 2; i++) {
			Runnable runnable = null;
			Callable<String> callable = null;

			show(() -> runnable.run());
			show(() -> ((java.util.function.Consumer<Runnable>) Runnable::run).accept(null));
			show(() -> ((java.util.concurrent.Executor) Runnable::run).execute(null));
			show(() -> callable.call());
			show(() -> field.run());
			show(() -> ((Runnable) () -> {
				throw new NullPointerException("of its own");
			}).run());
			show(() -> ((Callable<String>) () -> {
				throw new Exception("checked");
			}).call());
		}
	}
}
