import java.util.Hashtable;
import java.util.Map;

/*
 * Makes large strings in a class of the JDK that the JVM has used at its start, and whose only
 * allocation is StringBuilder.toString(): so often that C2 replaces the chain of calls.
 *
 * Usage: LateStrings COUNT
 */
public final class LateStrings {
	static volatile Object sink;

	public static void main(String[] args) {
		int count = Integer.parseInt(args[0]);
		Map<String, String> map = new Hashtable<>();
		map.put("k".repeat(3000), "v");
		Map.Entry<String, String> entry = map.entrySet().iterator().next();
		for (int i = 0; i < count; i++)
			sink = entry.toString();
	}
}
