import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;

/*
 * Runs programs over objects that are far below any threshold, of classes that are known by construction.
 *
 * Usage: KnownClasses CPU_SECONDS_PER_PHASE [PHASE]...
 *
 * A phase is a method named after it (list, map, tree, strings, integers) that does nothing but
 * read objects of a few classes. All of them are made before, so that a sample on a path
 * through a phase's method is in one of its classes or in none of the heap. Which may be touched, and
 * which must be most of it, is printed as one line of JSON with the CPU time of each phase.
 */
public final class KnownClasses {
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static volatile Object garbage;
	static volatile long sink;

	static long cpu() { return THREADS.getCurrentThreadCpuTime(); }

	/* The order 0 .. n-1, shuffled, so that neighbours in a structure are none in memory. */
	static int[] shuffled(int n, long seed) {
		int[] order = new int[n];
		for (int i = 0; i < n; i++) {
			seed = seed * 6364136223846793005L + 1442695040888963407L;
			int j = (int) ((seed >>> 33) % (i + 1));
			order[i] = order[j];
			order[j] = i;
		}
		return order;
	}

	/* -- linked list: KnownClasses$Node and nothing else -- */

	static final class Node {
		Node next;
		long value;
	}

	static Node newList(int n) {
		Node[] nodes = new Node[n];
		for (int i = 0; i < n; i++)
			nodes[i] = new Node();
		int[] order = shuffled(n, 1);
		for (int i = 0; i < n; i++) {
			nodes[order[i]].next = nodes[order[(i + 1) % n]];
			nodes[i].value = i;
		}
		return nodes[0];
	}

	static Node at;

	static long list() {
		Node node = at;
		long sum = 0;
		for (int i = 0; i < 20_000; i++) {
			sum += node.value;
			node = node.next;
		}
		at = node;
		return sum;
	}

	/* -- binary tree: KnownClasses$Tree and nothing else -- */

	static final class Tree {
		final int key;
		Tree left, right;

		Tree(int key) { this.key = key; }
	}

	static Tree newTree(int n) {
		Tree root = null;
		for (int key : shuffled(n, 2))
			root = insert(root, key);
		return root;
	}

	static Tree insert(Tree root, int key) {
		Tree added = new Tree(key);
		if (root == null)
			return added;
		for (Tree t = root;;) {
			if (key < t.key) {
				if (t.left == null) {
					t.left = added;
					return root;
				}
				t = t.left;
			} else {
				if (t.right == null) {
					t.right = added;
					return root;
				}
				t = t.right;
			}
		}
	}

	static Tree root;
	static int treeSize, treeKey = 1;

	static long tree() {
		long depth = 0;
		int key = treeKey;
		for (int i = 0; i < 2_000; i++) {
			key = key * 1664525 + 1013904223;
			int wanted = (key >>> 1) % treeSize;
			Tree t = root;
			while (t.key != wanted) {
				t = wanted < t.key ? t.left : t.right;
				depth++;
			}
		}
		treeKey = key;
		return depth;
	}

	/* -- hash map: its table, its nodes, and the keys and values, of classes of their own -- */

	static final class Key {
		final int id;

		Key(int id) { this.id = id; }

		@Override
		public int hashCode() { return id * 0x9e3779b9; }

		@Override
		public boolean equals(Object o) { return o instanceof Key && ((Key) o).id == id; }
	}

	static final class Value {
		final long n;

		Value(long n) { this.n = n; }
	}

	static Map<Key, Value> hash;
	static Key[] probes;

	static Map<Key, Value> newMap(int n) {
		Map<Key, Value> m = new HashMap<>(n);
		for (int id : shuffled(n, 3))
			m.put(new Key(id), new Value(id));
		probes = new Key[1024];
		return m;
	}

	static int probe;

	static long map() {
		long sum = 0;
		int from = probe;
		for (int i = 0; i < 4_000; i++) {
			from = from * 1664525 + 1013904223;
			sum += hash.get(probes[from >>> 22]).n;
		}
		probe = from;
		return sum;
	}

	/* -- strings: compared, hashed, searched: String and byte[], and the array that holds them -- */

