/* Main - replaces the entities of short texts with jsoup. Argument: texts. */

import org.jsoup.parser.Parser;

public class Main {
	public static void main(String[] arguments) {
		int texts = Integer.parseInt(arguments[0]);
		long total = 0;
		for (int number = 0; number < texts; number++)
			total = total * 31 + Parser.unescapeEntities("Smith &amp; Co &#8211; order &lt;" + number + "&gt;", false).hashCode();
		System.out.println("result: " + total);
	}
}
