/**
 * Spends CPU time in native code whose caller's frame cannot be walked (native/poison.c), then in Java.
 *
 * Usage: Poison LIBRARY ROUNDS MILLISECONDS
 */
public class Poison {
	static native long spin(int ms);

	static long sum;

	static void work() {
		for (int i = 0; i < 30_000_000; i++)
			sum += i ^ sum >>> 3;
	}

	public static void main(String[] args) {
		System.load(args[0]);
		for (int i = 0; i < Integer.parseInt(args[1]); i++)
			if (spin(Integer.parseInt(args[2])) < 0)
				throw new IllegalStateException("this JVM is not known");
		work();
		System.out.println("alive");
	}
}
