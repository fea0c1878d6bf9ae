import java.io.IOException;
import java.util.List;
import scala.collection.immutable.Nil$;
import scala.reflect.internal.util.BatchSourceFile;
import scala.reflect.internal.util.SourceFile;
import scala.reflect.io.AbstractFile;
import scala.reflect.io.VirtualDirectory;
import scala.reflect.io.VirtualFile;
import scala.tools.nsc.Global;
import scala.tools.nsc.Settings;
import scala.tools.nsc.reporters.StoreReporter;

/**
 * Compiles the sources of a library of Scala into memory (scalac). The result is of the names of all classes.
 * Arguments: the first letters of the files, how often.
 */
public final class CompileScala {
	private static final String LIBRARY = "scala-parser-combinators_2.13";

	private CompileScala() {}

	/** The names of the classes below a directory; their number is added to the count. */
	private static int hash(AbstractFile directory, int[] count) {
		int sum = 0;
		for (scala.collection.Iterator<AbstractFile> each = directory.iterator(); each.hasNext();) {
			AbstractFile file = each.next();
			if (file.isDirectory()) {
				sum += hash(file, count);
			} else {
				count[0]++;
				sum += file.path().hashCode();
			}
		}
		return sum;
	}

	private static String compile(List<SourcesJar.Source> sources) {
		Settings settings = new Settings();
		VirtualDirectory out = new VirtualDirectory("out", scala.Option.empty());
		settings.outputDirs().setSingleOutput(out);
		settings.usejavacp().tryToSet(Nil$.MODULE$.$colon$colon("true"));
		settings.nowarn().tryToSet(Nil$.MODULE$.$colon$colon("true"));
		StoreReporter told = new StoreReporter(settings);
		Global global = new Global(settings, told);
		scala.collection.immutable.List<SourceFile> files = scala.collection.immutable.List$.MODULE$.empty();
		for (SourcesJar.Source source : sources)
			files = files.$colon$colon(new BatchSourceFile(new VirtualFile(source.name()), source.text().toCharArray()));
		global.new Run().compileSources(files);
		Result.check(!told.hasErrors(), told.infos().mkString("\n"));
		int[] count = new int[1];
		int names = hash(out, count);
		return count[0] + "-" + Integer.toHexString(names);
	}

	public static void main(String[] args) throws IOException {
		List<SourcesJar.Source> sources = SourcesJar.read(LIBRARY, args[0], ".scala");
		String result = "";
		for (int i = Integer.parseInt(args[1]); i > 0; i--)
			result = compile(sources);
		Result.is(result);
	}
}
