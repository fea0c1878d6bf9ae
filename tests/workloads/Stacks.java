/**
 * Moves a stack of linked plates from one of three places to another, one at a time and never onto a smaller one, by a
 * recursion that stores a reference at each step. All that it touches is on its stack, or in objects that it has made:
 * memory that is neither is touched by nobody.
 *
 * <p>Usage: Stacks ROUNDS
 */
public final class Stacks {
    static final class Plate {
        final int width;
        Plate under;

        Plate(int width) {
            this.width = width;
        }
    }

    final Plate[] top = new Plate[3];
    int steps;

    void lay(Plate plate, int place) {
        Plate there = top[place];
        if (there != null && there.width <= plate.width)
            throw new IllegalStateException("too wide");
        plate.under = there;
        top[place] = plate;
    }

    Plate lift(int place) {
        Plate plate = top[place];
        top[place] = plate.under;
        plate.under = null;
        return plate;
    }

    void carry(int plates, int from, int to) {
        if (plates == 0)
            return;
        int other = 3 - from - to;
        carry(plates - 1, from, other);
        lay(lift(from), to);
        steps++;
        carry(plates - 1, other, to);
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            Stacks stacks = new Stacks();
            for (int width = 13; width > 0; width--)
                stacks.lay(new Plate(width), 0);
            stacks.carry(13, 0, 1);
            sum += stacks.steps;
        }
        System.out.println(sum);
    }
}
