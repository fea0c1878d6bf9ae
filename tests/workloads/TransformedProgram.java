import java.util.ArrayList;
import java.util.List;

/* Is the program that Transformer.java rewrites. Usage: TransformedProgram ALLOCATIONS */
public final class TransformedProgram {
	static volatile Object sink;

	static byte[] transformedAllocate(int n) { return new byte[n]; }

	public static void main(String[] args) {
		int n = Integer.parseInt(args[0]);
		List<Object> kept = new ArrayList<>();
		for (int i = 0; i < n; i++) {
			Object o = transformedAllocate(1500 + i % 100);
			if (i % 50 == 0)
				kept.add(o);
			sink = o;
		}
		System.out.println("before");
		System.out.println(kept.size());
	}
}
