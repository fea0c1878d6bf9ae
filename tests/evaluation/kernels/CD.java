import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Detects collisions of simulated aircraft. Each aircraft moves from where it was in the frame before to where it is
 * now; squares of the sky that the way touches are found from the first on, and where a square has several aircraft,
 * the time at which two of them are nearer than a distance is computed. With a hundred aircraft and two hundred frames
 * it finds 4305, as is published for this problem in "Are We Fast Yet?". Argument: how often.
 */
public final class CD {
	private static final int AIRCRAFT = 100, FRAMES = 200, COLLISIONS = 4305;
	private static final double NEAR = 1, SQUARE = 2 * NEAR, SIDE = 1000, HEIGHT = 10;

	private record Point(double x, double y, double z) {
		Point plus(Point p) { return new Point(x + p.x, y + p.y, z + p.z); }

		Point minus(Point p) { return new Point(x - p.x, y - p.y, z - p.z); }

		Point times(double n) { return new Point(x * n, y * n, z * n); }

		double dot(Point p) { return x * p.x + y * p.y + z * p.z; }

		boolean inSky() {
			return x >= 0 && x <= SIDE && y >= 0 && y <= SIDE && z >= 0 && z <= HEIGHT;
		}
	}

	private record Square(int x, int y) implements Comparable<Square> {
		static Square of(Point p) {
			return new Square((int) Math.floor(p.x / SQUARE), (int) Math.floor(p.y / SQUARE));
		}

		boolean inSky() {
			return x >= 0 && x * SQUARE <= SIDE && y >= 0 && y * SQUARE <= SIDE;
		}

		@Override
		public int compareTo(Square other) {
			return x != other.x ? Integer.compare(x, other.x) : Integer.compare(y, other.y);
		}
	}

	private record Collision(int a, int b, Point where) {
	}

	private record Motion(int aircraft, Point from, Point to) {
		/** The point where two aircraft are near each other for the first time in this frame; null if they never are. */
		Point meets(Motion other) {
			Point apart = from.minus(other.from), way = to.minus(from), otherWay = other.to.minus(other.from);
			Point relative = way.minus(otherWay);
			double a = relative.dot(relative), c = apart.dot(apart) - NEAR * NEAR;
			if (a == 0)
				return c <= 0 ? from.plus(other.from).times(0.5) : null;
			double b = 2 * apart.dot(relative), root = b * b - 4 * a * c;
			if (root < 0)
				return null;
			double first = (-b - Math.sqrt(root)) / (2 * a), last = (-b + Math.sqrt(root)) / (2 * a);
			if (last < 0 || first > 1)
				return null;
			double when = Math.max(0, first);
			Point where = from.plus(way.times(when)).plus(other.from.plus(otherWay.times(when))).times(0.5);
			return where.inSky() ? where : null;
		}

		/** Does the way touch the square, of which half the distance around belongs to it? */
		boolean touches(Square square) {
			double begin = 0, end = 1;
			double[] at = { from.x, from.y }, way = { to.x - from.x, to.y - from.y };
			double[] low = { square.x * SQUARE - NEAR / 2, square.y * SQUARE - NEAR / 2 };
			for (int i = 0; i < 2; i++) {
				double high = low[i] + SQUARE + NEAR;
				if (way[i] == 0) {
					if (at[i] < low[i] || at[i] > high)
						return false;
					continue;
				}
				double enter = (low[i] - at[i]) / way[i], leave = (high - at[i]) / way[i];
				begin = Math.max(begin, Math.min(enter, leave));
				end = Math.min(end, Math.max(enter, leave));
			}
			return begin <= end;
		}
	}

	private final Map<Integer, Point> before = new TreeMap<>();

	/** Adds the motion to all squares that it touches, from one square to those beside it. */
	private static void draw(Motion motion, Square square, Set<Square> seen, Map<Square, List<Motion>> sky) {
		if (!square.inSky() || !motion.touches(square) || !seen.add(square))
			return;
		sky.computeIfAbsent(square, s -> new ArrayList<>()).add(motion);
		for (int x = -1; x <= 1; x++)
			for (int y = -1; y <= 1; y++)
				if (x != 0 || y != 0)
					draw(motion, new Square(square.x + x, square.y + y), seen, sky);
	}

	private List<Motion> motions(double time) {
		List<Motion> motions = new ArrayList<>();
		for (int i = 0; i < AIRCRAFT; i++) {
			double turn = i % 2 == 0 ? Math.cos(time) : Math.sin(time);
			Point to = new Point(time, turn * 2 + (i & ~1) * 3, HEIGHT);
			Point from = before.put(i, to);
			motions.add(new Motion(i, from == null ? to : from, to));
		}
		return motions;
	}

	private List<Collision> frame(double time) {
		Map<Square, List<Motion>> sky = new TreeMap<>();
		for (Motion motion : motions(time))
			draw(motion, Square.of(motion.from), new HashSet<>(), sky);
		List<Collision> found = new ArrayList<>();
		for (List<Motion> together : sky.values()) {
			for (int i = 0; i < together.size(); i++) {
				for (int k = i + 1; k < together.size(); k++) {
					Motion a = together.get(i), b = together.get(k);
					Point where = a.meets(b);
					if (where != null)
						found.add(new Collision(a.aircraft, b.aircraft, where));
				}
			}
		}
		return found;
	}

	private static int run() {
		CD detector = new CD();
		Map<Integer, Integer> byAircraft = new HashMap<>();
		int collisions = 0;
		for (int i = 0; i < FRAMES; i++) {
			for (Collision c : detector.frame(i / 10.0)) {
				byAircraft.merge(c.a, 1, Integer::sum);
				collisions++;
			}
		}
		Result.check(byAircraft.values().stream().mapToInt(n -> n).sum() == collisions, "collisions without aircraft");
		return collisions;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int collisions = run();
			Result.check(collisions == COLLISIONS, collisions + " collisions");
			sum += collisions;
		}
		Result.is(sum);
	}
}
