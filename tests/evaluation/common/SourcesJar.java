import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Reads a jar of sources that stands in the class path, where Maven has put it beside the libraries. */
public final class SourcesJar {
	/** A file of the jar. */
	public record Source(String name, String text) {
	}

	private SourcesJar() {}

	private static File find(String artifact) {
		for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
			File file = new File(entry);
			if (file.getName().startsWith(artifact + "-") && file.getName().endsWith("-sources.jar"))
				return file;
		}
		throw new IllegalStateException("no sources of " + artifact + " in the class path");
	}

	/** All files of an artifact whose names begin and end so, in the order of their names. */
	public static List<Source> read(String artifact, String begin, String end) throws IOException {
		List<Source> sources = new ArrayList<>();
		try (ZipFile jar = new ZipFile(find(artifact))) {
			for (ZipEntry entry : jar.stream().sorted((a, b) -> a.getName().compareTo(b.getName())).toList()) {
				String name = entry.getName();
				if (!name.startsWith(begin) || !name.endsWith(end) || name.endsWith("-info.java"))
					continue;
				try (InputStream in = jar.getInputStream(entry)) {
					sources.add(new Source(name, new String(in.readAllBytes(), StandardCharsets.UTF_8)));
				}
			}
		}
		Result.check(!sources.isEmpty(), "no files in the sources of " + artifact);
		return sources;
	}
}
