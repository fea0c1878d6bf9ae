import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

/**
 * Allocates arrays at one line for some time: Duration MILLISECONDS STATUS [spans [LEFT]]. In the second half
 * it starts a thread every 10 ms, which allocates too, and collects garbage. With `spans` each round
 * executes ten streams and a task of a pool as well. With LEFT it goes on, for half a minute at most, until no thread is named
 * like LEFT: a recording that ends takes some time on a busy machine.
 *
 * Prints one line of JSON: `counts`, System.nanoTime(), how many arrays the line had made by then, and
 * how many rounds with spans there were; and what the process had at the end: names of `threads`, targets of file descriptors
 * (`files`), lines of /proc/self/timers (`timers`, -1 where there is no such file). Exits with STATUS.
 */
public class Duration {
    static volatile Object sink;
    static long made, rounds;

    static void make() {
        for (int i = 0; i < 100; i++)
            sink = new byte[2000];
        made += 100;
    }

    static void spans(ExecutorService pool) throws Exception {
        for (int i = 0; i < 10; i++)
            sink = IntStream.range(0, 100).sum();
        pool.submit(() -> sink = "task").get();
        rounds++;
    }

    static void other() {
        for (int i = 0; i < 1000; i++)
            sink = new int[1000];
    }

    static String quote(String text) {
        return "\"" + text.replace("\\", "/").replace("\"", "'").strip() + "\"";
    }

    static List<String> threads() throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks)
                try {
                    names.add(quote(Files.readString(task.resolve("comm"))));
                } catch (IOException e) {
                    continue; /* it has ended */
                }
        }
        return names;
    }

    static List<String> files() throws IOException {
        List<String> targets = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path file : files)
                try {
                    targets.add(quote(Files.readSymbolicLink(file).toString()));
                } catch (IOException e) {
                    continue; /* the directory's own */
                }
        }
        return targets;
    }

    static int timers() throws IOException {
        Path path = Path.of("/proc/self/timers");
        return Files.exists(path) ? Files.readAllLines(path).size() : -1;
    }

    public static void main(String[] args) throws Exception {
        long begin = System.nanoTime(), length = Long.parseLong(args[0]) * 1000000, next = begin, started = 0;
        StringBuilder counts = new StringBuilder();
        ExecutorService pool = args.length > 2 ? Executors.newFixedThreadPool(1) : null;

        for (long now = begin; now - begin < length; now = System.nanoTime()) {
            make();
            if (pool != null)
                spans(pool);
            if (now < next)
                continue;
            next = now + 5000000;
            counts.append(counts.length() > 0 ? ", " : "").append("[" + System.nanoTime() + ", " + made + ", " + rounds + "]");
            if (now - begin > length / 2 && now - begin > length / 2 + started * 10000000) {
                Thread t = new Thread(Duration::other, "late-" + started++);
                t.start();
                if (started % 10 == 0)
                    System.gc();
            }
        }
        for (int i = 0; args.length > 3 && i < 3000 && threads().toString().contains(args[3]); i++)
            Thread.sleep(10);
        System.out.println("{\"counts\": [" + counts + "], \"made\": " + made + ", \"rounds\": " + rounds + ", \"threads\": " + threads()
            + ", \"files\": " + files() + ", \"timers\": " + timers() + "}");
        System.exit(Integer.parseInt(args[1]));
    }
}
