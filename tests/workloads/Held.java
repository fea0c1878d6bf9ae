import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/*
 * Holds objects in ways that tests/e2e/test_holders.py knows, each class in one way. Prints "ready",
 * and ends at the end of its input.
 *
 * Usage: Held [MANY]: it holds so many more objects.
 */
public final class Held {
	interface Marked {
		Object MARK = new InInterface();
		int LEVEL = new Object().hashCode();
	}

	interface Named extends Marked {
		Object NAME = new Object();
	}

	static class Base implements Marked {
		static Object shared = new Object();
		long number;
		Object low = new InBase();
	}

	static final class Derived extends Base implements Named, Runnable {
		int count;
		Object other = new Object();
		Object high = new InDerived();

		@Override
		public void run() {}
	}

	static final class InInterface {}

	static final class InBase {}

	static final class InDerived {}

	static final class InMap {}

	static final class InList {}

	static final class InLinked {}

	static final class Link {
		final Link next;
		final InLinked item;

		Link(Link next, InLinked item) {
			this.next = next;
			this.item = item;
		}
	}

	static final class InThread {}

	static final class InLocal {}

	static final class InWeak {}

	static final class InTwo {}

	static final class Button {
		final List<Runnable> listeners = new CopyOnWriteArrayList<>();
	}

	static final class Window {
		final class Pressed implements Runnable {
			@Override
			public void run() {
				seen = Window.this;
			}
		}
	}

	static volatile Object seen;

	static final Map<Integer, InMap> cache = new HashMap<>();
	static final List<InList> list = new ArrayList<>();
	static Link first;
	static final ThreadLocal<InThread> local = new ThreadLocal<>();
	static final Button button = new Button();
	static final Derived derived = new Derived();
	static final InTwo[] some = new InTwo[12];
	static final Map<Integer, InTwo> others = new HashMap<>();
	static WeakReference<InWeak> weak;
	static Object[] deep;
	static Object[] many;

	private static void fill() {
		final InWeak object = new InWeak();

		for (int i = 0; i < 1000; i++) {
			cache.put(i, new InMap());
			list.add(new InList());
			first = new Link(first, new InLinked());
		}
		for (int i = 0; i < 12; i++)
			some[i] = new InTwo();
		for (int i = 0; i < 4; i++)
			others.put(i, new InTwo());
		for (int i = 0; i < 3; i++)
			button.listeners.add(new Window().new Pressed());
		weak = new WeakReference<>(object);
		deep = new Object[] { new Object[] { object } };
		seen = Marked.MARK;
		seen = null;
		local.set(new InThread());
	}

	private static void hold() throws Exception {
		final InLocal held = new InLocal();

		System.out.println("ready");
		System.out.flush();
		while (System.in.read() >= 0) {}
		seen = held;
	}

	public static void main(String[] args) throws Exception {
		many = new Object[args.length > 0 ? Integer.parseInt(args[0]) : 0];
		for (int i = 0; i < many.length; i++)
			many[i] = new Object();
		fill();
		hold();
	}
}
