import java.io.IOException;
import java.util.Set;
import net.sourceforge.pmd.PMDConfiguration;
import net.sourceforge.pmd.PmdAnalysis;
import net.sourceforge.pmd.lang.LanguageRegistry;
import net.sourceforge.pmd.lang.document.FileId;
import net.sourceforge.pmd.reporting.Report;
import net.sourceforge.pmd.reporting.RuleViolation;

/**
 * Checks the sources of a library against rules of PMD. The result is of the violations: their rules, files and lines.
 * Arguments: the rules, the library, the first letters of its files, how often.
 */
public final class CheckSources {
	/** Rules that look at classes of the JDK, of which a newer one has more that can be closed and overridden. */
	private static final Set<String> OF_THE_JDK = Set.of("CloseResource", "MissingOverride");

	private CheckSources() {}

	private static int hash(RuleViolation v) {
		String rule = v.getRule().getName();
		return OF_THE_JDK.contains(rule) ? 0 : (rule + v.getFileId().getFileName() + v.getBeginLine()).hashCode();
	}

	private static long check(String rules, String library, String begin) throws IOException {
		PMDConfiguration configuration = new PMDConfiguration();
		configuration.setDefaultLanguageVersion(LanguageRegistry.PMD.getLanguageVersionById("java", "17"));
		configuration.setIgnoreIncrementalAnalysis(true);
		configuration.setThreads(1);
		configuration.prependAuxClasspath("");
		configuration.addRuleSet(rules);
		try (PmdAnalysis analysis = PmdAnalysis.create(configuration)) {
			for (SourcesJar.Source source : SourcesJar.read(library, begin, ".java"))
				analysis.files().addSourceFile(FileId.fromPathLikeString(source.name()), source.text());
			Report report = analysis.performAnalysisAndCollectReport();
			Result.check(report.getProcessingErrors().isEmpty(), "an error of PMD");
			long sum = 0;
			for (RuleViolation violation : report.getViolations())
				sum += hash(violation);
			Result.check(!report.getViolations().isEmpty(), "nothing was found");
			return sum;
		}
	}

	public static void main(String[] args) throws IOException {
		long sum = 0;
		for (int i = Integer.parseInt(args[3]); i > 0; i--)
			sum += check(args[0], args[1], args[2]);
		Result.is(Long.toHexString(sum));
	}
}
