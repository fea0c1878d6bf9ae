// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;

/**
 * Holds a number of objects of several classes and reads them for so many milliseconds, then collects all garbage. Arguments: how many, the
 * milliseconds. Prints how many objects of its own class it holds.
 */
public class Holds {
    static final class Heavy {
        long wide = 1;
        int middle = 2;
        byte narrow = 3;
    }

    public static void main(String[] args) {
        int many = Integer.parseInt(args[0]);
        Map<Integer, Heavy> map = new HashMap<>();
        List<LinkedList<Integer>> lists = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            map.put(i, new Heavy());
            lists.add(new LinkedList<>(List.of(i + many)));
        }
        long sum = 0;
        for (long end = System.nanoTime() + Integer.parseInt(args[1]) * 1_000_000L; System.nanoTime() < end;) {
            for (Map.Entry<Integer, Heavy> e : map.entrySet())
                sum += e.getKey() + e.getValue().wide + e.getValue().narrow;
            for (LinkedList<Integer> list : lists)
                sum += list.getFirst();
        }
        System.gc();
        System.out.println("{\"kept\": " + (map.size() + lists.size() - many) + ", \"sum\": " + sum + "}");
    }
}
