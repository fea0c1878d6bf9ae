import java.util.Arrays;

/** Fills an array and sorts it on all CPUs. Argument: rounds. */
public final class ParallelSort {
    private static final int LENGTH = 8 << 20;

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        long random = 1;
        long check = 0;
        for (int r = 0; r < rounds; r++) {
            long[] values = new long[LENGTH];
            for (int i = 0; i < LENGTH; i++) {
                random = random * 6364136223846793005L + 1442695040888963407L;
                values[i] = random;
            }
            Arrays.parallelSort(values);
            check += values[LENGTH / 2];
        }
        System.out.println(check);
    }
}
