/**
 * Moves a tower of thirteen disks from one pile to another, which takes 2^13 - 1 moves, 8191. A pile is a linked list
 * of disks, and a disk may not lie on a smaller one. Argument: how often.
 */
public final class Towers {
	private static final int DISKS = 13, MOVES = 8191;

	private static final class Disk {
		private final int size;
		private Disk below;

		Disk(int size) { this.size = size; }
	}

	private final Disk[] piles = new Disk[3];
	private int moves;

	private void put(Disk disk, int pile) {
		Disk top = piles[pile];
		if (top != null && top.size <= disk.size)
			throw new IllegalStateException("a disk of " + disk.size + " on one of " + top.size);
		disk.below = top;
		piles[pile] = disk;
	}

	private Disk take(int pile) {
		Disk top = piles[pile];
		piles[pile] = top.below;
		top.below = null;
		return top;
	}

	private void move(int disks, int from, int to) {
		if (disks == 0)
			return;
		int other = 3 - from - to;
		move(disks - 1, from, other);
		put(take(from), to);
		moves++;
		move(disks - 1, other, to);
	}

	private static int run() {
		Towers towers = new Towers();
		for (int size = DISKS; size > 0; size--)
			towers.put(new Disk(size), 0);
		towers.move(DISKS, 0, 1);
		Result.check(towers.piles[0] == null && towers.piles[2] == null, "two piles are left");
		return towers.moves;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int moves = run();
			Result.check(moves == MOVES, moves + " moves");
			sum += moves;
		}
		Result.is(sum);
	}
}
