// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kotlin.Pair;
import kotlin.collections.ArrayDeque;
import kotlin.collections.CollectionsKt;
import kotlin.collections.MapsKt;
import kotlin.sequences.Sequence;
import kotlin.sequences.SequencesKt;
import scala.collection.immutable.HashMap;
import scala.collection.immutable.HashMap$;
import scala.collection.immutable.List$;
import scala.collection.immutable.Vector;
import scala.collection.mutable.Builder;

/**
 * Reaches objects through collections of Kotlin and Scala, each phase those of a class of its own:
 * test_reached.py knows how. The objects are many and are visited in any order.
 */
public class ReachedLibraries {
    static final int COUNT = 1 << 18;

    static final class InList { long value; }
    static final class InVector { long value; }
    static final class InHashMap { long value; }
    static final class InDeque { long value; }
    static final class InBuilder { long value; }
    static final class InPair { long value; }
    static final class InSequence { long value; }

    static final class Key {
        final int key;
        Key(int key) { this.key = key; }
        @Override public int hashCode() { return key * 0x9e3779b9; }
        @Override public boolean equals(Object o) { return o instanceof Key && ((Key) o).key == key; }
    }

    static scala.collection.immutable.List<InList> list;
    static Vector<InVector> vector;
    static HashMap<Key, InHashMap> hashMap;
    static ArrayDeque<InDeque> deque = new ArrayDeque<>();
    static Map<Key, InBuilder> builder = MapsKt.createMapBuilder();
    @SuppressWarnings("unchecked")
    static Pair<InPair, Key>[] pairs = new Pair[COUNT];
    static List<InSequence> sequence = new ArrayList<>();
    static Key[] keys = new Key[COUNT];
    static long sum;

    static int spread(int i) { return (int) (i * 2654435761L & COUNT - 1); }

    static Object make(Class<?> of) {
        return of == InList.class ? new InList() : of == InVector.class ? new InVector()
                : of == InDeque.class ? new InDeque() : new InSequence();
    }

    /** New objects, in an order other than that in which they were made. */
    @SuppressWarnings("unchecked")
    static <T> List<T> mixed(Class<T> of) {
        List<T> made = new ArrayList<>(), result = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            made.add((T) make(of));
        }
        for (int i = 0; i < COUNT; i++) {
            result.add(made.get(spread(i)));
        }
        return result;
    }

    @SuppressWarnings("unchecked")
    static void make() {
        list = (scala.collection.immutable.List<InList>) (Object) List$.MODULE$.empty();
        Builder<InVector, Vector<InVector>> vectors = Vector.newBuilder();
        hashMap = (HashMap<Key, InHashMap>) (Object) HashMap$.MODULE$.empty();
        for (InList each : mixed(InList.class)) {
            list = list.$colon$colon(each);
        }
        for (InVector each : mixed(InVector.class)) {
            vectors.addOne(each);
        }
        vector = vectors.result();
        for (InDeque each : mixed(InDeque.class)) {
            deque.add(each);
        }
        sequence = mixed(InSequence.class);
        for (int i = 0; i < COUNT; i++) {
            keys[i] = new Key(i);
            pairs[i] = new Pair<>(new InPair(), keys[i]);
            hashMap = hashMap.updated(new Key(spread(i)), new InHashMap());
            builder.put(new Key(spread(i)), new InBuilder());
        }
    }

    static long list() {
        long s = 0;
        for (var at = list; !at.isEmpty(); at = (scala.collection.immutable.List<InList>) at.tail()) {
            s += at.head().value;
        }
        return s;
    }

    static long sequence() {
        Sequence<Long> values = SequencesKt.map(CollectionsKt.asSequence(sequence), each -> each.value);
        return SequencesKt.sumOfLong(values);
    }

    static long vector(int i) { return vector.apply(i).value; }

    static long hashMap(int i) { return hashMap.apply(keys[i]).value; }

    static long deque(int i) { return deque.get(i).value; }

    static long builder(int i) { return builder.get(keys[i]).value; }

    static long pair(int i) { return pairs[i].getFirst().value; }

    public static void main(String[] args) {
        make();
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        while (System.nanoTime() < end) {
            long s = list() + sequence();
            for (int i = 0; i < COUNT; i++) {
                int at = spread(i);
                s += vector(at);
                s += hashMap(at);
                s += deque(at);
                s += builder(at);
                s += pair(at);
            }
            sum += s;
        }
        System.out.println("{\"done\": " + (sum != 1) + "}");
    }
}
