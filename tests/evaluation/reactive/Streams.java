import java.io.IOException;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Sends measurements through streams (Reactor): windows, groups, retries of what fails, merging and two threads that
 * work on parts. The result does not hang on the order in which the threads work. Arguments: measurements, how often.
 */
public final class Streams {
	private record Measurement(int sensor, long value) {
	}

	private record Mean(int sensor, long value) {
	}

	private final int count;
	private final Scheduler workers;

	private Streams(int count, Scheduler workers) {
		this.count = count;
		this.workers = workers;
	}

	private static long mix(long n) {
		n = (n ^ n >>> 31) * 0x7fb5d329728ea185L;
		return (n ^ n >>> 27) & 0xffff;
	}

	private Flux<Measurement> measurements(int round) {
		return Flux.range(0, count).map(i -> new Measurement(i % 16, mix(i * 1000L + round)));
	}

	/** Each value that is divisible fails at first, and is right when it is asked for again. */
	private static Mono<Long> fetch(long value) {
		int[] tries = new int[1];
		return Mono.fromCallable(() -> {
			if (value % 64 == 0 && tries[0]++ == 0)
				throw new IOException("not now");
			return value * 3;
		}).retry(2);
	}

	private static Mono<Mean> mean(int sensor, List<Measurement> window) {
		return Flux.fromIterable(window).concatMap(m -> fetch(m.value())).reduce(0L, Long::sum)
				.map(sum -> new Mean(sensor, sum / window.size()));
	}

	private long bySensor(int round) {
		return measurements(round).groupBy(Measurement::sensor, 16)
				.flatMap(group -> group.buffer(50).concatMap(window -> mean(group.key(), window)), 16)
				.distinctUntilChanged()
				.map(m -> mix(m.sensor() * 70_000L + m.value()))
				.reduce(0L, Long::sum).block();
	}

	private long onThreads(int round) {
		return measurements(round).parallel(2).runOn(workers)
				.filter(m -> m.value() % 3 != 0)
				.map(m -> mix(m.value() * 31 + m.sensor()))
				.reduce(() -> 0L, Long::sum)
				.sequential().reduce(0L, Long::sum).block();
	}

	private long zipped(int round) {
		Flux<Long> values = measurements(round).map(Measurement::value);
		return Flux.zip(values, values.skip(1), (a, b) -> Math.abs(a - b)).scan(Math::max)
				.takeUntil(max -> max > 65_000).mergeWith(values.take(100)).reduce(0L, Long::sum).block();
	}

	public static void main(String[] args) {
		Scheduler workers = Schedulers.newParallel("work", 2, true);
		Streams streams = new Streams(Integer.parseInt(args[0]), workers);
		long sum = 0;
		for (int i = Integer.parseInt(args[1]); i > 0; i--)
			sum += streams.bySensor(i) + streams.onThreads(i) + streams.zipped(i);
		workers.dispose();
		Result.is(sum);
	}
}
