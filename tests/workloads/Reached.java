// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Each phase reaches objects of a class of its own in one way: test_reached.py knows which. The
 * objects are many and are visited in any order, so that samples fall on them.
 */
public class Reached {
    static final int COUNT = 1 << 19;

    static final class Node { Node next; long value; }
    static final class Tree { Tree left, right; int key; Tree(int key) { this.key = key; } }
    static final class Entry { Entry next; int key; long value; }
    static final class Held { long value; }
    static final class Holder { private final Held held = new Held(); Held held() { return held; } }
    static final class Each { long value; }
    static final class Part { long value; }
    record Pair(Part part) { }
    static final class Given { long value; }
    static final class Giver { Given given = new Given(); }
    static final class Lone { long value; }
    interface Shape { long area(); }
    static final class Square implements Shape { public long area() { return 1; } }
    static final class Circle implements Shape { public long area() { return 2; } }
    static final class Line implements Shape { public long area() { return 3; } }

    static final class Arg { long value; }
    static final class Mapped { long value; }
    static final class Key {
        final int key;
        Key(int key) { this.key = key; }
        @Override public int hashCode() { return key; }
        @Override public boolean equals(Object o) { return o instanceof Key && ((Key) o).key == key; }
    }

    static Node head;
    static Tree root;
    static Entry[] table = new Entry[COUNT];
    static long[][] grid = new long[COUNT / 8][16];
    static Holder[] holders = new Holder[COUNT];
    static final List<Each> all = new ArrayList<>();
    static Pair[] pairs = new Pair[COUNT];
    static Giver[] givers = new Giver[COUNT];
    static Lone lone = new Lone();
    static Shape[] shapes = new Shape[COUNT];
    static Arg[] args = new Arg[COUNT];
    static Key[] keys = new Key[COUNT];
    static final Map<Key, Mapped> map = new HashMap<>();
    static Double last = 0.0;
    static long sum;

    static int spread(int i) { return (int) (i * 2654435761L & COUNT - 1); }

    static void make() {
        Node[] nodes = new Node[COUNT];
        for (int i = 0; i < COUNT; i++) {
            nodes[i] = new Node();
            holders[i] = new Holder();
            all.add(new Each());
            pairs[i] = new Pair(new Part());
            givers[i] = new Giver();
            shapes[i] = i % 3 == 0 ? new Square() : i % 3 == 1 ? new Circle() : new Line();
            args[i] = new Arg();
            keys[i] = new Key(i);
            map.put(new Key(spread(i)), new Mapped());
            Entry e = new Entry();
            e.key = i;
            e.next = table[i >> 2];
            table[i >> 2] = e;
        }
        for (int i = 0; i < COUNT; i++) {
            nodes[spread(i)].next = head;
            head = nodes[spread(i)];
        }
        for (int i = 0; i < COUNT; i++) {
            insert(spread(i) ^ 0x2aaaa);
        }
    }

    static void insert(int key) {
        Tree made = new Tree(key), at = root;
        if (at == null) {
            root = made;
            return;
        }
        for (;;) {
            Tree next = key < at.key ? at.left : at.right;
            if (next == null) {
                break;
            }
            at = next;
        }
        if (key < at.key) {
            at.left = made;
        } else {
            at.right = made;
        }
    }

    static long list() {
        long s = 0;
        for (Node n = head; n != null; n = n.next) {
            s += n.value;
        }
        return s;
    }

    static long tree(int key) {
        Tree t = root;
        while (t != null && t.key != key) {
            t = key < t.key ? t.left : t.right;
        }
        return t == null ? 0 : 1;
    }

    static long map(int key) {
        for (Entry e = table[key >> 2]; e != null; e = e.next) {
            if (e.key == key) {
                return e.value;
            }
        }
        return 0;
    }

    static long rows(int i) {
        long[] row = grid[i & grid.length - 1];
        return row[i & 15];
    }

    static long getter(int i) { return holders[i].held().value; }

    static long record(int i) { return pairs[i].part().value; }

    static long third(Given g) { return g.value; }

    static long second(Given g, long more) { return more + third(g); }

    static long first(int i) { return second(givers[i].given, i); }

    // test_reached.py keeps it from being inlined, so that the array is made.
    static long variable(Arg... of) {
        long s = 0;
        for (Arg a : of) {
            s += a.value;
        }
        return s;
    }

    static long passOn(Arg... of) { return variable(of) + of.length; }

    static long some(int i) { return variable(args[i], args[i ^ 1], args[i >> 1]) + passOn(args[i ^ 2], args[i ^ 3]); }

    // C2 inlines valueOf() last, and gives its position to the class checks of get().
    static long mapped(int i, double distance) {
        Mapped m = map.get(keys[i]);
        if (m == null) {
            last = Double.valueOf(distance);
            map.put(keys[i], new Mapped());
            return 0;
        }
        if (distance < last) {
            last = Double.valueOf(distance);
        }
        return m.value;
    }

    static void single() {
        for (int i = 0; i < COUNT; i++) {
            lone.value += i;
        }
    }

    static long shape(int i) { return shapes[i].area(); }

    public static void main(String[] args) {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        make();
        while (System.nanoTime() < end) {
            long s = list();
            all.forEach(e -> sum += e.value);
            for (int i = 0; i < COUNT; i++) {
                int at = spread(i);
                s += tree(at & 0xffff);
                s += map(at);
                s += rows(at);
                s += getter(at);
                s += record(at);
                s += first(at);
                s += shape(at);
                s += some(at);
                s += mapped(at, s);
            }
            single();
            sum += s;
        }
        System.out.println("{\"done\": " + (sum != 1) + "}");
    }
}
