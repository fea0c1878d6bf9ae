/* Main - parses pages of some 200 KB with jsoup. Argument: pages. */

import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;

public class Main {
	public static void main(String[] arguments) {
		int pages = Integer.parseInt(arguments[0]);
		StringBuilder html = new StringBuilder("<html><body><table>");
		for (int row = 0; row < 2000; row++)
			html.append("<tr class=row><td>").append(row).append("<td><a href='/item/").append(row * 7919).append("'>Smith &amp; Co</a> <b>paid</b></tr>");
		long total = 0;
		for (int page = 0; page < pages; page++) {
			Document document = Jsoup.parse(html.append(page).toString());
			total = total * 31 + document.body().childNodeSize() + document.getElementsByTag("a").size();
		}
		System.out.println("result: " + total);
	}
}
