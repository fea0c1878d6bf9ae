// SPDX-License-Identifier: Apache-2.0
/**
 * Native code allocates, in threads that the JVM knows and in others, while it forks and is
 * interrupted. Prints the native library's own counts of blocks of at least 1 KiB.
 */
public class NativeBlocks {
	static native long threads(int threads, int rounds);

	static native void keep(int blocks, int bytes);

	static native void freeUnseen(int times);

	static native void mapParts(int fd);

	static native void growFile();

	static native long[] counts();

	static void keeps() {
		for (int i = 0; i < 30; i++)
			keep(10, 2000);
	}

	public static void main(String[] args) throws Exception {
		System.load(args[0]);
		if (args.length > 2) { // attached to later
			keep(5, 5000);
			System.out.println("ready");
			while (System.in.read() != '\n')
				;
		}
		long[] before = counts();
		keeps();
		freeUnseen(20);
		long hung = threads(4, Integer.parseInt(args[1]));
		long[] now = counts();
		mapParts(0);
		growFile();
		System.out.println("{\"hung\": " + hung + ", \"allocated\": " + (now[0] - before[0]) + ", \"allocated_bytes\": "
			+ (now[1] - before[1]) + ", \"freed\": " + (now[2] - before[2]) + ", \"freed_bytes\": " + (now[3] - before[3])
			+ ", \"in_handler\": " + now[4] + "}");
		if (args.length > 2) {
			while (System.in.read() != '\n')
				;
			threads(2, 1000); // after the detach
			System.out.println("well");
		}
	}
}
