/**
 * Tells what a program computed. The property "result" is what it is to be: where it is set and differs, the program
 * ends with 1.
 */
public final class Result {
	private Result() {}

	/** Prints the result as the program's last line, and ends the program where the result is wrong. */
	public static void is(Object result) {
		String expected = System.getProperty("result", "");
		if (!expected.isEmpty() && !expected.equals(result.toString())) {
			System.err.println("expected " + expected);
			System.out.println("result: " + result);
			System.exit(1);
		}
		System.out.println("result: " + result);
	}

	/** Ends the program where what it found cannot be. */
	public static void check(boolean holds, String what) {
		if (!holds)
			throw new IllegalStateException(what);
	}
}
