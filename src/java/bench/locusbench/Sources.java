// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import spoon.Launcher;
import spoon.SpoonException;
import spoon.reflect.CtModel;
import spoon.reflect.declaration.CtType;
import spoon.support.compiler.VirtualFile;

/** Finds the source file of a class, and has Spoon read it. */
final class Sources {
	private static final int JAVA = 21; // the newest version that is read

	private final List<String> path;
	private final List<String> classPath;

	Sources(List<String> path, List<String> classPath) {
		this.path = path;
		this.classPath = classPath;
	}

	private static String file(String binaryName) {
		String outer = binaryName.contains("$") ? binaryName.substring(0, binaryName.indexOf('$')) : binaryName;
		return outer.replace('.', '/') + ".java";
	}

	/** The text of the source file of a class; null: there is none. */
	String textOf(String binaryName) throws IOException {
		return text(file(binaryName));
	}

	/** The class as it stands in its source file; nested ones too. */
	CtType<?> type(String binaryName) throws Refusal, IOException {
		String name = file(binaryName);
		String text = text(name);
		if (text == null) {
			throw new Refusal("no source of " + binaryName + ": there is no " + name + " in " + String.join(":", path));
		}
		CtModel model = model(text, name);
		for (CtType<?> type : model.getElements((CtType<?> t) -> true)) {
			if (type.getQualifiedName().equals(binaryName)) {
				return type;
			}
		}
		throw new Refusal("no class " + binaryName + " in " + name);
	}

	/** All types of a text: for tests. */
	static CtModel model(String text, String name, List<String> classPath) throws Refusal {
		Launcher launcher = new Launcher();
		launcher.getEnvironment().setNoClasspath(true);
		launcher.getEnvironment().setComplianceLevel(JAVA);
		launcher.getEnvironment().setAutoImports(false);
		launcher.getEnvironment().setCommentEnabled(true);
		launcher.getEnvironment().setLevel("OFF");
		launcher.getEnvironment().setSourceClasspath(
				classPath.stream().filter(entry -> Files.exists(Path.of(entry))).toArray(String[]::new));
		launcher.addInputResource(new VirtualFile(text, Path.of(name).getFileName().toString()));
		try {
			return launcher.buildModel();
		} catch (SpoonException e) {
			throw new Refusal("the source " + name + " cannot be read: " + e.getMessage());
		}
	}

	private CtModel model(String text, String name) throws Refusal {
		return model(text, name, classPath);
	}

	/** The classes of the source path that are marked with @bench-this, as binary names of the outermost class. */
	List<String> marked() throws IOException {
		List<String> found = new ArrayList<>();
		for (String entry : path) {
			Path root = Path.of(entry);
			if (!Files.isDirectory(root)) {
				continue;
			}
			try (Stream<Path> files = Files.walk(root)) {
				for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".java"))::iterator) {
					if (Files.readString(file).contains(Segment.MARK)) {
						String name = root.relativize(file).toString();
						found.add(name.substring(0, name.length() - ".java".length()).replace('/', '.'));
					}
				}
			}
		}
		return found;
	}

	private String text(String name) throws IOException {
		for (String entry : path) {
			Path root = Path.of(entry);
			if (Files.isDirectory(root)) {
				Path file = root.resolve(name);
				if (Files.isRegularFile(file)) {
					return Files.readString(file);
				}
			} else if (Files.isRegularFile(root)) {
				try (ZipFile archive = new ZipFile(root.toFile())) {
					ZipEntry file = archive.getEntry(name);
					if (file != null) {
						try (InputStream in = archive.getInputStream(file)) {
							return new String(in.readAllBytes(), StandardCharsets.UTF_8);
						}
					}
				}
			}
		}
		return null;
	}
}
