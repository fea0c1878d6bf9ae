import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/** Does what it is told on its standard input, while a thread of it works and allocates half of the time. */
public class Waits {
    static volatile Object kept;

    static byte[] waitsAllocate() {
        return new byte[2048];
    }

    static void work() {
        long[] numbers = new long[1 << 16];
        for (long i = 0; ; i++) {
            numbers[(int) (i * 31 & 0xffff)] += i;
            if ((i & 0xfffff) == 0) { // about a millisecond
                kept = new byte[4096];
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(Waits::work, "worker");
        worker.setDaemon(true);
        worker.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            switch (line) {
                case "collect":
                    for (int i = 0; i < 20; i++)
                        System.gc();
                    System.out.println("collected");
                    break;
                case "allocate":
                    for (int i = 0; i < 5000; i++)
                        kept = waitsAllocate();
                    System.out.println("allocated");
                    break;
                case "exit":
                    System.exit(3);
                    break;
                default:
                    return;
            }
        }
    }
}
