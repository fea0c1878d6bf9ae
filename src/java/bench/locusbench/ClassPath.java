// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Copies the class path of a program into a directory, where all of it are jars: Maven takes no directories of classes. Such a
 * jar has what class loaders look for in the directory, and nothing else that is there.
 */
final class ClassPath {
	/** Files that no class loader is asked for. */
	private static final Pattern OTHER = Pattern.compile("(^|/)\\.[^/]*$|\\.(java|kt|scala|jar|war|zip|lcb|jfr|hprof|log)$");

	private ClassPath() {
	}

	/**
	 * The names of the jars in `directory`, in the order of the class path; other ones there are deleted. Missing entries are
	 * passed over, as in the JVM.
	 */
	static List<String> copy(List<String> classPath, Path directory) throws IOException {
		List<String> names = new ArrayList<>();
		empty(directory);
		for (String element : classPath) {
			Path from = Path.of(element).toAbsolutePath().normalize();
			if (!Files.exists(from)) {
				continue;
			}
			String name = String.format("%02d-%s", names.size(), from.getFileName() == null ? "root" : from.getFileName())
					.replaceAll("[^A-Za-z0-9._-]", "_").replaceAll("\\.jar$", "") + ".jar";
			Files.createDirectories(directory);
			if (Files.isDirectory(from)) {
				pack(from, directory.resolve(name));
			} else {
				Files.copy(from, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
			}
			names.add(name);
		}
		return names;
	}

	private static void empty(Path directory) throws IOException {
		if (Files.isDirectory(directory)) {
			try (Stream<Path> all = Files.list(directory)) {
				for (Path jar : (Iterable<Path>) all::iterator) {
					Files.delete(jar);
				}
			}
		}
	}

	private static void pack(Path root, Path jar) throws IOException {
		List<Path> files = new ArrayList<>();
		Files.walkFileTree(root, Set.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, new SimpleFileVisitor<>() {
			@Override
			public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
				return directory.equals(root) || !isOther(root, directory) ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
			}

			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				if (attributes.isRegularFile() && isFound(root, file)) {
					files.add(file);
				}
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult visitFileFailed(Path file, IOException e) {
				return FileVisitResult.CONTINUE; // a loop of links, or no permission
			}
		});
		files.sort(null);
		try (OutputStream file = Files.newOutputStream(jar); JarOutputStream out = new JarOutputStream(file)) {
			for (Path path : files) {
				out.putNextEntry(new JarEntry(name(root, path)));
				Files.copy(path, out);
				out.closeEntry();
			}
		}
	}

	private static String name(Path root, Path file) {
		return root.relativize(file).toString().replace('\\', '/');
	}

	/**
	 * Is the directory hidden, a project (also one of Locus) or a profile, and so no package? A program may start in its
	 * project, and its class path then has such directories.
	 */
	private static boolean isOther(Path root, Path directory) throws IOException {
		if (name(root, directory).startsWith("META-INF")) { // where Maven leaves its pom.xml
			return false;
		}
		Path request = directory.resolve("request.json");
		return directory.getFileName().toString().startsWith(".") || Files.exists(directory.resolve("pom.xml"))
				|| Files.exists(request) && Files.readString(request).contains("\"source_path\"")
				|| Files.exists(directory.resolve("manifest.json")) && Files.readString(directory.resolve("manifest.json")).contains("\"processes\"");
	}

	/** Is it a resource, or a class at the place where a class loader looks for it? */
	private static boolean isFound(Path root, Path file) throws IOException {
		String name = name(root, file);
		if (name.endsWith(".class")) {
			try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
				String inside = ClassName.read(in);
				return name.equals(inside + ".class") || name.startsWith("META-INF/versions/") && name.endsWith("/" + inside + ".class");
			} catch (IOException e) {
				return false; // no class
			}
		}
		return !OTHER.matcher(name).find();
	}
}
