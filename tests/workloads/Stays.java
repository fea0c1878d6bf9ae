// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.management.ObjectName;

/**
 * Keeps objects in different ways, each beside garbage: a leak by a map, a list, a thread's variable,
 * a list of listeners, direct buffers, class loaders or objects of an inner class; a cache with a bound; a sawtooth; a program that only warms
 * up; a steady one; and a full cache whose objects are replaced by those of another line. Collects all objects five times a second. Arguments: the way, the milliseconds, the bytes of an object, and how many
 * objects are kept each 10 ms; "count": prints the JVM's own count of listeners, which takes seconds on a busy
 * machine, with what is kept at the end; "young": collects nothing.
 */
public class Stays {
    interface Listener { }

    static final Map<Integer, byte[]> MAP = new HashMap<>();
    static final List<byte[]> LIST = new ArrayList<>();
    static final List<Listener> LISTENERS = new ArrayList<>();
    static final List<ByteBuffer> BUFFERS = new ArrayList<>();
    static final ThreadLocal<List<byte[]>> LOCAL = ThreadLocal.withInitial(ArrayList::new);
    static final List<ClassLoader> LOADERS = new ArrayList<>();
    static final List<Runnable> INNER = new ArrayList<>();
    static final int OF_A_LOADER = 500;
    static final int BOUND = 1000;
    static final int TEETH = 4;
    static final int ENOUGH = 24; // collections, however busy the machine is

    static int size;
    static long kept;
    static volatile Object garbage;

    static byte[] make() {
        return new byte[size];
    }

    static byte[] makeFirst() {
        kept++;
        return new byte[size];
    }

    /** A listener as large as the other objects, roughly. */
    static class Heavy implements Listener {
        final byte[] state = make();
    }

    /** A class that each loader has its own of, with objects in a static field. */
    public static class Deployed implements Consumer<byte[]> {
        static final List<byte[]> STATE = new ArrayList<>();

        @Override
        public void accept(byte[] state) {
            STATE.add(state);
        }
    }

    static class Loader extends ClassLoader {
        final Consumer<byte[]> deployed;

        @SuppressWarnings("unchecked")
        Loader() throws ReflectiveOperationException, IOException {
            String name = Deployed.class.getName();
            byte[] code;
            try (InputStream in = Stays.class.getResourceAsStream(name + ".class")) {
                code = in.readAllBytes();
            }
            deployed = (Consumer<byte[]>) defineClass(name, code, 0, code.length).getConstructor().newInstance();
        }
    }

    /** Its inner objects keep it. */
    static class Outer {
        final byte[] state = make();

        Runnable inner() {
            return new Runnable() {
                @Override
                public void run() {
                    garbage = state;
                }
            };
        }
    }

    static void leakByLoader() throws ReflectiveOperationException, IOException {
        if (kept % OF_A_LOADER == 0)
            LOADERS.add(new Loader());
        ((Loader) LOADERS.get(LOADERS.size() - 1)).deployed.accept(make());
    }

    static void leak(String way) throws ReflectiveOperationException, IOException {
        switch (way) {
            case "map" -> MAP.put(MAP.size(), make());
            case "list" -> LIST.add(make());
            case "local" -> LOCAL.get().add(make());
            case "listeners" -> LISTENERS.add(new Heavy());
            case "loader" -> leakByLoader();
            case "inner" -> INNER.add(new Outer().inner());
            case "direct" -> BUFFERS.add(ByteBuffer.allocateDirect(size));
            default -> throw new IllegalArgumentException(way);
        }
        kept++;
    }

    static void keep(String way, double done) throws ReflectiveOperationException, IOException {
        switch (way) {
            case "cache" -> {
                MAP.put((int) (Math.random() * 1e9), make());
                while (MAP.size() > BOUND)
                    MAP.remove(MAP.keySet().iterator().next());
            }
            case "sawtooth" -> {
                if ((int) (done * TEETH) != (int) kept) {
                    kept = (int) (done * TEETH);
                    LIST.clear();
                }
                LIST.add(make());
            }
            case "warmup" -> {
                if (done < 0.3)
                    LIST.add(make());
            }
            case "steady" -> {
                if (LIST.size() < BOUND)
                    LIST.add(make());
                else
                    LIST.set((int) (Math.random() * BOUND), make());
            }
            case "refill" -> {
                while (kept < 3 * BOUND)
                    LIST.add(makeFirst());
                LIST.set((int) (kept++ % (3 * BOUND)), make());
            }
            default -> leak(way);
        }
    }

    public static void main(String[] args) throws Exception {
        String way = args[0];
        long collected = System.nanoTime();
        int collections = 0;
        long length = Long.parseLong(args[1]) * 1_000_000, begin = System.nanoTime();
        int each = Integer.parseInt(args[3]);
        boolean young = args.length > 4 && args[4].equals("young");

        size = Integer.parseInt(args[2]);
        for (long now = begin, done = 0; now - begin < length || (!young && collections < ENOUGH); now = System.nanoTime()) {
            for (; done < (now - begin) / 10_000_000 * each; done++) // by the clock, also on a busy machine
                keep(way, (double) (now - begin) / length);
            if (!young && now - collected > 200_000_000) {
                System.gc();
                collected = now;
                collections++;
            }
            for (int i = 0; i < 500; i++) // the JVM samples the first object after a collection too often
                garbage = new byte[1500];
            Thread.sleep(10);
        }
        garbage = null;
        long ran = System.nanoTime() - begin;
        if (!young)
            System.gc();
        long counted = args.length > 4 && !young ? histogram(Heavy.class.getName()) : 0;
        System.out.printf("{\"kept\": %d, \"ns\": %d, \"histogram\": %d}%n", kept, ran, counted);
    }

    /** Objects of a class by `jcmd GC.class_histogram`, which collects first. */
    static long histogram(String name) throws Exception {
        Object text = ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
            new Object[] { null }, new String[] { String[].class.getName() });

        for (String line : text.toString().split("\n")) {
            String[] words = line.trim().split("\\s+");
            if (words.length > 3 && words[3].equals(name))
                return Long.parseLong(words[1]);
        }
        return 0;
    }
}
