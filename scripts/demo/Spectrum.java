/**
 * Computes the power spectrum of an image by a two-dimensional FFT: all rows, then all columns.
 *
 * The image is one large array, row after row. A row is contiguous; two neighbours in a column are
 * a whole row apart, so a column transformed where it lies brings in a cache line for every number
 * that it touches, again in each of the log2(n) passes. Since the row's length is a power of two,
 * these lines also fall into the same few sets of the cache.
 *
 * "java Spectrum" does that. "java Spectrum fixed" copies eight columns, the width of a cache line,
 * to a small buffer, transforms them there, and copies them back. The results are the same.
 */
public final class Spectrum {
    private static final int SIZE = 2048;
    private static final int COLUMNS = 8;

    private final double[] re;
    private final double[] im;
    private final double[] cos = new double[SIZE / 2];
    private final double[] sin = new double[SIZE / 2];

    private Spectrum() {
        re = new double[SIZE * SIZE];
        im = new double[SIZE * SIZE];
        for (int i = 0; i < SIZE / 2; i++) {
            cos[i] = Math.cos(-2 * Math.PI * i / SIZE);
            sin[i] = Math.sin(-2 * Math.PI * i / SIZE);
        }
    }

    /** An image of two waves and some noise. */
    private void draw() {
        long seed = 42;
        for (int y = 0; y < SIZE; y++) {
            for (int x = 0; x < SIZE; x++) {
                seed = seed * 6364136223846793005L + 1442695040888963407L;
                re[y * SIZE + x] = Math.sin(x * 0.05) + Math.sin(y * 0.11) + (seed >>> 40) * 1e-8;
                im[y * SIZE + x] = 0;
            }
        }
    }

    /** FFT in place of the SIZE numbers at first, first + stride, first + 2 * stride ... */
    private void transform(double[] re, double[] im, int first, int stride) {
        reverseBits(re, im, first, stride);
        for (int half = 1; half < SIZE; half *= 2) {
            int turn = SIZE / (2 * half);
            for (int block = 0; block < SIZE; block += 2 * half) {
                for (int k = 0; k < half; k++) {
                    int a = first + (block + k) * stride;
                    int b = a + half * stride;
                    double c = cos[k * turn];
                    double s = sin[k * turn];
                    double tr = c * re[b] - s * im[b];
                    double ti = c * im[b] + s * re[b];
                    re[b] = re[a] - tr;
                    im[b] = im[a] - ti;
                    re[a] += tr;
                    im[a] += ti;
                }
            }
        }
    }

    private static void reverseBits(double[] re, double[] im, int first, int stride) {
        for (int i = 0; i < SIZE; i++) {
            int j = Integer.reverse(i) >>> (32 - Integer.numberOfTrailingZeros(SIZE));
            if (j > i) {
                int a = first + i * stride;
                int b = first + j * stride;
                double r = re[a];
                re[a] = re[b];
                re[b] = r;
                double m = im[a];
                im[a] = im[b];
                im[b] = m;
            }
        }
    }

    private void columnsInPlace() {
        for (int x = 0; x < SIZE; x++) {
            transform(re, im, x, SIZE);
        }
    }

    private void columnsByCopy() {
        double[] r = new double[COLUMNS * SIZE];
        double[] m = new double[COLUMNS * SIZE];
        for (int x = 0; x < SIZE; x += COLUMNS) {
            for (int y = 0; y < SIZE; y++) {
                for (int c = 0; c < COLUMNS; c++) {
                    r[c * SIZE + y] = re[y * SIZE + x + c];
                    m[c * SIZE + y] = im[y * SIZE + x + c];
                }
            }
            for (int c = 0; c < COLUMNS; c++) {
                transform(r, m, c * SIZE, 1);
            }
            for (int y = 0; y < SIZE; y++) {
                for (int c = 0; c < COLUMNS; c++) {
                    re[y * SIZE + x + c] = r[c * SIZE + y];
                    im[y * SIZE + x + c] = m[c * SIZE + y];
                }
            }
        }
    }

    private double power() {
        double sum = 0;
        for (int i = 0; i < re.length; i++) {
            sum += re[i] * re[i] + im[i] * im[i];
        }
        return sum;
    }

    public static void main(String[] args) {
        boolean fixed = args.length > 0 && args[0].equals("fixed");
        int images = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        Spectrum spectrum = new Spectrum();
        double power = 0;
        for (int i = 0; i < images; i++) {
            spectrum.draw();
            for (int y = 0; y < SIZE; y++) {
                spectrum.transform(spectrum.re, spectrum.im, y * SIZE, 1);
            }
            if (fixed) {
                spectrum.columnsByCopy();
            } else {
                spectrum.columnsInPlace();
            }
            power += spectrum.power();
        }
        System.out.printf("%d images of %d x %d, power %.6e%n", images, SIZE, SIZE, power);
    }
}
