// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Copies the class path of a program into a directory, where all of it are jars: Maven takes no directories of classes. */
final class ClassPath {
	private ClassPath() {
	}

	/**
	 * The names of the jars in `directory`, in the order of the class path. What does not exist is passed over, as the JVM does
	 * it, and what is below the project too, which may be written into a directory of the class path.
	 */
	static List<String> copy(List<String> classPath, Path directory) throws IOException {
		List<String> names = new ArrayList<>();
		for (String element : classPath) {
			Path from = Path.of(element).toAbsolutePath().normalize();
			if (!Files.exists(from)) {
				continue;
			}
			String name = String.format("%02d-%s", names.size(), from.getFileName() == null ? "root" : from.getFileName())
					.replaceAll("[^A-Za-z0-9._-]", "_").replaceAll("\\.jar$", "") + ".jar";
			Files.createDirectories(directory);
			if (Files.isDirectory(from)) {
				pack(from, directory.resolve(name), directory.toAbsolutePath().normalize().getParent());
			} else {
				Files.copy(from, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
			}
			names.add(name);
		}
		return names;
	}

	private static void pack(Path directory, Path jar, Path without) throws IOException {
		List<Path> files;
		try (Stream<Path> all = Files.walk(directory)) {
			files = all.filter(file -> Files.isRegularFile(file) && !file.startsWith(without)).sorted().collect(Collectors.toList());
		}
		try (OutputStream file = Files.newOutputStream(jar); JarOutputStream out = new JarOutputStream(file)) {
			for (Path path : files) {
				out.putNextEntry(new JarEntry(directory.relativize(path).toString().replace('\\', '/')));
				Files.copy(path, out);
				out.closeEntry();
			}
		}
	}
}
