import java.io.StringReader;
import java.io.StringWriter;
import java.util.Random;
import javax.xml.transform.stream.StreamSource;
import net.sf.saxon.s9api.Processor;
import net.sf.saxon.s9api.SaxonApiException;
import net.sf.saxon.s9api.Serializer;
import net.sf.saxon.s9api.XQueryEvaluator;
import net.sf.saxon.s9api.XdmItem;
import net.sf.saxon.s9api.XdmNode;
import net.sf.saxon.s9api.XsltExecutable;
import net.sf.saxon.s9api.XsltTransformer;

/**
 * Transforms a document of a library's loans by a stylesheet (XSLT 3.0), and asks it by XQuery (Saxon): keys, groups,
 * sorting, regular expressions and joins. The result is of the texts that are written. Arguments: loans, how often.
 */
public final class TransformDocument {
	private static final int BOOKS = 400, READERS = 150;
	private static final String STYLESHEET = """
		<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
		    xmlns:xs="http://www.w3.org/2001/XMLSchema" expand-text="yes" exclude-result-prefixes="xs">
		  <xsl:output method="html" indent="yes"/>
		  <xsl:key name="book" match="book" use="@id"/>
		  <xsl:template match="/library">
		    <html><body>
		      <xsl:for-each-group select="loan" group-by="@reader">
		        <xsl:sort select="count(current-group())" order="descending"/>
		        <xsl:sort select="current-grouping-key()"/>
		        <h2>{current-grouping-key()}: {sum(current-group()/xs:integer(@days))} days</h2>
		        <ul><xsl:apply-templates select="current-group()">
		          <xsl:sort select="@days" data-type="number"/>
		          <xsl:sort select="key('book', @book)/title"/>
		        </xsl:apply-templates></ul>
		      </xsl:for-each-group>
		    </body></html>
		  </xsl:template>
		  <xsl:template match="loan[xs:integer(@days) gt 28]" priority="2">
		    <li class="late"><b><xsl:next-match/></b></li>
		  </xsl:template>
		  <xsl:template match="loan">
		    <li><xsl:apply-templates select="key('book', @book)/title"/></li>
		  </xsl:template>
		  <xsl:template match="title">
		    <xsl:analyze-string select="." regex="([a-z]+)ing">
		      <xsl:matching-substring><i>{upper-case(regex-group(1))}</i></xsl:matching-substring>
		      <xsl:non-matching-substring>{normalize-space(.)}</xsl:non-matching-substring>
		    </xsl:analyze-string>
		  </xsl:template>
		</xsl:stylesheet>
		""";
	private static final String QUERY = """
		string-join(
		  for $b in /library/book
		  let $loans := /library/loan[@book = $b/@id]
		  where exists($loans) and matches($b/title, 'r[aeiou]')
		  group by $shelf := xs:integer(substring($b/@id, 2)) idiv 40
		  order by sum($loans/xs:integer(@days)) descending, $shelf
		  return $shelf || ':' || count($b) || ':' || format-number(avg($loans/xs:integer(@days)), '0.000'), ' ')
		""";
	private static final String[] WORDS = ("reading writing the river a mountain running over long old roads in summer "
			+ "winter singing birds and forgotten letters").split(" ");

	private TransformDocument() {}

	private static String library(int loans) {
		Random random = new Random(5);
		StringBuilder xml = new StringBuilder("<library>");
		for (int i = 0; i < BOOKS; i++) {
			xml.append("<book id=\"b" + i + "\"><title>");
			for (int k = 0; k < 6; k++)
				xml.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
			xml.append("</title></book>");
		}
		for (int i = 0; i < loans; i++)
			xml.append("<loan reader=\"r" + random.nextInt(READERS) + "\" book=\"b" + random.nextInt(BOOKS) + "\" days=\""
					+ (1 + random.nextInt(35)) + "\"/>");
		return xml.append("</library>").toString();
	}

	private static String transform(Processor processor, XsltExecutable stylesheet, XdmNode document)
			throws SaxonApiException {
		StringWriter out = new StringWriter();
		Serializer serializer = processor.newSerializer(out);
		XsltTransformer transformer = stylesheet.load();
		transformer.setInitialContextNode(document);
		transformer.setDestination(serializer);
		transformer.transform();
		return out.toString();
	}

	public static void main(String[] args) throws SaxonApiException {
		Processor processor = new Processor(false);
		XsltExecutable stylesheet = processor.newXsltCompiler().compile(new StreamSource(new StringReader(STYLESHEET)));
		XQueryEvaluator query = processor.newXQueryCompiler().compile(QUERY).load();
		String text = library(Integer.parseInt(args[0]));
		long sum = 0;
		for (int i = Integer.parseInt(args[1]); i > 0; i--) {
			XdmNode document = processor.newDocumentBuilder().build(new StreamSource(new StringReader(text)));
			String html = transform(processor, stylesheet, document);
			int items = html.split("<li").length - 1 - html.split("<li class").length + 1;
			Result.check(items == Integer.parseInt(args[0]), items + " items");
			query.setContextItem(document);
			XdmItem answer = query.evaluateSingle();
			sum = sum * 31 + html.hashCode() * 7L + answer.getStringValue().hashCode();
		}
		Result.is(Long.toHexString(sum));
	}
}
