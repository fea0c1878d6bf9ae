/*
 * Allocates in a class of the JDK that the JVM has loaded at its start and not used yet: the digits
 * of a number become an int[] of FDBigInteger. In a class that is patched, if there is one: static
 * make() of java.lang.Appendable.
 *
 * Usage: LoadedClasses COUNT
 */
public final class LoadedClasses {
	static volatile Object sink;
	static volatile double number;

	public static void main(String[] args) throws Exception {
		int count = Integer.parseInt(args[0]);
		String digits = "1." + "7".repeat(1000) + "e-3";
		for (int i = 0; i < count; i++)
			number = Double.parseDouble(digits);
		try {
			var make = Appendable.class.getMethod("make", int.class);
			for (int i = 0; i < count; i++)
				sink = make.invoke(null, 5000);
		} catch (NoSuchMethodException e) {
			// not patched
		}
	}
}
