/* Main - adds the error correction of a large QR code to blocks of data with ZXing. Argument: blocks. */

import com.google.zxing.common.reedsolomon.GenericGF;
import com.google.zxing.common.reedsolomon.ReedSolomonEncoder;
import java.util.SplittableRandom;

public class Main {
	private static final int DATA = 118, CORRECTION = 30;

	public static void main(String[] arguments) {
		int blocks = Integer.parseInt(arguments[0]);
		ReedSolomonEncoder encoder = new ReedSolomonEncoder(GenericGF.QR_CODE_FIELD_256);
		SplittableRandom random = new SplittableRandom(1);
		int[] block = new int[DATA + CORRECTION];
		long total = 0;
		for (int number = 0; number < blocks; number++) {
			for (int at = 0; at < DATA; at++)
				block[at] = random.nextInt(256);
			encoder.encode(block, CORRECTION);
			for (int at = DATA; at < block.length; at++)
				total = total * 31 + block[at];
		}
		System.out.println("result: " + total);
	}
}
