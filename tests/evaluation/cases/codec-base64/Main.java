/* Main - writes and reads short tokens in Base64 with Commons Codec. Argument: tokens. */

import org.apache.commons.codec.binary.Base64;

public class Main {
	public static void main(String[] arguments) {
		int tokens = Integer.parseInt(arguments[0]);
		byte[] token = new byte[24];
		long total = 0;
		for (int number = 0; number < tokens; number++) {
			for (int at = 0; at < 4; at++)
				token[at] = (byte) (number >> 8 * at);
			String text = Base64.encodeBase64String(token);
			total = total * 31 + text.hashCode() + Base64.decodeBase64(text)[1];
		}
		System.out.println("result: " + total);
	}
}
