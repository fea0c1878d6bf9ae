// SPDX-License-Identifier: Apache-2.0
package kernels;

/** A power modulo a number that is a field: the compiler does not know what it divides by. */
public final class ModularPower {
	static final long BASE = 3;
	static final long EXPONENT = 0x5DEECE66DL;

	private final long modulus;

	ModularPower(long modulus) {
		this.modulus = modulus;
	}

	/** @bench-this */
	long power(long base, long exponent) {
		long result = 1;
		long square = base;
		for (long rest = exponent; rest > 0; rest >>= 1) {
			if ((rest & 1) != 0) {
				result = result * square % modulus;
			}
			square = square * square % modulus;
		}
		return result;
	}

	/** The largest prime of 31 bits. */
	static ModularPower make() {
		return new ModularPower((1L << 31) - 1);
	}

	public static void main(String[] words) {
		ModularPower power = make();
		long all = 0;
		for (int turn = 0; turn < 20_000; turn++) {
			all += power.power(BASE, EXPONENT);
		}
		System.out.println(all);
	}
}
