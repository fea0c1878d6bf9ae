/*
 * Allocates in rounds that are all alike: an array of 2 KB, and 16 of 64 bytes, each at a line of its own.
 *
 * Usage: AlikeRounds ROUNDS
 */
public final class AlikeRounds {
	static volatile Object sink;

	public static void main(String[] args) {
		for (long round = Long.parseLong(args[0]); round > 0; round--) {
			sink = new byte[2032];
			sink = new byte[48]; // small: 0
			sink = new byte[48]; // small: 1
			sink = new byte[48]; // small: 2
			sink = new byte[48]; // small: 3
			sink = new byte[48]; // small: 4
			sink = new byte[48]; // small: 5
			sink = new byte[48]; // small: 6
			sink = new byte[48]; // small: 7
			sink = new byte[48]; // small: 8
			sink = new byte[48]; // small: 9
			sink = new byte[48]; // small: 10
			sink = new byte[48]; // small: 11
			sink = new byte[48]; // small: 12
			sink = new byte[48]; // small: 13
			sink = new byte[48]; // small: 14
			sink = new byte[48]; // small: 15
		}
	}
}
