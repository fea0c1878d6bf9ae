import java.util.Arrays;

/**
 * Finds the primes below 5000 with the sieve of Eratosthenes, of which there are 669. Argument: how often; each time in
 * an array of its own.
 */
public final class Sieve {
	private static final int BELOW = 5000, PRIMES = 669;

	private static int primes(boolean[] prime) {
		int count = 0;
		Arrays.fill(prime, true);
		for (int i = 2; i < prime.length; i++) {
			if (!prime[i])
				continue;
			count++;
			for (int k = i + i; k < prime.length; k += i)
				prime[k] = false;
		}
		return count;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int count = primes(new boolean[BELOW]);
			Result.check(count == PRIMES, count + " primes");
			sum += count;
		}
		Result.is(sum);
	}
}
