import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * Allocates one large array in memory that was never used, on a heap that must have room for it,
 * and says how many pages were faulted in on the way, as the kernel counts them.
 */
public class FirstTouch {
    static byte[] kept;
    static long sum;

    /** Page faults of the calling thread so far: field 10 of its stat file. */
    static long faults() throws Exception {
        String stat = new String(Files.readAllBytes(Paths.get("/proc/thread-self/stat")));
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[7]);
    }

    static void allocate(int bytes) {
        kept = new byte[bytes]; // FIRST_TOUCH: array
    }

    /** Something for the timer to see. */
    static void read(int rounds) {
        long s = 0;
        for (int r = 0; r < rounds; r++)
            for (int i = 0; i < kept.length; i += 64)
                s += kept[i];
        sum = s;
    }

    public static void main(String[] args) throws Exception {
        int bytes = Integer.parseInt(args[0]) << 20;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 0;
        long[] count = new long[2];
        faults(); // loads what it needs
        count[0] = faults();
        allocate(bytes);
        count[1] = faults();
        read(rounds);
        System.out.println("{\"bytes\": " + bytes + ", \"faults\": " + (count[1] - count[0]) + ", \"sum\": " + sum + "}");
    }
}
