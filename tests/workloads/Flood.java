/*
 * Makes small objects on several threads as fast as they can: more than can be followed. Prints one
 * line of JSON: objects made of each class.
 *
 * Usage: Flood THREADS OBJECTS_PER_THREAD
 */
public final class Flood {
	static final class A { A n; int v; A(A n) { this.n = n; } }
	static final class B { long a, b; }
	static volatile Object sink;
	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]); long each = Long.parseLong(args[1]);
		Thread[] t = new Thread[threads];
		for (int i = 0; i < threads; i++) (t[i] = new Thread(() -> {
			A last = null;
			for (long k = 0; k < each; k++) { 
				if ((k & 3) == 0) sink = new B(); else last = new A((k & 15) == 0 ? null : last);
				if ((k & 1023) == 0) sink = last;
			}
			sink = last;
		})).start();
		for (Thread x : t) x.join();
		System.out.println("{\"A\": " + threads * (each - (each + 3) / 4) + ", \"B\": " + threads * ((each + 3) / 4) + "}");
	}
}
