import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/*
 * Advice MODE SECONDS: programs that wait for objects for which a certain change is known to help, and the same
 * programs with that change. Each runs for SECONDS of CPU time.
 */
public final class Advice {
	static final int MANY = 1 << 20;
	static volatile long sink;

	static Long[] boxes;
	static long[] numbers;
	static List<Integer> list;
	static Map<Integer, Item> hash;
	static TreeMap<Integer, Item> tree;
	static LinkedList<Item> linked;
	static Node chain;
	static Point[] points;
	static Flat[] flats;
	static Item[] items;
	static Order[] orders;
	static Shape[] shapes;

	static final class Item { int rank; long a, b, c, d, e, f, g; Item(int r) { rank = r; } }
	static final class Node { Node next; long value; long a, b, c, d, e; Node(long v) { value = v; } }
	static final class Point { final double[] xy; Point(double x) { xy = new double[] { x, x + 1 }; } }
	static final class Flat { double x, y; Flat(double v) { x = v; y = v + 1; } }
	static final class Order { final Item item; Order(Item i) { item = i; } }
	interface Shape { int corners(); }
	static final class Square implements Shape { public int corners() { return 4; } }
	static final class Circle implements Shape { public int corners() { return 0; } }
	static final class Triangle implements Shape { public int corners() { return 3; } }
	static final class Star implements Shape { public int corners() { return 10; } }

	/* The numbers below MANY, in an order that no prefetcher guesses. */
	static int[] order() {
		int[] order = new int[MANY];
		Random random = new Random(1);
		for (int i = 0; i < MANY; i++) {
			int k = random.nextInt(i + 1);
			order[i] = order[k];
			order[k] = i;
		}
		return order;
	}

	static void make(String mode, int[] order) {
		switch (mode) {
			case "boxes" -> {
				boxes = new Long[MANY];
				for (int i : order)
					boxes[i] = (long) i << 10;
			}
			case "numbers" -> {
				numbers = new long[MANY];
				for (int i : order)
					numbers[i] = (long) i << 10;
			}
			case "list" -> {
				list = new ArrayList<>();
				for (int i : order)
					list.add(i << 8);
			}
			case "hash" -> {
				hash = new HashMap<>();
				for (int i : order)
					hash.put(i << 4, new Item(i));
			}
			case "tree" -> {
				tree = new TreeMap<>();
				for (int i : order)
					tree.put(i << 4, new Item(i));
			}
			case "linked" -> {
				linked = new LinkedList<>();
				for (int i = 0; i < MANY; i++)
					linked.add(new Item(i));
			}
			case "chain" -> {
				Node[] nodes = new Node[MANY];
				for (int i = 0; i < MANY; i++)
					nodes[i] = new Node(i);
				for (int i = 1; i < MANY; i++)
					nodes[order[i - 1]].next = nodes[order[i]];
				chain = nodes[order[0]];
			}
			case "points" -> {
				points = new Point[MANY];
				for (int i : order)
					points[i] = new Point(i);
			}
			case "flats" -> {
				flats = new Flat[MANY];
				for (int i : order)
					flats[i] = new Flat(i);
			}
			case "items" -> {
				items = new Item[MANY];
				for (int i : order)
					items[i] = new Item(i);
			}
			case "orders" -> {
				orders = new Order[MANY];
				for (int i : order)
					orders[i] = new Order(new Item(i));
				for (int i = 1; i < MANY; i++)
					orders[i] = new Order(orders[order[i]].item);
			}
			case "shapes" -> {
				shapes = new Shape[MANY];
				for (int i : order)
					shapes[i] = switch (i * 31 >>> 3 & 3) {
						case 0 -> new Square();
						case 1 -> new Circle();
						case 2 -> new Triangle();
						default -> new Star();
					};
			}
			default -> throw new IllegalArgumentException(mode);
		}
	}

	static long boxes() {
		long sum = 0;
		for (Long b : boxes)
			sum += b;
		return sum;
	}

	static long numbers() {
		long sum = 0;
		for (int i = 0, x = 1; i < MANY; i++) {
			x = x * 1664525 + 1013904223;
			sum += numbers[x >>> 12];
		}
		return sum;
	}

	static long list() {
		long sum = 0;
		for (int i = 0, x = 1; i < MANY; i++) {
			x = x * 1664525 + 1013904223;
			sum += list.get(x >>> 12);
		}
		return sum;
	}

	static long look(Map<Integer, Item> map) {
		long sum = 0;
		for (int i = 0, x = 1; i < MANY; i++) {
			x = x * 1664525 + 1013904223;
			sum += map.get((x >>> 12) << 4).hashCode() & 1;
		}
		return sum;
	}

	static long linked() {
		long sum = 0;
		for (Item i : linked)
			sum += i.rank;
		return sum;
	}

	static long chain() {
		long sum = 0;
		for (Node n = chain; n != null; n = n.next)
			sum += n.value;
		return sum;
	}

	static double points() {
		double sum = 0;
		for (Point p : points)
			sum += p.xy[0] * p.xy[1];
		return sum;
	}

	static double flats() {
		double sum = 0;
		for (Flat f : flats)
			sum += f.x * f.y;
		return sum;
	}

	static long items() {
		long sum = 0;
		for (Item i : items)
			sum += i.rank;
		return sum;
	}

	static long orders() {
		long sum = 0;
		for (Order o : orders)
			sum += o.item.rank;
		return sum;
	}

	static long shapes() {
		long sum = 0;
		for (Shape s : shapes)
			sum += s.corners();
		return sum;
	}

	static long cpu() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	public static void main(String[] args) {
		String mode = args[0];
		long rounds = 0;
		make(mode, order());
		for (long end = cpu() + (long) (Double.parseDouble(args[1]) * 1e9); cpu() < end; rounds++)
			sink += switch (mode) {
				case "boxes" -> boxes();
				case "numbers" -> numbers();
				case "list" -> list();
				case "hash" -> look(hash);
				case "tree" -> look(tree);
				case "linked" -> linked();
				case "chain" -> chain();
				case "points" -> (long) points();
				case "flats" -> (long) flats();
				case "items" -> items();
				case "orders" -> orders();
				default -> shapes();
			};
		System.out.println(rounds);
	}
}
