import java.lang.reflect.Field;
import java.util.StringJoiner;

/**
 * Reads fields of many objects for some time: FieldPlaces MILLISECONDS. Prints as JSON, for each field of
 * their class, the offset that sun.misc.Unsafe gives.
 */
public class FieldPlaces {
    static class Base {
        long base;
        byte small;
    }

    static class Record extends Base {
        int a;
        double wide;
        boolean flag;
        Object next;
        short s;
    }

    static volatile long sink;

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000;
        Record[] all = new Record[200000];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Record();
            all[i].next = all[i / 2];
        }
        for (long sum = 0; System.nanoTime() < end; sink = sum)
            for (int i = 0; i < all.length; i++)
                sum += all[(int) (i * 7919L % all.length)].a + (long) all[i].wide;
        Field handle = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        handle.setAccessible(true);
        sun.misc.Unsafe unsafe = (sun.misc.Unsafe) handle.get(null);
        StringJoiner out = new StringJoiner(", ", "{", "}");
        for (Class<?> c = Record.class; c != Object.class; c = c.getSuperclass())
            for (Field f : c.getDeclaredFields())
                out.add("\"" + f.getName() + "\": " + unsafe.objectFieldOffset(f));
        System.out.println(out);
    }
}
