/**
 * Runs two threads that build binary trees by recursion and drop them: each node is made on another path.
 * Argument: millions of objects.
 */
public final class TreeLoop {
    private static final int DEPTH = 14;

    private static final class Node {
        final Node left;
        final Node right;

        Node(Node left, Node right) {
            this.left = left;
            this.right = right;
        }

        int count() {
            return left == null ? 1 : 1 + left.count() + right.count();
        }
    }

    private static Node tree(int depth) {
        return depth == 0 ? new Node(null, null) : new Node(tree(depth - 1), tree(depth - 1));
    }

    public static void main(String[] args) throws Exception {
        long trees = Long.parseLong(args[0]) * 1_000_000 / ((2 << DEPTH) - 1) / 2;
        Thread[] threads = new Thread[2];
        long[] sums = new long[threads.length];
        for (int t = 0; t < threads.length; t++) {
            int index = t;
            threads[t] = new Thread(() -> {
                for (long i = 0; i < trees; i++)
                    sums[index] += tree(DEPTH).count();
            }, "tree-" + t);
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
