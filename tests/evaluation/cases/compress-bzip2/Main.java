/* Main - compresses short messages, each of its own, with the bzip2 of Commons Compress. Argument: messages. */

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;

public class Main {
	public static void main(String[] arguments) throws IOException {
		int messages = Integer.parseInt(arguments[0]);
		SplittableRandom random = new SplittableRandom(1);
		byte[] message = new byte[2000];
		long total = 0;
		for (int number = 0; number < messages; number++) {
			for (int at = 0; at < message.length; at++)
				message[at] = (byte) ('a' + Math.min(random.nextInt(26), random.nextInt(26)));
			ByteArrayOutputStream out = new ByteArrayOutputStream();
			try (BZip2CompressorOutputStream compressor = new BZip2CompressorOutputStream(out)) {
				compressor.write(message);
			}
			total = total * 31 + Arrays.hashCode(out.toByteArray());
		}
		System.out.println("result: " + total);
	}
}
