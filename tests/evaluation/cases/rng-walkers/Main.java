/* Main - lets walkers take random steps on two threads, each with a generator of its own (Commons RNG). Argument: steps. */

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.commons.rng.JumpableUniformRandomProvider;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.simple.RandomSource;

public class Main {
	private static final int THREADS = 2, WALKERS = 8;

	/** The squares of the distances that these walkers have gone. */
	private static long walk(UniformRandomProvider[] random, int steps) {
		long[] at = new long[random.length];
		for (int step = 0; step < steps; step++)
			for (int i = 0; i < random.length; i++)
				at[i] += random[i].nextLong() < 0 ? -1 : 1;
		long sum = 0;
		for (long end : at)
			sum += end * end;
		return sum;
	}

	private static List<Callable<Long>> parts(JumpableUniformRandomProvider source, int steps) {
		UniformRandomProvider[] all = source.jumps(WALKERS).toArray(UniformRandomProvider[]::new);
		List<Callable<Long>> parts = new ArrayList<>();
		for (int thread = 0; thread < THREADS; thread++) {
			UniformRandomProvider[] random = new UniformRandomProvider[WALKERS / THREADS];
			for (int i = 0; i < random.length; i++)
				random[i] = all[thread + THREADS * i];
			parts.add(() -> walk(random, steps));
		}
		return parts;
	}

	public static void main(String[] arguments) throws Exception {
		JumpableUniformRandomProvider source = (JumpableUniformRandomProvider) RandomSource.XO_RO_SHI_RO_128_PP.create(1L);
		ExecutorService pool = Executors.newFixedThreadPool(THREADS);
		long sum = 0;
		for (Future<Long> part : pool.invokeAll(parts(source, Integer.parseInt(arguments[0]))))
			sum += part.get();
		pool.shutdown();
		System.out.println("result: " + sum);
	}
}
