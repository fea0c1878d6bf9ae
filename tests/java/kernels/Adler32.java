// SPDX-License-Identifier: Apache-2.0
package kernels;

import java.util.Random;

/** A checksum whose modulus the compiler knows: it divides by no division. */
public final class Adler32 {
	private static final int MODULUS = 65_521;
	private static final int SIZE = 1000;

	private Adler32() {
	}

	static byte[] data() {
		byte[] data = new byte[SIZE];
		new Random(3).nextBytes(data);
		return data;
	}

	static int checksum(byte[] data) {
		int a = 1;
		int b = 0;
		/** @bench-this */
		for (byte value : data) {
			a = (a + (value & 0xff)) % MODULUS;
			b = (b + a) % MODULUS;
		}
		return b << 16 | a;
	}

	public static void main(String[] words) {
		byte[] data = data();
		int all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			all += checksum(data);
		}
		System.out.println(all);
	}
}
