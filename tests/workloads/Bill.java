import java.util.ArrayList;

/** Spends its time in one way for some seconds: gc (lists that live for a while), jit (under -Xcomp), app (arithmetic). */
public class Bill {
    static final class Node {
        final Node next;
        final byte[] body = new byte[40];

        Node(Node next) {
            this.next = next;
        }
    }

    static Node[] kept;
    static double sum;

    static void gc(long untilNs) {
        kept = new Node[1 << 17];
        for (int i = 0; System.nanoTime() < untilNs; i++) {
            kept[i & (kept.length - 1)] = new Node(null);
        }
    }

    static void app(long untilNs) {
        double x = 1;
        while (System.nanoTime() < untilNs) {
            for (int i = 1; i < 100_000; i++) {
                x += Math.sqrt(i + x);
            }
        }
        sum = x;
    }

    /** Formats and matches, so that many methods are compiled. */
    static void jit(long untilNs) {
        ArrayList<String> lines = new ArrayList<>();
        for (int i = 0; System.nanoTime() < untilNs; i++) {
            lines.add(String.format("%08.3f %s", i * 0.5, java.time.Duration.ofMillis(i)).replaceAll("[0-9]+", "n"));
            lines.removeIf(line -> line.length() > 100);
            if (lines.size() > 1000) {
                lines.clear();
            }
        }
    }

    public static void main(String[] args) {
        long untilNs = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        switch (args[0]) {
            case "gc" -> gc(untilNs);
            case "app" -> app(untilNs);
            default -> jit(untilNs);
        }
    }
}
