/** Follows one cycle through a shuffled array larger than any cache. Argument: millions of steps. */
public final class PointerChase {
    private static final int CELLS = 16 << 20;

    public static void main(String[] args) {
        int[] next = new int[CELLS];
        for (int i = 0; i < CELLS; i++) {
            next[i] = i;
        }
        long random = 1;
        for (int i = CELLS - 1; i > 0; i--) { // Sattolo: a single cycle
            random = random * 6364136223846793005L + 1442695040888963407L;
            int j = (int) ((random >>> 33) % i);
            int t = next[i];
            next[i] = next[j];
            next[j] = t;
        }
        long steps = Long.parseLong(args[0]) * 1_000_000;
        int at = 0;
        for (long i = 0; i < steps; i++) {
            at = next[at];
        }
        System.out.println(at);
    }
}
