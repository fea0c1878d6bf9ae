/** Runs two threads that allocate arrays of 1 to 2 KB and do little else. Argument: millions of arrays. */
public final class AllocLoop {
    private static final int KEPT = 1024;

    public static void main(String[] args) throws Exception {
        long perThread = Long.parseLong(args[0]) * 1_000_000 / 2;
        Thread[] threads = new Thread[2];
        long[] sums = new long[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int index = t;
            threads[t] = new Thread(() -> sums[index] = allocate(perThread, index + 1), "alloc-" + t);
            threads[t].start();
        }
        long sum = 0;
        for (int t = 0; t < threads.length; t++) {
            threads[t].join();
            sum += sums[t];
        }
        System.out.println(sum);
    }

    private static long allocate(long count, int seed) {
        byte[][] kept = new byte[KEPT][];
        long random = seed;
        long sum = 0;
        for (long i = 0; i < count; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            int length = 1024 + (int) (random >>> 54);
            byte[] array = new byte[length];
            array[length / 2] = (byte) random;
            kept[(int) (random >>> 33) & (KEPT - 1)] = array;
            sum += array[length / 2] + length;
        }
        return sum + kept.length;
    }
}
