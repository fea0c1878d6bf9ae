package locusbench;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import spoon.reflect.code.CtLoop;
import spoon.reflect.declaration.CtType;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Tries to make a benchmark of each loop of a library, and says of how many there is one that compiles, and why not of the
 * others: `LoopRate SOURCES.jar CLASS_PATH`. For scripts/evaluate-bench.
 */
public final class LoopRate {
	private static final int SHOWN = 12; // reasons

	private final Map<String, Integer> reasons = new TreeMap<>();
	private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
	private final StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);
	private int loops;
	private int extracted;
	private int compiled;

	private LoopRate(String classPath, Path output) throws Exception {
		List<File> entries = new ArrayList<>();
		for (String entry : classPath.split(File.pathSeparator)) {
			entries.add(new File(entry));
		}
		files.setLocation(StandardLocation.CLASS_PATH, entries);
		files.setLocation(StandardLocation.CLASS_OUTPUT, List.of(output.toFile()));
	}

	public static void main(String[] words) throws Exception {
		LoopRate rate = new LoopRate(words[1], Files.createTempDirectory("locus-loop-rate"));
		try (ZipFile archive = new ZipFile(words[0])) {
			for (ZipEntry entry : Collections.list(archive.entries())) {
				if (entry.getName().endsWith(".java") && !entry.getName().endsWith("-info.java")) {
					rate.file(words[0], words[1], entry.getName().replaceFirst("\\.java$", "").replace('/', '.'));
				}
			}
		}
		System.out.printf(Locale.ROOT, "%s: %d loops, %d extracted, %d compile (%.1f%%)%n", Path.of(words[0]).getFileName(),
				rate.loops, rate.extracted, rate.compiled, 100.0 * rate.compiled / Math.max(1, rate.loops));
		rate.reasons.entrySet().stream().sorted((a, b) -> b.getValue() - a.getValue()).limit(SHOWN)
				.forEach(row -> System.out.printf("  %5d  %s%n", row.getValue(), row.getKey()));
	}

	private void file(String sources, String classPath, String name) {
		CtType<?> top;
		String text;
		try {
			Sources source = new Sources(List.of(sources), List.of(classPath.split(File.pathSeparator)));
			top = source.type(name);
			text = source.textOf(name);
		} catch (Exception e) {
			reason("a file that cannot be read: " + name);
			return;
		}
		for (CtLoop loop : top.getElements(new TypeFilter<>(CtLoop.class))) {
			loops++;
			try {
				Payload payload = Texts.payload(Segment.of(loop), text);
				extracted++;
				compile(payload);
			} catch (Refusal e) {
				reason(e.getMessage().replaceFirst("^\\S+:\\d+: ", ""));
			} catch (RuntimeException | StackOverflowError | IOException e) {
				reason("DEFECT " + name + ":" + loop.getPosition().getLine() + ": " + e);
			}
		}
	}

	/** Reasons that differ by names alone are one. */
	private void reason(String text) {
		String general = text.startsWith("DEFECT") ? text
				: text.split("\n")[0].replaceAll("\\b(class|field|method|package|variable|constructor of|where|or output:) [\\w.$<>]+", "$1 ...")
						.replaceAll("[\\w.]*\\.[\\w.<>,?\\[\\] ]*", "...");
		reasons.merge(general, 1, Integer::sum);
	}

	private static JavaFileObject source(String file, String text) {
		return new SimpleJavaFileObject(URI.create("string:///" + file), JavaFileObject.Kind.SOURCE) {
			@Override
			public CharSequence getCharContent(boolean ignored) {
				return text.replace("{/*INPUTS*/}", "{\"0\"}");
			}
		};
	}

	private void compile(Payload payload) {
		List<JavaFileObject> sources = new ArrayList<>(List.of(source(payload.file(), payload.source)));
		payload.others.forEach((file, text) -> sources.add(source(file, text)));
		DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
		if (compiler.getTask(null, files, said, List.of("-proc:none", "-nowarn"), null, sources).call()) {
			compiled++;
			return;
		}
		for (Diagnostic<?> d : said.getDiagnostics()) {
			if (d.getKind() == Diagnostic.Kind.ERROR) {
				reason("does not compile: " + d.getMessage(Locale.ROOT));
				return;
			}
		}
	}
}
