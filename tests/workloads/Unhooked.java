import java.security.SecureRandom;

/*
 * Makes large arrays in two places that have no hook by default: the array of a string that C2 joins, and one that a
 * class of the JDK's internals allocates.
 *
 * Usage: Unhooked STRINGS SEEDS
 */
public final class Unhooked {
	static final String LONG = "x".repeat(3000);
	static volatile Object sink;

	static String join(int i) {
		return new StringBuilder().append(LONG).append('-').append(i).toString();
	}

	public static void main(String[] args) throws Exception {
		SecureRandom random = SecureRandom.getInstance("NativePRNGNonBlocking");
		for (int i = Integer.parseInt(args[0]); i > 0; i--)
			sink = join(i);
		for (int i = Integer.parseInt(args[1]); i > 0; i--)
			sink = random.generateSeed(4096);
	}
}
