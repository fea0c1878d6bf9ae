import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * Loads and links every class of this JDK ("jdk", or "jdk:MODULE" for one module) or of jars,
 * without initialising it, so that the verifier sees it. Prints one line:
 * classes, linked, unresolved (a class it needs is not there), refused (VerifyError,
 * ClassFormatError or another LinkageError).
 */
public final class LinkAll {
	private static long classes;
	private static long linked;
	private static long unresolved;
	private static long refused;

	/** Whether the JVM has verified and linked the class. */
	private static native boolean isLinked(Class<?> c);

	private interface Finder {
		Class<?> find() throws ClassNotFoundException;
	}

	private static void link(String name, Finder finder) {
		Class<?> c = null;
		classes++;
		try {
			c = finder.find();
			if (c != null)
				c.getDeclaredMethods(); // links it first
		} catch (ClassNotFoundException | NoClassDefFoundError | TypeNotPresentException e) {
			// A signature may name a class that is absent; the class may be linked all the same.
		} catch (LinkageError e) {
			refused++;
			System.out.println("refused: " + name + ": " + e);
			return;
		}
		if (c != null && isLinked(c))
			linked++;
		else
			unresolved++;
	}

	private static void linkJdk(String only) throws IOException {
		Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
		List<Path> files = new ArrayList<>();
		try (Stream<Path> all = Files.walk(modules)) {
			all.filter(p -> p.toString().endsWith(".class") && p.getNameCount() > 2)
				.filter(p -> !p.endsWith("module-info.class"))
				.filter(p -> only == null || p.getName(1).toString().equals(only))
				.forEach(files::add);
		}
		for (Path p : files) {
			String module = p.getName(1).toString();
			String path = p.subpath(2, p.getNameCount()).toString();
			String name = path.substring(0, path.length() - 6).replace('/', '.');
			Module m = ModuleLayer.boot().findModule(module).orElse(null);
			if (m != null)
				link(name, () -> Class.forName(m, name));
		}
	}

	private static void linkJars(List<String> jars) throws IOException {
		URL[] urls = new URL[jars.size()];
		for (int i = 0; i < urls.length; i++)
			urls[i] = Path.of(jars.get(i)).toUri().toURL();
		URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
		for (String jar : jars) {
			try (JarFile file = new JarFile(jar)) {
				for (Enumeration<JarEntry> e = file.entries(); e.hasMoreElements();) {
					String path = e.nextElement().getName();
					if (!path.endsWith(".class") || path.startsWith("META-INF/")
						|| path.endsWith("module-info.class"))
						continue;
					String name = path.substring(0, path.length() - 6).replace('/', '.');
					link(name, () -> Class.forName(name, false, loader));
				}
			}
		}
	}

	public static void main(String[] args) throws IOException {
		List<String> jars = new ArrayList<>();
		for (String a : args) {
			if (a.equals("jdk"))
				linkJdk(null);
			else if (a.startsWith("jdk:"))
				linkJdk(a.substring(4));
			else
				jars.add(a);
		}
		if (!jars.isEmpty())
			linkJars(jars);
		System.out.println("linked_all: classes=" + classes + " linked=" + linked
			+ " unresolved=" + unresolved + " refused=" + refused);
	}
}
