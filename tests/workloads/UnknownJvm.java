import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one array most of the time, allocates through recursion from compiled and interpreted code,
 * in two threads, and collects. Its output depends on the number of rounds (40) alone.
 */
public class UnknownJvm {
    static int[] big = new int[1 << 22];
    static final List<int[]> KEPT = new ArrayList<>();
    static final Map<Integer, String> SMALL = new HashMap<>();

    static int[] make(int depth) {
        return depth == 0 ? new int[1000] : make(depth - 1);
    }

    static long read(int seed, int times) {
        long sum = 0;
        int at = seed;
        for (int i = 0; i < times; i++) {
            at = at * 1664525 + 1013904223;
            sum += big[(at >>> 8) & (big.length - 1)]++;
        }
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 40;
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            sum += read(round, 1 << 20);
            for (int i = 0; i < 500; i++) {
                int[] made = make(i & 15);
                made[i] = i;
                if (i % 10 == 0)
                    KEPT.add(made);
                SMALL.put(i + round * 500, "s" + i);
            }
            if (round % 10 == 5) {
                System.gc();
                KEPT.subList(0, KEPT.size() / 2).clear();
            }
        }
        Thread other = new Thread(() -> {
            for (int i = 0; i < 200; i++)
                KEPT.add(make(3));
        });
        other.start();
        other.join();
        for (int[] made : KEPT)
            sum += made[made.length - 1] + made.length;
        System.out.println(sum + " " + SMALL.size());
    }
}
