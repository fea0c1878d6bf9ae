import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import locusapi.Locus;

/*
 * Records itself through the Java API.
 *
 * Usage: java -cp locus-api.jar:. RecordsItself MODE DIRECTORY
 *
 * The result of each call is printed. "twice": two recordings, DIRECTORY/1 and DIRECTORY/2, of 100 and 200 arrays with marks between;
 * 1,000 more are made before, between and behind. "end": the first call ends what records already. "loop": a mark every 400 ms, and a
 * profile every 200 ms. "asked": four threads ask for a dump all the time, until the recording of half a second is over. "phases":
 * allocations between marks. "none":
 * nobody records, and nothing can be begun.
 */
public final class RecordsItself {
	static volatile Object kept;

	static void allocate(int times) {
		for (int i = 0; i < times; i++)
			kept = new int[1000];
	}

	static boolean fails(String options) {
		try {
			Locus.start(options);
			return false;
		} catch (IllegalStateException e) {
			System.err.println(e.getMessage());
			return true;
		}
	}

	/* Without a pause between two requests. Returns whether the recording has ended. */
	static boolean ask(java.lang.reflect.Method request, long seconds) throws Exception {
		long end = System.nanoTime() + seconds * 1_000_000_000;
		while (Locus.isRecording() && System.nanoTime() < end)
			request.invoke(null, "status", "");
		return !Locus.isRecording();
	}

	static boolean asked(String directory) throws Exception {
		java.lang.reflect.Method request = Locus.class.getDeclaredMethod("ask0", String.class, String.class);
		request.setAccessible(true);
		Locus.start("duration=500ms,output=" + directory);
		return IntStream.range(0, 4).mapToObj(i -> CompletableFuture.supplyAsync(() -> {
			try {
				return ask(request, 60);
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
		}, command -> new Thread(command).start())).toList().stream().allMatch(CompletableFuture::join);
	}

	static void record(String directory, int times, String... marks) {
		System.out.println(Locus.start("output=" + directory).equals(directory) + " " + Locus.isRecording());
		for (String mark : marks) {
			allocate(times / marks.length);
			System.out.println(Locus.mark(mark));
		}
	}

	static final int PHASES = 4;

	/* Between two marks this thread, one that goes on and one that ends allocate. */
	static void phases(String directory) throws Exception {
		ExecutorService other = Executors.newSingleThreadExecutor();
		Locus.start("output=" + directory);
		allocate(50);
		for (int i = 1; i <= PHASES; i++) {
			int phase = i;
			Locus.mark("begin " + i);
			allocate(i);
			other.submit(() -> allocate(1000 * phase)).get();
			Thread brief = new Thread(() -> allocate(100 * phase));
			brief.start();
			brief.join();
			Locus.mark("end " + i);
			allocate(7);
		}
		Locus.stop();
		other.shutdown();
	}

	public static void main(String[] args) throws Exception {
		if (!args[0].equals("end"))
			System.out.println(Locus.isRecording() + " " + Locus.mark("early") + " " + Locus.dump() + " " + Locus.stop());
		switch (args[0]) {
		case "twice":
			allocate(1000);
			System.out.println(fails("no-such-option=1") + " " + Locus.isRecording());
			record(args[1] + "/1", 100, "one");
			System.out.println(Locus.dump() + " " + Files.exists(Path.of(args[1], "1", "manifest.json")));
			System.out.println(fails("output=" + args[1] + "/3"));
			System.out.println(Locus.stop() + " " + Locus.isRecording() + " " + Locus.stop() + " " + Locus.mark("late"));
			allocate(1000);
			record(args[1] + "/2", 200, "tw\u00f6", "\ud83d\ude00".repeat(100));
			System.out.println(Locus.stop());
			allocate(1000);
			break;
		case "end":
			allocate(100);
			System.out.println(Locus.isRecording() + " " + Locus.mark("one") + " " + Locus.stop() + " " + Locus.isRecording());
			allocate(1000);
			break;
		case "loop":
			Locus.start("loop=200ms,output=" + args[1] + "/loop");
			for (String mark : new String[] { "one", "two", "three" }) {
				Locus.mark(mark);
				Thread.sleep(400);
			}
			Locus.stop();
			break;
		case "phases":
			phases(args[1] + "/phases");
			break;
		case "asked":
			System.out.println(asked(args[1] + "/asked"));
			break;
		default:
			System.out.println(fails("output=" + args[1] + "/1") + " " + Locus.isRecording());
		}
		System.exit(3);
	}
}
