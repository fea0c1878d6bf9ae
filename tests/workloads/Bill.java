import java.io.IOException;
import java.util.ArrayList;

/**
 * Spends its time in one way: gc (lists that live for a while) or jit (much code that is new). Says so when that is done, and
 * waits for a line, so that the clocks of its threads can be read.
 */
public class Bill {
    static final class Node {
        final Node next;
        final byte[] body = new byte[40];

        Node(Node next) {
            this.next = next;
        }
    }

    static Node[] kept;

    static void gc() {
        kept = new Node[1 << 17];
        for (int i = 0; i < 30_000_000; i++) {
            kept[i & (kept.length - 1)] = new Node(null);
        }
    }

    /** Formats and matches, so that many methods are compiled. */
    static void jit() {
        ArrayList<String> lines = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            lines.add(String.format("%08.3f %s", i * 0.5, java.time.Duration.ofMillis(i)).replaceAll("[0-9]+", "n"));
            lines.removeIf(line -> line.length() > 100);
        }
    }

    public static void main(String[] args) throws IOException {
        if (args[0].equals("gc")) {
            gc();
        } else {
            jit();
        }
        System.out.println("done");
        System.in.read();
    }
}
