import java.util.Arrays;
import java.util.Random;

/** Makes arrays whose contents are known: little used, full, equal to others, sparse, never written. */
public class Contents {
    static final int KEPT = 512;
    static final byte[][] kept = new byte[KEPT][];
    static Object sink;
    static long sum;

    /** 90 of 8,192 bytes are used; dead at once. */
    static void little(int i) {
        byte[] a = new byte[8192]; // site: little
        Arrays.fill(a, 0, 90, (byte) (i % 100 + 1));
        sink = a;
    }

    static void full(int i) {
        byte[] a = new byte[8192]; // site: full
        Arrays.fill(a, (byte) (i % 100 + 1));
        sink = a;
    }

    /** Numbers at random places of the array. */
    static void sparse(Random random) {
        double[] a = new double[1024]; // site: sparse
        for (int k = 0; k < 16; k++)
            a[random.nextInt(a.length)] = 1.5;
        sink = a;
    }

    static void unwritten() {
        sink = new int[2048]; // site: unwritten
    }

    /** A tenth of the chars are used: 128 KiB. */
    static void large(int i) {
        char[] a = new char[65536]; // site: large
        Arrays.fill(a, 0, 6500, (char) ('a' + i % 20));
        sink = a;
    }

    /** A hundredth of the longs are used: 4 MiB, lives for some collections. */
    static long[] huge;

    static void huge(int i) {
        long[] a = new long[524288]; // site: huge
        Arrays.fill(a, 0, 5000, i + 1);
        huge = a;
    }

    /** Kept for a while; three in four have one of four contents, the others have their own. */
    static void equal(int i, Random random) {
        byte[] a = new byte[2048]; // site: equal
        if (i % 4 != 0)
            Arrays.fill(a, (byte) (i / 4 % 4 + 1));
        else
            random.nextBytes(a);
        kept[i % KEPT] = a;
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        Random random = new Random(7);
        for (int i = 0; i < rounds; i++) {
            little(i);
            full(i);
            sparse(random);
            unwritten();
            if (i % 4 == 0)
                equal(i / 4, random);
            if (i % 16 == 0)
                large(i);
            if (i % 1024 == 0)
                huge(i);
            sum += i;
        }
    }
}
