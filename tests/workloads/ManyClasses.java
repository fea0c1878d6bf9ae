import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/*
 * Loads classes of java.base and then waits, as a large server does that is attached to.
 *
 * Usage: ManyClasses COUNT
 *
 * Says "ready" when they are loaded and linked, and ends when its standard input does.
 */
public final class ManyClasses {
	static final List<Class<?>> LOADED = new ArrayList<>();

	static void load(Path file) {
		String name = file.toString().substring("/modules/java.base/".length()).replace('/', '.');
		try {
			Class<?> loaded = Class.forName(name.substring(0, name.length() - ".class".length()), false, null);
			loaded.getDeclaredMethods();
			LOADED.add(loaded);
		} catch (ReflectiveOperationException | LinkageError e) {
			// one that needs what is not there
		}
	}

	public static void main(String[] args) throws Exception {
		int count = Integer.parseInt(args[0]);
		try (Stream<Path> files = Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base"))) {
			for (Path file : (Iterable<Path>) files::iterator) {
				if (LOADED.size() == count)
					break;
				if (file.toString().endsWith(".class") && !file.toString().endsWith("-info.class"))
					load(file);
			}
		}
		System.out.println("ready");
		while (System.in.read() >= 0)
			continue;
		System.out.println("ended");
	}
}
