import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Allocates for some time: Loop MILLISECONDS THREADS [calm]. Arrays of 4 KB are made at one line and forgotten, by each thread; 400 others
 * are made first, at another line, by a method that is called once, and written to until the end. With `calm` all threads
 * rest for a part of the time.
 *
 * Prints one line of JSON: `made`, arrays of the first kind, and `kept`, of the second one.
 */
public class Loop {
    static final int KEPT = 400;
    static volatile Object sink;
    static List<long[]> kept = new ArrayList<>(KEPT);

    /* Methods that return: an agent that is loaded later can change them. */
    static class Maker {
        static void early() {
            for (int i = 0; i < KEPT; i++)
                kept.add(new long[4000]);
        }

        static void make() {
            sink = new byte[4096];
        }
    }

    static long touch(long round) {
        long sum = 0;
        for (long[] array : kept)
            for (int i = 0; i < array.length; i++)
                sum += array[i] += round;
        return sum;
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000;
        int threads = Integer.parseInt(args[1]);
        boolean calm = args.length > 2;
        long[] made = new long[threads];
        List<Thread> workers = new ArrayList<>();

        Maker.early();
        for (int t = 0; t < threads; t++) {
            int own = t;
            Thread worker = new Thread(() -> {
                while (System.nanoTime() < end) {
                    for (int i = 0; i < 256; i++, made[own]++)
                        Maker.make();
                    LockSupport.parkNanos(calm ? 1_000_000 : 0);
                }
            }, "maker-" + t);
            worker.start();
            workers.add(worker);
        }
        long sum = 0, round = 0;
        while (System.nanoTime() < end) {
            sum += touch(round++);
            LockSupport.parkNanos(calm ? 4_000_000 : 0);
        }
        for (Thread worker : workers)
            worker.join();
        long all = 0;
        for (long m : made)
            all += m;
        sink = sum;
        System.out.println("{\"made\": " + all + ", \"kept\": " + KEPT + "}");
    }
}
