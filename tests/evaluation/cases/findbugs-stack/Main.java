/* Main - has FindBugs look at a package of dom4j, one of its own libraries. Argument: the package. */

import edu.umd.cs.findbugs.FindBugs2;
import java.nio.file.Files;
import java.nio.file.Path;
import org.dom4j.Element;

public class Main {
	public static void main(String[] arguments) throws Exception {
		String jar = Element.class.getProtectionDomain().getCodeSource().getLocation().getPath();
		Path found = Path.of("found");
		FindBugs2.main(new String[] {"-effort:min", "-low", "-output", found.toString(), "-onlyAnalyze", arguments[0], jar});
		System.out.println("result: " + Files.readAllLines(found).size());
	}
}
