import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;

/**
 * Finds primes by actors (Pekko): each actor knows some primes, drops what they divide, and sends the rest on to the
 * next, which the last one makes when it has enough. Two threads run all actors. Arguments: up to which number, how
 * often.
 */
public final class SieveOfActors {
	private static final int PRIMES_OF_EACH = 64;
	private static final String OPTIONS = """
		pekko.loglevel = ERROR
		pekko.stdout-loglevel = ERROR
		pekko.actor.default-dispatcher.fork-join-executor { parallelism-min = 2, parallelism-max = 2 }
		""";

	private enum Word { END }

	/** Knows some primes, and the actor that knows the next ones. */
	public static final class Filter extends AbstractActor {
		private final int[] primes = new int[PRIMES_OF_EACH];
		private final ActorRef collector;
		private int known;
		private ActorRef next;

		public Filter(ActorRef collector) { this.collector = collector; }

		@Override
		public Receive createReceive() {
			return receiveBuilder().match(Integer.class, this::number).match(Word.class, this::end).build();
		}

		private void number(int n) {
			for (int i = 0; i < known; i++)
				if (n % primes[i] == 0)
					return;
			if (next != null) {
				next.tell(n, getSelf());
				return;
			}
			primes[known++] = n;
			collector.tell(n, getSelf());
			if (known == PRIMES_OF_EACH)
				next = getContext().actorOf(Props.create(Filter.class, collector));
		}

		private void end(Word word) {
			if (next != null)
				next.tell(word, getSelf());
			else
				collector.tell(word, getSelf());
		}
	}

	/** Counts the primes, which come in any order. */
	public static final class Collector extends AbstractActor {
		private final CompletableFuture<long[]> done;
		private final long[] found = new long[2];

		public Collector(CompletableFuture<long[]> done) { this.done = done; }

		@Override
		public Receive createReceive() {
			return receiveBuilder().match(Integer.class, this::prime)
				.match(Word.class, word -> done.complete(found)).build();
		}

		private void prime(int prime) {
			found[0]++;
			found[1] += prime;
		}
	}

	private SieveOfActors() {}

	private static long[] run(ActorSystem system, int limit) {
		CompletableFuture<long[]> done = new CompletableFuture<>();
		ActorRef collector = system.actorOf(Props.create(Collector.class, done));
		ActorRef first = system.actorOf(Props.create(Filter.class, collector));
		for (int n = 2; n <= limit; n++)
			first.tell(n, ActorRef.noSender());
		first.tell(Word.END, ActorRef.noSender());
		long[] found = done.join();
		system.stop(first);
		system.stop(collector);
		return found;
	}

	/** The expected result, by the sieve of Eratosthenes. */
	private static long[] expected(int limit) {
		boolean[] composite = new boolean[limit + 1];
		long[] found = new long[2];
		for (int i = 2; i <= limit; i++) {
			if (composite[i])
				continue;
			found[0]++;
			found[1] += i;
			for (long k = (long) i * i; k <= limit; k += i)
				composite[(int) k] = true;
		}
		return found;
	}

	public static void main(String[] args) {
		int limit = Integer.parseInt(args[0]);
		Config config = ConfigFactory.parseString(OPTIONS).withFallback(ConfigFactory.load());
		ActorSystem system = ActorSystem.create("sieve", config);
		long[] expected = expected(limit);
		long sum = 0;
		for (int i = Integer.parseInt(args[1]); i > 0; i--) {
			long[] found = run(system, limit);
			Result.check(found[0] == expected[0] && found[1] == expected[1], found[0] + " primes");
			sum += found[0];
		}
		system.terminate();
		system.getWhenTerminated().toCompletableFuture().join();
		Result.is(sum);
	}
}
