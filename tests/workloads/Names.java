import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Allocates arrays that end in fields, local variables, arrays and calls, each pattern in a method of
 * its own: Names ROUNDS. With many rounds the JIT compiles them, and replaces what it knows.
 */
public class Names {
    static final int LENGTH = 2000;
    static final int[] TABLE = new int[LENGTH];
    static double[] im;
    static int[] first, second;
    static int[][] grid;
    static long sum;
    double[] re;
    double[] chosen;
    double[][] rows = new double[4][];
    long[] longs;
    short[] shorts;
    int[] grown, copied;
    int[] source = new int[LENGTH];
    float[] made;
    byte[] looped;
    Holder holder;
    Map<String, String> map;
    List<Object> list;

    static class Holder {
        char[] text;

        Holder(char[] text) {
            this.text = text;
        }
    }

    static class Deeper extends Holder {
        Deeper(char[] passed) {
            super(passed);
        }
    }

    void field() {
        this.re = new double[LENGTH];
    }

    void staticField() {
        im = new double[LENGTH];
    }

    void variable() {
        byte[] buffer = new byte[LENGTH];

        for (int i = 0; i < 4; i++)
            buffer[i] = (byte)i;
        sum += buffer[3];
    }

    void element() {
        for (int i = 0; i < rows.length; i++)
            rows[i] = new double[LENGTH];
    }

    void variableElement() {
        double[][] table = new double[2][];

        table[1] = new double[LENGTH];
        sum += table[1].length;
    }

    static long[] make(int n) {
        return new long[n];
    }

    void factory() {
        longs = make(LENGTH);
    }

    static short[] innermost(int n) {
        short[] made = new short[n];

        made[0] = 1;
        return made;
    }

    static short[] inner(int n) {
        return innermost(n);
    }

    void factoryOfFactory() {
        shorts = inner(LENGTH);
    }

    static byte[] filled(int n) {
        byte[] result = new byte[n];

        for (int i = 0; i < 4; i++)
            result[i] = 1;
        return result;
    }

    void filledFactory() {
        looped = filled(LENGTH);
    }

    void variableOfFactory() {
        byte[] kept = filled(LENGTH);

        sum += kept[1];
    }

    void copyOf() {
        grown = Arrays.copyOf(source, LENGTH + 1);
    }

    void cloned() {
        copied = source.clone();
    }

    void multi() {
        grid = new int[2][LENGTH];
    }

    void twoFields() {
        first = second = new int[LENGTH];
    }

    void either(int round) {
        chosen = round % 2 == 0 ? new double[LENGTH] : new double[LENGTH + 1];
    }

    void passed() {
        holder = new Holder(new char[LENGTH]);
    }

    void passedOn() {
        holder = new Deeper(new char[LENGTH]);
    }

    void argument() {
        List<Object> some = list;

        some.clear();
        some.add(new boolean[LENGTH]);
    }

    void lambda() {
        IntFunction<float[]> maker = float[]::new;

        made = maker.apply(LENGTH);
    }

    void inList() {
        list = new ArrayList<>(LENGTH);
    }

    void object() {
        map = new HashMap<>();
    }

    public static void main(String[] args) {
        Names names = new Names();

        for (int round = 0; round < Integer.parseInt(args[0]); round++) {
            names.field();
            names.staticField();
            names.variable();
            names.element();
            names.variableElement();
            names.factory();
            names.factoryOfFactory();
            names.filledFactory();
            names.variableOfFactory();
            names.copyOf();
            names.cloned();
            names.multi();
            names.twoFields();
            names.either(round);
            names.passed();
            names.passedOn();
            names.inList();
            names.argument();
            names.lambda();
            names.object();
        }
        System.out.println(sum + TABLE.length);
    }
}
