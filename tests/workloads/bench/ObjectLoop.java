/**
 * Runs two threads that make small objects and do little else: lists, of which most die at once.
 * Argument: millions of objects.
 */
public final class ObjectLoop {
    private static final int LENGTH = 1024;
    private static final int KEPT = 64;

    private static final class Node {
        final Node next;
        final int value;

        Node(Node next, int value) {
            this.next = next;
            this.value = value;
        }
    }

    private static Node list(int seed) {
        Node head = null;
        int random = seed;
        for (int i = 0; i < LENGTH; i++) {
            random = random * 1103515245 + 12345;
            head = new Node(head, random >>> 8);
        }
        return head;
    }

    private static long churn(long lists, int seed) {
        Node[] kept = new Node[KEPT];
        long sum = 0;
        for (long i = 0; i < lists; i++) {
            Node head = list((int) i + seed);
            kept[(int) (i * 31) & KEPT - 1] = head;
            for (Node n = head; n != null; n = n.next)
                sum += n.value;
        }
        return sum + kept.length;
    }

    public static void main(String[] args) throws Exception {
        long perThread = Long.parseLong(args[0]) * 1_000_000 / LENGTH / 2;
        Thread[] threads = new Thread[2];
        long[] sums = new long[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int index = t;
            threads[t] = new Thread(() -> sums[index] = churn(perThread, index + 1), "churn-" + t);
            threads[t].start();
        }
        long sum = 0;
        for (int t = 0; t < threads.length; t++) {
            threads[t].join();
            sum += sums[t];
        }
        System.out.println(sum);
    }
}
