import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.StringReader;
import java.util.Date;
import java.util.Random;
import javax.xml.parsers.SAXParserFactory;
import org.apache.fop.apps.FOUserAgent;
import org.apache.fop.apps.Fop;
import org.apache.fop.apps.FopFactory;
import org.apache.fop.apps.MimeConstants;
import org.xml.sax.InputSource;

/**
 * Sets documents that are made as XSL-FO into PDF (FOP): text that is justified, lists and tables with running heads.
 * The result is the number of pages of each. Arguments: sections, and documents.
 */
public final class SetDocument {
	private static final String[] WORDS = ("a document is set from text that has been divided into sections lists and "
			+ "tables each line of which is justified so that extraordinary combinations of hyphenless words occur").split(" ");

	private SetDocument() {}

	private static void text(StringBuilder fo, Random random, int words) {
		for (int i = 0; i < words; i++)
			fo.append(i == 0 ? "" : " ").append(WORDS[random.nextInt(WORDS.length)]);
	}

	private static void table(StringBuilder fo, Random random) {
		fo.append("<fo:table table-layout=\"fixed\" width=\"100%\" border=\"0.5pt solid black\">");
		fo.append("<fo:table-header><fo:table-row>");
		for (int i = 0; i < 4; i++)
			fo.append("<fo:table-cell padding=\"2pt\"><fo:block>column " + i + "</fo:block></fo:table-cell>");
		fo.append("</fo:table-row></fo:table-header><fo:table-body>");
		for (int row = 0; row < 15; row++) {
			fo.append("<fo:table-row>");
			for (int i = 0; i < 4; i++) {
				fo.append("<fo:table-cell padding=\"2pt\" border=\"0.5pt solid gray\"><fo:block>");
				text(fo, random, 1 + random.nextInt(8));
				fo.append("</fo:block></fo:table-cell>");
			}
			fo.append("</fo:table-row>");
		}
		fo.append("</fo:table-body></fo:table>");
	}

	private static void list(StringBuilder fo, Random random) {
		fo.append("<fo:list-block provisional-distance-between-starts=\"18pt\">");
		for (int i = 1; i <= 6; i++) {
			fo.append("<fo:list-item><fo:list-item-label end-indent=\"label-end()\"><fo:block>" + i
					+ ".</fo:block></fo:list-item-label><fo:list-item-body start-indent=\"body-start()\"><fo:block>");
			text(fo, random, 10 + random.nextInt(30));
			fo.append("</fo:block></fo:list-item-body></fo:list-item>");
		}
		fo.append("</fo:list-block>");
	}

	private static String document(int sections, int seed) {
		Random random = new Random(seed);
		StringBuilder fo = new StringBuilder("<fo:root xmlns:fo=\"http://www.w3.org/1999/XSL/Format\"><fo:layout-master-set>"
				+ "<fo:simple-page-master master-name=\"page\" page-height=\"297mm\" page-width=\"210mm\" margin=\"20mm\">"
				+ "<fo:region-body margin-top=\"12mm\"/><fo:region-before extent=\"10mm\"/></fo:simple-page-master>"
				+ "</fo:layout-master-set><fo:page-sequence master-reference=\"page\"><fo:static-content "
				+ "flow-name=\"xsl-region-before\"><fo:block>page <fo:page-number/> of <fo:page-number-citation "
				+ "ref-id=\"end\"/></fo:block></fo:static-content><fo:flow flow-name=\"xsl-region-body\" "
				+ "font-family=\"Times\" font-size=\"10pt\" text-align=\"justify\">");
		for (int i = 1; i <= sections; i++) {
			fo.append("<fo:block font-size=\"14pt\" space-before=\"8pt\" keep-with-next=\"always\">" + i + ". ");
			text(fo, random, 4);
			fo.append("</fo:block>");
			for (int k = 0; k < 3; k++) {
				fo.append("<fo:block space-after=\"4pt\">");
				text(fo, random, 60 + random.nextInt(120));
				fo.append("</fo:block>");
			}
			list(fo, random);
			table(fo, random);
		}
		return fo.append("<fo:block id=\"end\"/></fo:flow></fo:page-sequence></fo:root>").toString();
	}

	/** Sets a document, and returns the number of its pages. */
	private static int set(FopFactory factory, String document) throws Exception {
		ByteArrayOutputStream pdf = new ByteArrayOutputStream();
		FOUserAgent agent = factory.newFOUserAgent();
		agent.setCreationDate(new Date(0));
		agent.getEventBroadcaster().addEventListener(event -> {}); // in place of one that writes each page's number
		Fop fop = factory.newFop(MimeConstants.MIME_PDF, agent, pdf);
		SAXParserFactory parsers = SAXParserFactory.newInstance();
		parsers.setNamespaceAware(true);
		parsers.newSAXParser().parse(new InputSource(new StringReader(document)), fop.getDefaultHandler());
		String begin = pdf.toString("ISO-8859-1").substring(0, 5);
		Result.check(begin.equals("%PDF-") && pdf.size() > document.length() / 20, "no PDF: " + begin);
		return fop.getResults().getPageCount();
	}

	public static void main(String[] args) throws Exception {
		FopFactory factory = FopFactory.newInstance(new File(".").toURI());
		StringBuilder pages = new StringBuilder();
		for (int i = Integer.parseInt(args[1]); i > 0; i--)
			pages.append(i == Integer.parseInt(args[1]) ? "" : "+").append(set(factory, document(Integer.parseInt(args[0]), i)));
		Result.is(pages);
	}
}
