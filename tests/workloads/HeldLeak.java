import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/*
 * Keeps what it makes in ways that tests/e2e/test_recorded_holders.py knows: each line in one way. Much
 * is made that nothing keeps.
 *
 * Usage: HeldLeak return|exit|halt|throw|wait. "wait" prints "ready", reads a line, and returns.
 */
public final class HeldLeak {
	interface Listener {
		void pressed();
	}

	static final class Button {
		final List<Listener> listeners = new CopyOnWriteArrayList<>();
	}

	static final class Page {
		final byte[] bytes = new byte[2000]; // LINE: page

		@Override
		public String toString() {
			return "page " + bytes.length;
		}
	}

	static final class Small {
		final int number;

		Small(int number) {
			this.number = number;
		}
	}

	static final Map<String, Page> cache = new HashMap<>();
	static final ThreadLocal<List<int[]>> local = ThreadLocal.withInitial(ArrayList::new);
	static final Button button = new Button();
	static final List<Small> small = new ArrayList<>();
	static volatile Object seen;

	private static void listen() {
		final long[] state = new long[300]; // LINE: listener

		button.listeners.add(() -> seen = state);
	}

	private static void fill() {
		for (int round = 0; round < 8; round++) {
			for (int i = 0; i < 200; i++) {
				cache.put("page " + round + " " + i, new Page());
				local.get().add(new int[400]); // LINE: local
				listen();
				seen = new short[1000]; // LINE: churn
			}
			for (int i = 0; i < 20_000; i++)
				small.add(new Small(i)); // LINE: small
			System.gc();
		}
	}

	public static void main(String[] args) throws Exception {
		fill();
		switch (args[0]) {
		case "exit":
			System.exit(3);
			break;
		case "halt":
			Runtime.getRuntime().halt(4);
			break;
		case "throw":
			throw new IllegalStateException("wanted");
		case "wait":
			System.out.println("ready");
			System.out.flush();
			while (System.in.read() > ' ') {}
			break;
		default:
			break;
		}
		System.out.println("done");
	}
}
