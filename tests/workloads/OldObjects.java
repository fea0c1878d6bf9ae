import java.util.Scanner;

/*
 * Reads objects that are older than a recording that begins by attach, while it allocates others of
 * the same class, which it does not read.
 *
 * Usage: OldObjects
 *
 * Says "ready" when the old ones exist and are being read, and ends with its input.
 */
public final class OldObjects {
	static final class Item {
		final Item next;
		final long value;

		Item(Item next, long value) {
			this.next = next;
			this.value = value;
		}
	}

	static final int OLD = 1 << 21, YOUNG = 1 << 14;
	static volatile boolean over;
	static volatile Object sink;
	static volatile long sum;

	static Item old(Item[] all) {
		int[] order = new java.util.Random(1).ints(OLD, 0, OLD).toArray();
		Item first = null;
		for (int i = 0; i < OLD; i++)
			all[i] = new Item(null, i);
		for (int i = 0; i < OLD; i++)
			first = all[order[i]] = new Item(first, i);
		return first;
	}

	static Item young() {
		Item last = null;
		for (int i = 0; i < YOUNG; i++)
			last = new Item(null, i);
		return last;
	}

	static void read(Item first) {
		long s = 0;
		for (Item i = first; i != null; i = i.next)
			s += i.value;
		sum = s;
	}

	public static void main(String[] args) {
		Item first = old(new Item[OLD]);
		Thread reader = new Thread(() -> {
			while (!over) {
				read(first);
				sink = young();
			}
		});
		reader.setDaemon(true);
		reader.start();
		System.out.println("ready");
		Scanner in = new Scanner(System.in);
		while (in.hasNextLine())
			in.nextLine();
		over = true;
	}
}
