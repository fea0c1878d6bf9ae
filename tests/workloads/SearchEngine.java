import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/*
 * Runs a search engine (Lucene) over generated documents in memory. The result is the same each time.
 *
 * Usage: SearchEngine DOCUMENTS QUERIES
 */
public final class SearchEngine {
	/* Words as frequent as those of a language: rank r with a probability like 1/r. */
	static String word(Random random) { return "w" + (int) Math.exp(random.nextDouble() * 10); }

	static void index(ByteBuffersDirectory directory, int documents) throws Exception {
		Random random = new Random(7);
		IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
		config.setRAMBufferSizeMB(8).setMergeScheduler(new SerialMergeScheduler());
		try (IndexWriter writer = new IndexWriter(directory, config)) {
			for (int i = 0; i < documents; i++) {
				StringBuilder text = new StringBuilder();
				for (int k = 0; k < 120; k++)
					text.append(word(random)).append(' ');
				Document d = new Document();
				d.add(new TextField("text", text.toString(), Field.Store.NO));
				d.add(new StoredField("id", i));
				d.add(new NumericDocValuesField("weight", i % 101));
				writer.addDocument(d);
			}
			writer.forceMerge(1);
		}
	}

	static long search(IndexSearcher searcher, int queries) throws Exception {
		Random random = new Random(11);
		long hits = 0;
		for (int i = 0; i < queries; i++) {
			BooleanQuery.Builder q = new BooleanQuery.Builder();
			for (int k = 0; k < 4; k++)
				q.add(new TermQuery(new Term("text", word(random))), BooleanClause.Occur.SHOULD);
			hits += searcher.search(q.build(), 20).scoreDocs.length;
		}
		return hits;
	}

	public static void main(String[] args) throws Exception {
		ByteBuffersDirectory directory = new ByteBuffersDirectory();
		index(directory, Integer.parseInt(args[0]));
		try (DirectoryReader reader = DirectoryReader.open(directory)) {
			long hits = search(new IndexSearcher(reader), Integer.parseInt(args[1]));
			System.out.println(reader.numDocs() + " documents " + hits + " hits");
		}
	}
}
