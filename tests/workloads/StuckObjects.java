import java.util.zip.Deflater;

/*
 * Makes small objects in a heap out of which G1 cannot move all of them.
 *
 * Usage: StuckObjects THREADS KEPT ONE_IN ROUNDS
 *
 * Each round makes 16,384 nodes with an array, and keeps one in ONE_IN of them in a table of KEPT. In the
 * meantime THREADS threads compress arrays, which pins the region of an array since JDK 22.
 */
public final class StuckObjects {
	static final class Node {
		byte[] data;
		int number;

		Node(int number) {
			this.number = number;
			data = new byte[8 + (number & 15)];
		}
	}

	static volatile boolean done;
	static volatile Object sink;

	static void compress() {
		while (!done) {
			byte[] in = new byte[100_000], out = new byte[100_000];
			for (int i = 0; i < in.length; i++)
				in[i] = (byte) (i * 31 ^ i >> 7);
			Deflater d = new Deflater(9);
			d.setInput(in);
			d.finish();
			sink = d.deflate(out);
			d.end();
		}
	}

	public static void main(String[] args) {
		int threads = Integer.parseInt(args[0]), oneIn = Integer.parseInt(args[2]), rounds = Integer.parseInt(args[3]);
		Node[] kept = new Node[Integer.parseInt(args[1])];
		int seed = 1;
		for (int i = 0; i < threads; i++) {
			Thread t = new Thread(StuckObjects::compress);
			t.setDaemon(true);
			t.start();
		}
		for (int round = 0; round < rounds; round++) {
			for (int i = 0; i < 1 << 14; i++) {
				Node n = new Node(i);
				if (i % oneIn == 0) {
					seed = seed * 1664525 + 1013904223;
					kept[(seed >>> 8) % kept.length] = n;
				}
			}
			sink = new byte[20_000];
		}
		done = true;
		System.out.println("done");
	}
}
