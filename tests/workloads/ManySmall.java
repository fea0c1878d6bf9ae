import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Keeps many small objects alive: a list of nodes of 24 bytes, read a few times. Prints the most
 * memory that the process had.
 */
public class ManySmall {
	static final class Node {
		Node next;
		int value;
	}

	static Node head;

	static void grow(int nodes) {
		for (int i = 0; i < nodes; i++) {
			Node n = new Node();
			n.next = head;
			n.value = i;
			head = n;
		}
	}

	static long sum() {
		long sum = 0;
		for (Node n = head; n != null; n = n.next)
			sum += n.value;
		return sum;
	}

	static long peakKilobytes() throws Exception {
		for (String line : Files.readAllLines(Path.of("/proc/self/status")))
			if (line.startsWith("VmHWM:"))
				return Long.parseLong(line.replaceAll("[^0-9]", ""));
		return -1;
	}

	public static void main(String[] args) throws Exception {
		int nodes = Integer.parseInt(args[0]);
		long sum = 0;
		grow(nodes);
		for (int i = 0; i < 5; i++)
			sum += sum();
		System.gc();
		sum += sum();
		System.out.println("{\"nodes\":" + nodes + ",\"sum\":" + sum + ",\"peak_kb\":" + peakKilobytes() + "}");
	}
}
