// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/*
 * Walks a shuffled linked list, whose loads overwrite the register that held the address.
 * Usage: java -agentpath:libsample_agent.so SampleList LIBRARY REPORT [SECONDS]
 * Exits with 1 where an address is outside the nodes or more than 3% of the samples in Java code
 * have none.
 */
final class SampleList {
	static final class Node {
		Node next;
		long value, p1, p2, p3;
	}

	static Node chase(Node p, int n) {
		for (int i = 0; i < n; i++)
			p = p.next; // LOAD chase
		return p;
	}

	static long sum(Node p, int n) {
		long s = 0;
		for (int i = 0; i < n; i++) {
			s += p.value; // LOAD sum
			p = p.next; // LOAD sum
		}
		return s;
	}

	public static void main(String[] args) throws Exception {
		System.load(args[0]);
		double seconds = args.length > 2 ? Double.parseDouble(args[2]) : 8;
		Node[] nodes = new Node[1 << 21];
		for (int i = 0; i < nodes.length; i++)
			nodes[i] = new Node();
		List<Node> order = new ArrayList<>(Arrays.asList(nodes));
		Collections.shuffle(order, new Random(1));
		for (int i = 0; i < nodes.length; i++)
			order.get(i).next = order.get((i + 1) % nodes.length);
		order = null;
		System.gc();
		System.gc();
		long sink = 0;
		for (int k = 0; k < 40; k++)
			sink += chase(nodes[k], 50000).value + sum(nodes[k], 50000);
		SampleAgent.nodes(nodes);
		SampleAgent.start();
		Node p = nodes[0];
		long end = System.nanoTime() + (long) (seconds * 1e9), rounds = 0;
		long start = System.nanoTime();
		while (System.nanoTime() < end) {
			p = chase(p, 1000000);
			sink += sum(p, 1000000);
			rounds++;
		}
		System.out.printf("%.2f ns per node%n", (System.nanoTime() - start) / (rounds * 2e6));
		SampleAgent.stop();
		SampleAgent.report(args[1]);
		System.exit(check(args[1]) && sink != 1 ? 0 : 1);
	}

	static boolean check(String file) throws Exception {
		long in = 0, out = 0, unknown = 0;
		for (String line : Files.readAllLines(Path.of(file))) {
			String[] parts = line.split(" ");
			if (line.startsWith("nodes.") && parts[0].endsWith(".in"))
				in += Long.parseLong(parts[1]);
			if (line.startsWith("nodes.") && parts[0].endsWith(".out"))
				out += Long.parseLong(parts[1]);
			if (parts[0].matches("how\\.(compiled|stub)\\.(no_operand|destroyed|undecoded)"))
				unknown += Long.parseLong(parts[1]);
		}
		System.out.printf("inside nodes %d, outside %d, without address %d%n", in, out, unknown);
		return in > 0 && out == 0 && unknown <= 0.03 * (in + unknown);
	}
}