	static String[] words;

	static String[] newWords(int n) {
		String[] made = new String[n];
		for (int i : shuffled(n, 4))
			made[i] = new String("a word that is number " + i / 2 + " of many");
		return made;
	}

	static int word;

	static long strings() {
		long sum = 0;
		int from = word;
		for (int i = 0; i < 4_000; i++) {
			from = from * 1664525 + 1013904223;
			int a = (from >>> 1) % words.length;
			String x = words[a], y = words[a ^ 1];
			sum += x.equals(y) ? 1 : x.compareTo(y);
			sum += x.indexOf("many") + x.charAt(a % x.length());
		}
		word = from;
		return sum;
	}

	/* -- boxed integers: Integer and the array that holds them -- */

	static Integer[] boxes;

	static Integer[] newBoxes(int n) {
		Integer[] made = new Integer[n];
		for (int i : shuffled(n, 5))
			made[i] = Integer.valueOf(1000 + i);
		return made;
	}

	static long integers() {
		long sum = 0;
		for (int i = 0; i < boxes.length; i++)
			sum += boxes[i];
		return sum;
	}

	/* -- running them -- */

	static long step(String phase) {
		switch (phase) {
		case "list": return list();
		case "tree": return tree();
		case "map": return map();
		case "strings": return strings();
		case "integers": return integers();
		default: throw new IllegalArgumentException(phase);
		}
	}

	static void make(String phase) {
		switch (phase) {
		case "list": at = newList(400_000); break;
		case "tree":
			treeSize = 200_000;
			root = newTree(treeSize);
			break;
		case "map":
			hash = newMap(200_000);
			int[] order = shuffled(200_000, 6);
			for (int i = 0; i < probes.length; i++)
				probes[i] = new Key(order[i]);
			break;
		case "strings": words = newWords(100_000); break;
		default: boxes = newBoxes(400_000);
		}
	}

	/*
	 * Names as reports have them: first those that must be most of the samples, then those that may
	 * be touched too. A static field is in the object of class Class.
	 */
	static String[][] classes(String phase) {
		switch (phase) {
		case "list": return new String[][] {{"KnownClasses$Node"}, {"java.lang.Class"}};
		case "tree": return new String[][] {{"KnownClasses$Tree"}, {"java.lang.Class"}};
		case "map":
			return new String[][] {
				{"java.util.HashMap$Node", "KnownClasses$Key", "KnownClasses$Value"},
				{"java.util.HashMap$Node[]", "KnownClasses$Key[]", "java.util.HashMap",
					"java.lang.Class"}};
		case "strings":
			return new String[][] {{"java.lang.String", "byte[]"},
				{"java.lang.String[]", "java.lang.Class"}};
		default:
			return new String[][] {{"java.lang.Integer"},
				{"java.lang.Integer[]", "java.lang.Class"}};
		}
	}

	static String quoted(String[] names) {
		StringBuilder out = new StringBuilder("[");
		for (String name : names)
			out.append(out.length() > 1 ? "," : "").append('"').append(name).append('"');
		return out.append(']').toString();
	}

	public static void main(String[] args) {
		double seconds = Double.parseDouble(args[0]);
		String[] phases = {"list", "tree", "map", "strings", "integers"};
		if (args.length > 1)
			phases = java.util.Arrays.copyOfRange(args, 1, args.length);
		for (String phase : phases)
			make(phase);
		StringBuilder out = new StringBuilder("{");
		for (String phase : phases) {
			long begin = cpu(), end = begin + (long) (seconds * 1e9);
			for (int part = 1; part <= 3; part++) {
				while (cpu() < begin + (end - begin) * part / 3)
					sink += step(phase);
				System.gc(); // what is in registers and on stacks moves
			}
			out.append(out.length() > 1 ? "," : "").append('"').append(phase)
					.append("\":{\"cpu_ns\":").append(cpu() - begin)
					.append(",\"mostly\":").append(quoted(classes(phase)[0]))
					.append(",\"also\":").append(quoted(classes(phase)[1])).append('}');
		}
		System.out.println(out.append('}'));
	}
}
