import java.lang.management.ManagementFactory;
import sun.misc.Unsafe;

/**
 * Keeps arrays over collections, and drops others before the first: Copies ROUNDS ARRAYS BYTES
 * full|young. In each round keep() and drop() make so many arrays each; those of keep() live until
 * the next round replaces them. A round ends with a full collection, or with garbage of churn()
 * that makes the JVM collect the young generation at least once.
 *
 * Prints one line of JSON: arrays and their bytes, without headers, that each method made, how many
 * collections there were, and how often an array of keep() was at another address after a full
 * collection than before it, by the references as they are in memory (32 bits).
 */
public class Copies {
    static final int CHURN = 48 << 20; /* more than the young generation that the tests give it */
    static Object[] slots;
    static volatile Object sink;

    static void keep(int bytes) {
        for (int i = 0; i < slots.length; i++)
            slots[i] = new byte[bytes];
    }

    static void drop(int arrays, int bytes) {
        for (int i = 0; i < arrays; i++)
            sink = new byte[bytes];
        sink = null;
    }

    static void churn() {
        for (int i = 0; i < CHURN / 2000; i++)
            sink = new byte[2000];
        sink = null;
    }

    static Unsafe unsafe() throws ReflectiveOperationException {
        var field = Unsafe.class.getDeclaredField("theUnsafe");

        field.setAccessible(true);
        return (Unsafe)field.get(null);
    }

    static void read(Unsafe unsafe, int[] references) {
        for (int i = 0; i < references.length; i++)
            references[i] = unsafe.getInt(slots, Unsafe.ARRAY_OBJECT_BASE_OFFSET + 4L * i);
    }

    /* Returns how many arrays were moved. */
    static int collect(Unsafe unsafe, int[] before, int[] after) {
        int moved = 0;

        read(unsafe, before);
        System.gc();
        read(unsafe, after);
        for (int i = 0; i < before.length; i++)
            moved += before[i] != after[i] ? 1 : 0;
        return moved;
    }

    static long collections() {
        long sum = 0;

        for (var bean : ManagementFactory.getGarbageCollectorMXBeans())
            sum += bean.getCollectionCount();
        return sum;
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        int rounds = Integer.parseInt(args[0]), arrays = Integer.parseInt(args[1]);
        int bytes = Integer.parseInt(args[2]);
        boolean full = args[3].equals("full");
        int[] before = new int[arrays], after = new int[arrays];
        Unsafe unsafe = unsafe();
        long begin = collections(), moved = 0;

        slots = new Object[arrays];
        for (int round = 0; round < rounds; round++) {
            keep(bytes);
            drop(arrays, bytes);
            if (full)
                moved += collect(unsafe, before, after);
            else
                churn();
        }
        System.out.println("{\"arrays\": " + (long)rounds * arrays + ", \"bytes\": " + (long)rounds * arrays * bytes
            + ", \"collections\": " + (collections() - begin) + ", \"moved\": " + moved + "}");
    }
}
