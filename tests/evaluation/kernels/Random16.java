/** Random numbers of 16 bits by a linear congruence, the same in each run. */
final class Random16 {
	private int seed = 74755;

	int next() {
		seed = seed * 1309 + 13849 & 0xffff;
		return seed;
	}
}
