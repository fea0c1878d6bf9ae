import java.util.*;
/*
 * Keeps small objects of many classes through collections.
 *
 * Usage: SmallAudit OBJECTS_PER_THREAD FULL
 *
 * Two threads replace entries of a table of live objects at random, and drop most of what they
 * allocate. With FULL "true" System.gc() is called twice now and then.
 */
public final class SmallAudit {
	static final class Node { Node next; int value; Node(int v, Node n) { value = v; next = n; } }
	static final class Pair { Object a, b; Pair(Object a, Object b) { this.a = a; this.b = b; } }
	static boolean collect;
	static Object[] live = new Object[60000];
	static void work(Random r, int n) {
		for (int i = 0; i < n; i++) {
			Object o;
			switch (r.nextInt(6)) {
			case 0: o = new Node(i, null); break;
			case 1: o = new Pair(new Node(i, null), Integer.valueOf(i + 1000)); break;
			case 2: o = "s" + i; break;
			case 3: o = new ArrayList<>(List.of(i, i + 1)); break;
			case 4: o = new byte[r.nextInt(200)]; break;
			default: o = new HashMap<>(Map.of(i, "v")); break;
			}
			int k = r.nextInt(1000);
			if (k < 60) live[r.nextInt(live.length)] = o;
			if (collect && i % 20000 == 19999) {
				System.gc();
				System.gc(); // slides nothing, mostly
			}
		}
	}
	public static void main(String[] a) throws Exception {
		collect = Boolean.parseBoolean(a[1]);
		Thread[] t = new Thread[2];
		for (int i = 0; i < 2; i++) { int s = i; (t[i] = new Thread(() -> work(new Random(s), Integer.parseInt(a[0])))).start(); }
		for (Thread x : t) x.join();
		System.out.println("done");
	}
}
