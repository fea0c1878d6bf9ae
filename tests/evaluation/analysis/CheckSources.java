import java.io.IOException;
import net.sourceforge.pmd.PMDConfiguration;
import net.sourceforge.pmd.PmdAnalysis;
import net.sourceforge.pmd.lang.LanguageRegistry;
import net.sourceforge.pmd.lang.document.FileId;
import net.sourceforge.pmd.reporting.Report;
import net.sourceforge.pmd.reporting.RuleViolation;

/**
 * Checks the sources of a library against rules of PMD. The result is of all violations: their rules, files and lines.
 * Arguments: the rules, the library, the first letters of its files, how often.
 */
public final class CheckSources {
	private CheckSources() {}

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
				sum += (violation.getRule().getName() + violation.getFileId().getFileName() + violation.getBeginLine()).hashCode();
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
