import java.util.ArrayList;
import java.util.List;

/*
 * Allocates on one line per group, reached by call paths of known frequency in random order.
 *
 * Usage: Paths ALLOCATIONS_PER_GROUP
 *
 * Prints one line of JSON: per group, the allocations of each path. A path is named by a marker
 * comment ("path: NAME") on the source line that tells it from the others of its group:
 *   lines      three calls in one method: same methods, same frames, another return address
 *   methods    three methods of equal shape: same depth and frame sizes
 *   dispatch   three receivers of one interface call
 *   recursion  the same methods at three depths
 */
public final class Paths {
	static final int[] PERCENT = {60, 30, 10};
	static volatile Object sink;

	static long random = 42;

	/* 0, 1 or 2, with the frequencies of PERCENT. */
	static int draw() {
		random = random * 6364136223846793005L + 1442695040888963407L;
		int x = (int) ((random >>> 33) % 100);
		return x < PERCENT[0] ? 0 : x < PERCENT[0] + PERCENT[1] ? 1 : 2;
	}

	static void linesAllocate() { sink = new byte[2000]; }
	static void linesMiddle() { linesAllocate(); }

	static void lines(int which) {
		switch (which) {
		case 0:
			linesMiddle(); // path: lines-first
			break;
		case 1:
			linesMiddle(); // path: lines-second
			break;
		default:
			linesMiddle(); // path: lines-third
		}
	}

	static void methodsAllocate(int n) { sink = new int[n]; }
	static int methodsFirst(int n) { methodsAllocate(n); return n + 1; }  // path: methods-first
	static int methodsSecond(int n) { methodsAllocate(n); return n + 2; } // path: methods-second
	static int methodsThird(int n) { methodsAllocate(n); return n + 3; }  // path: methods-third

	static void methods(int which) {
		if (which == 0)
			methodsFirst(500);
		else if (which == 1)
			methodsSecond(500);
		else
			methodsThird(500);
	}

	interface Maker {
		Object make(int n);
	}

	static long[] dispatchAllocate(int n) { return new long[n]; }

	static final class First implements Maker {
		public Object make(int n) { return dispatchAllocate(n); } // path: dispatch-first
	}

	static final class Second implements Maker {
		public Object make(int n) { return dispatchAllocate(n); } // path: dispatch-second
	}

	static final class Third implements Maker {
		public Object make(int n) { return dispatchAllocate(n); } // path: dispatch-third
	}

	static final Maker[] MAKERS = {new First(), new Second(), new Third()};

	static void dispatch(int which) { sink = MAKERS[which].make(250); }

	static final int[] DEPTHS = {4, 12, 40};

	static short[] recursionAllocate(int depth) {
		if (depth > 1)
			return recursionAllocate(depth - 1);
		return new short[1000];
	}

	static void recursion(int which) { sink = recursionAllocate(DEPTHS[which]); }

	interface Group {
		void once(int which);
	}

	static int[] run(Group g, int n) {
		int[] counts = new int[3];
		for (int i = 0; i < n; i++) {
			int which = draw();
			counts[which]++;
			g.once(which);
		}
		return counts;
	}

	static String json(String name, int[] c) {
		return "\"" + name + "\":{\"first\":" + c[0] + ",\"second\":" + c[1] + ",\"third\":" + c[2] + "}";
	}

	public static void main(String[] args) {
		int n = Integer.parseInt(args[0]);
		List<String> parts = new ArrayList<>();
		parts.add(json("lines", run(Paths::lines, n)));
		parts.add(json("methods", run(Paths::methods, n)));
		parts.add(json("dispatch", run(Paths::dispatch, n)));
		parts.add(json("recursion", run(Paths::recursion, n)));
		System.out.println("{" + String.join(",", parts) + "}");
	}
}
