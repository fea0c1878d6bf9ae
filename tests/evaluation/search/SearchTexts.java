import java.io.IOException;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.QueryBuilder;

/**
 * Asks an index of texts (Lucene) for words, phrases, prefixes, words that are nearly right, and years, by relevance
 * and sorted. The result is of all documents found, in their order. Arguments: documents and queries.
 */
public final class SearchTexts {
	private static final int TOP = 20;
	private static final Sort BY_YEAR = new Sort(new SortField("year", SortField.Type.INT, true),
			new SortField("author", SortField.Type.STRING), SortField.FIELD_DOC);

	private final Texts texts = new Texts(11);
	private final IndexSearcher searcher;
	private final QueryBuilder parser;

	private SearchTexts(IndexSearcher searcher, Analyzer analyzer) {
		this.searcher = searcher;
		this.parser = new QueryBuilder(analyzer);
	}

	private Query words(int count, Occur occur) {
		return parser.createBooleanQuery("text", texts.sentence(count), occur);
	}

	/** A query of the kind that is due; null where all its words are stop words. */
	private Query query(int number) {
		switch (number % 6) {
		case 0:
			return words(4, Occur.SHOULD);
		case 1:
			return words(2, Occur.MUST);
		case 2:
			return parser.createPhraseQuery("text", texts.sentence(2), 3);
		case 3:
			return new PrefixQuery(new Term("title", texts.word().substring(0, 2)));
		case 4:
			return new FuzzyQuery(new Term("title", texts.word()), 1);
		default:
			return new BooleanQuery.Builder().add(words(3, Occur.SHOULD), Occur.MUST)
				.add(IntPoint.newRangeQuery("year", 1920 + number % 50, 1990), Occur.FILTER).build();
		}
	}

	private long search(int queries) throws IOException {
		long sum = 0;
		for (int i = 0; i < queries; i++) {
			Query query = query(i);
			if (query == null)
				continue;
			TopDocs found = i % 2 == 0 ? searcher.search(query, TOP) : searcher.search(query, TOP, BY_YEAR);
			for (ScoreDoc hit : found.scoreDocs)
				sum = sum * 31 + searcher.storedFields().document(hit.doc).get("id").hashCode();
		}
		return sum;
	}

	public static void main(String[] args) throws IOException {
		try (Directory directory = new ByteBuffersDirectory(); Analyzer analyzer = new EnglishAnalyzer()) {
			IndexTexts.index(directory, Integer.parseInt(args[0]));
			try (DirectoryReader reader = DirectoryReader.open(directory)) {
				IndexSearcher searcher = new IndexSearcher(reader);
				searcher.setQueryCache(null);
				Result.is(Long.toHexString(new SearchTexts(searcher, analyzer).search(Integer.parseInt(args[1]))));
			}
		}
	}
}
