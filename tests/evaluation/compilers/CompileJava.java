import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.eclipse.jdt.internal.compiler.tool.EclipseCompiler;

/**
 * Compiles the sources of a library, with the JDK's compiler (javac) or that of Eclipse (ecj), in a directory that is
 * removed at the end. The result is of the names of classes. Arguments: javac or ecj, the library, how often.
 */
public final class CompileJava {
	private static final List<String> OPTIONS = List.of("--release", "17", "-proc:none", "-nowarn");

	private CompileJava() {}

	/** Writes the sources below a directory. */
	private static List<File> unpack(String library, Path directory) throws IOException {
		List<File> files = new ArrayList<>();
		for (SourcesJar.Source source : SourcesJar.read(library, "", ".java")) {
			Path file = directory.resolve(source.name());
			Files.createDirectories(file.getParent());
			Files.writeString(file, source.text());
			files.add(file.toFile());
		}
		return files;
	}

	/** The classes that have a name; of those that have none, a compiler may add some of its own. */
	private static String classes(Path directory) throws IOException {
		List<String> names = new ArrayList<>();
		try (Stream<Path> all = Files.walk(directory)) {
			for (Path file : all.filter(Files::isRegularFile).sorted().toList()) {
				byte[] bytes = Files.readAllBytes(file);
				Result.check(bytes[0] == (byte) 0xca && bytes[1] == (byte) 0xfe, file + " is no class");
				String name = directory.relativize(file).toString();
				if (!name.matches(".*\\$\\d.*"))
					names.add(name);
			}
		}
		return names.size() + "-" + Integer.toHexString(names.hashCode());
	}

	private static String compile(JavaCompiler compiler, List<File> sources, Path out) throws IOException {
		DiagnosticCollector<JavaFileObject> told = new DiagnosticCollector<>();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(told, null, null)) {
			files.setLocation(StandardLocation.CLASS_PATH, List.of());
			files.setLocation(StandardLocation.CLASS_OUTPUT, List.of(Files.createDirectory(out).toFile()));
			boolean done = compiler.getTask(null, files, told, OPTIONS, null, files.getJavaFileObjectsFromFiles(sources)).call();
			Result.check(done, told.getDiagnostics().stream().limit(5).toList().toString());
		}
		return classes(out);
	}

	private static void remove(Path directory) throws IOException {
		try (Stream<Path> all = Files.walk(directory)) {
			for (Path path : all.sorted((a, b) -> b.compareTo(a)).toList())
				Files.delete(path);
		}
	}

	public static void main(String[] args) throws IOException {
		JavaCompiler compiler = args[0].equals("ecj") ? new EclipseCompiler() : ToolProvider.getSystemJavaCompiler();
		Path directory = Files.createTempDirectory("locus-compile");
		String result = "";
		try {
			List<File> sources = unpack(args[1], directory.resolve("src"));
			for (int i = Integer.parseInt(args[2]); i > 0; i--)
				result = compile(compiler, sources, directory.resolve("out" + i));
		} finally {
			remove(directory);
		}
		Result.is(result);
	}
}
