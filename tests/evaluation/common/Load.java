import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends requests to a server at a fixed rate, from a JVM of its own that no profiler follows, and tells how long the answers
 * take. A request's time begins when it was due, sent or not: a server that falls behind is seen. At most THREADS requests are
 * under way at once.
 */
public final class Load {
	private static final int THREADS = 16;
	private static final String BEGIN = "begin", PERCENTILES = "percentiles";

	/** One client's connection to the server. The class has a public constructor without arguments. */
	public interface Client {
		void connect(int port) throws Exception;

		/** Sends a request, waits for its answer, and throws an exception where it is not the right one. */
		void request(int number) throws Exception;

		void close() throws Exception;
	}

	private final int rate, first, all;
	private final long start = System.nanoTime();
	private final AtomicInteger next = new AtomicInteger();
	private final long[] took;

	private Load(int rate, int leftOut, int seconds) {
		this.rate = rate;
		first = rate * leftOut;
		all = first + rate * seconds;
		took = new long[all];
	}

	private static List<Client> connected(String kind, int port) throws Exception {
		List<Client> clients = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			clients.add((Client) Class.forName(kind).getConstructor().newInstance());
			clients.get(i).connect(port);
		}
		return clients;
	}

	private Void send(Client client) throws Exception {
		try {
			for (int number; (number = next.getAndIncrement()) < all;) {
				long due = start + 1_000_000_000L * number / rate;
				for (long left; (left = due - System.nanoTime()) > 0;)
					LockSupport.parkNanos(left);
				if (number == first)
					System.out.println(BEGIN);
				client.request(number);
				took[number] = System.nanoTime() - due;
			}
		} finally {
			client.close();
		}
		return null;
	}

	/** The program of the clients' JVM. Arguments: the client's class, the server's port, requests a second, seconds left out, seconds. */
	public static void main(String[] args) throws Exception {
		int[] numbers = Arrays.stream(args).skip(1).mapToInt(Integer::parseInt).toArray();
		List<Client> clients = connected(args[0], numbers[0]);
		Load load = new Load(numbers[1], numbers[2], numbers[3]);
		ExecutorService threads = Executors.newFixedThreadPool(THREADS, task -> {
			Thread thread = new Thread(task);
			thread.setDaemon(true); // one that fails ends all
			return thread;
		});
		List<Future<Void>> ends = new ArrayList<>();
		for (Client client : clients)
			ends.add(threads.submit((Callable<Void>) () -> load.send(client)));
		for (Future<Void> end : ends)
			end.get();
		threads.shutdown();
		long[] sorted = Arrays.copyOfRange(load.took, load.first, load.all);
		Arrays.sort(sorted);
		StringBuilder told = new StringBuilder(PERCENTILES);
		for (double part : new double[] {50, 90, 99, 99.9})
			told.append(String.format(Locale.ROOT, " p%s=%.6f", String.valueOf(part).replace(".0", ""),
					sorted[(int) Math.ceil(part / 100 * sorted.length) - 1] / 1e6));
		System.out.println(told);
	}

	private static Process clients(Class<? extends Client> kind, int port, String[] args) throws IOException {
		List<String> words = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-Xmx128m", "-cp",
				System.getProperty("java.class.path"), "Load", kind.getName(), String.valueOf(port)));
		words.addAll(Arrays.asList(args));
		ProcessBuilder builder = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT);
		builder.environment().clear(); // the profiler's settings among it
		return builder.start();
	}

	/**
	 * Puts load on the server in this JVM, and prints what its requests cost and how long they take as "measured: ".
	 * `args`: requests a second, seconds that are left out, and seconds that count.
	 */
	public static void drive(Class<? extends Client> kind, int port, String[] args) throws Exception {
		Process process = clients(kind, port, args);
		double cpu = 0;
		String percentiles = null;
		try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
			for (String line; (line = lines.readLine()) != null;) {
				if (line.equals(BEGIN))
					cpu = Rounds.cpuSeconds();
				else if (line.startsWith(PERCENTILES))
					percentiles = line.substring(PERCENTILES.length());
			}
		}
		double used = Rounds.cpuSeconds() - cpu;
		Result.check(process.waitFor() == 0 && percentiles != null, "the clients ended with " + process.exitValue());
		int counted = Integer.parseInt(args[0]) * Integer.parseInt(args[2]);
		System.out.printf(Locale.ROOT, "measured: cpu=%.6f requests=%d%s%n", 1000 * used / counted, counted, percentiles);
		Result.is(counted + Integer.parseInt(args[0]) * Integer.parseInt(args[1]));
	}
}
