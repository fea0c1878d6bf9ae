import java.io.IOException;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.BytesRef;

/**
 * Indexes texts that it makes (Lucene), with stemming, stored fields, points and values, into segments in memory, which
 * are merged into one at the end. The result is of all terms and their frequencies. Argument: documents.
 */
public final class IndexTexts {
	private static final int LENGTH = 150, AUTHORS = 500;

	private IndexTexts() {}

	static void index(Directory directory, int documents) throws IOException {
		Texts texts = new Texts(7);
		IndexWriterConfig config = new IndexWriterConfig(new EnglishAnalyzer());
		config.setRAMBufferSizeMB(16).setMergeScheduler(new SerialMergeScheduler());
		try (IndexWriter writer = new IndexWriter(directory, config)) {
			for (int i = 0; i < documents; i++) {
				int author = (int) (i * 2654435761L % AUTHORS);
				String title = texts.sentence(6);
				Document d = new Document();
				d.add(new StringField("id", "d" + i, Field.Store.YES));
				d.add(new TextField("title", title, Field.Store.YES));
				d.add(new TextField("text", texts.sentence(LENGTH), Field.Store.NO));
				d.add(new IntPoint("year", 1900 + author % 120));
				d.add(new NumericDocValuesField("year", 1900 + author % 120));
				d.add(new SortedDocValuesField("author", new BytesRef("author" + author)));
				d.add(new StoredField("length", title.length()));
				writer.addDocument(d);
			}
			writer.forceMerge(1);
		}
	}

	private static long terms(DirectoryReader reader, String field) throws IOException {
		Terms terms = MultiTerms.getTerms(reader, field);
		TermsEnum each = terms.iterator();
		long sum = 0;
		for (BytesRef term = each.next(); term != null; term = each.next())
			sum = sum * 31 + term.utf8ToString().hashCode() + each.docFreq() * 7L + each.totalTermFreq();
		return sum;
	}

	public static void main(String[] args) throws IOException {
		int documents = Integer.parseInt(args[0]);
		try (Directory directory = new ByteBuffersDirectory()) {
			index(directory, documents);
			try (DirectoryReader reader = DirectoryReader.open(directory)) {
				Result.check(reader.numDocs() == documents, reader.numDocs() + " documents");
				Result.is(Long.toHexString(terms(reader, "text") + 31 * terms(reader, "title")));
			}
		}
	}
}
