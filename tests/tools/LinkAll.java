// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * Loads and links every class of this JDK ("jdk", or "jdk:MODULE" for one module) or of jars and
 * directories, without initialising it, so that the verifier sees it. Prints one line:
 * classes, linked, unresolved (a class it needs is not there), refused (VerifyError,
 * ClassFormatError or another LinkageError).
 *
 * With "every=N" it is every N-th class only. With "modes=A;B", the jars are linked once for each
 * of these options of verify_agent, each time in a new class loader, and each time that line and
 * what the agent counted follow "mode: OPTIONS".
 */
public final class LinkAll {
	private static long classes;
	private static long linked;
	private static long unresolved;
	private static long refused;

	/** Whether the JVM has verified and linked the class. */
	private static native boolean isLinked(Class<?> c);

	/** Rewrite classes of class loaders so from now on; returns what was counted before. */
	private static native String mode(String options);

	private static int every = 1;

	private interface Finder {
		Class<?> find() throws ClassNotFoundException;
	}

	private static void link(String name, Finder finder) {
		Class<?> c = null;
		Throwable why = null;
		classes++;
		try {
			c = finder.find();
			if (c != null)
				c.getDeclaredMethods(); // links it first
		} catch (ClassNotFoundException | NoClassDefFoundError | TypeNotPresentException e) {
			why = e; // a signature may name a class that is absent; it may be linked all the same
		} catch (LinkageError e) {
			refused++;
			System.out.println("refused: " + name + ": " + e);
			return;
		}
		if (c != null && isLinked(c)) {
			linked++;
			return;
		}
		unresolved++;
		System.out.println("unresolved: " + name + ": " + why);
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
		Collections.sort(files);
		int number = 0;
		for (Path p : files) {
			String module = p.getName(1).toString();
			String path = p.subpath(2, p.getNameCount()).toString();
			String name = path.substring(0, path.length() - 6).replace('/', '.');
			Module m = ModuleLayer.boot().findModule(module).orElse(null);
			if (m != null && number++ % every == 0)
				link(name, () -> Class.forName(m, name));
		}
	}

	private static List<String> namesIn(Path path) throws IOException {
		List<String> names = new ArrayList<>();
		if (Files.isDirectory(path)) {
			try (Stream<Path> all = Files.walk(path)) {
				all.filter(Files::isRegularFile).forEach(p -> names.add(path.relativize(p).toString()));
			}
		} else {
			try (JarFile file = new JarFile(path.toFile())) {
				for (Enumeration<JarEntry> e = file.entries(); e.hasMoreElements();)
					names.add(e.nextElement().getName());
			}
		}
		names.removeIf(n -> !n.endsWith(".class") || n.startsWith("META-INF/")
			|| n.endsWith("module-info.class"));
		names.sort(null);
		return names;
	}

	private static void linkJars(List<String> jars) throws IOException {
		URL[] urls = new URL[jars.size()];
		for (int i = 0; i < urls.length; i++)
			urls[i] = Path.of(jars.get(i)).toUri().toURL();
		URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
		for (String jar : jars) {
			List<String> names = namesIn(Path.of(jar));
			for (int i = 0; i < names.size(); i += every) {
				String path = names.get(i);
				String name = path.substring(0, path.length() - 6).replace('/', '.');
				link(name, () -> Class.forName(name, false, loader));
			}
		}
		loader.close();
	}

	private static void printCounts() {
		System.out.println("linked_all: classes=" + classes + " linked=" + linked
			+ " unresolved=" + unresolved + " refused=" + refused);
		classes = linked = unresolved = refused = 0;
	}

	private static void linkInModes(List<String> jars, String[] modes) throws IOException {
		for (String options : modes) {
			System.out.println("mode: " + options);
			mode(options);
			linkJars(jars);
			System.out.println("counted: " + mode("off"));
			printCounts();
			System.gc(); // the classes go, or there would be no room for the next mode's
		}
	}

	public static void main(String[] args) throws IOException {
		List<String> jars = new ArrayList<>();
		String[] modes = {};
		for (String a : args) {
			if (a.equals("jdk"))
				linkJdk(null);
			else if (a.startsWith("jdk:"))
				linkJdk(a.substring(4));
			else if (a.startsWith("every="))
				every = Integer.parseInt(a.substring(6));
			else if (a.startsWith("modes="))
				modes = a.substring(6).split(";");
			else
				jars.add(a);
		}
		if (modes.length > 0) {
			linkInModes(jars, modes);
			return;
		}
		if (!jars.isEmpty())
			linkJars(jars);
		printCounts();
	}
}
