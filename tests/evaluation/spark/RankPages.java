import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Ranks the pages of a web that it makes by the links to them (Spark, with two threads): joins, sums by key and cached
 * parts. Ranks are whole numbers, so that their sums do not hang on the order. Arguments: pages, and rounds.
 */
public final class RankPages {
	private static final int PARTS = 4;
	private static final long START = 1_000_000;

	private RankPages() {}

	private static int mix(int n) {
		long mixed = (n ^ 0x5deece66dL) * 0x7fb5d329728ea185L;
		return (int) (mixed >>> 33);
	}

	/** The pages that a page links to: smaller numbers more often. */
	private static List<Integer> links(int page, int pages) {
		List<Integer> to = new ArrayList<>();
		for (int i = 0; i < 2 + page % 9; i++)
			to.add(Math.min(mix(page * 31 + i) % pages, mix(page * 17 + i + 5) % pages));
		return to;
	}

	private static List<Tuple2<Integer, Long>> given(Tuple2<List<Integer>, Long> page) {
		List<Tuple2<Integer, Long>> all = new ArrayList<>();
		for (int to : page._1())
			all.add(new Tuple2<>(to, page._2() / page._1().size()));
		return all;
	}

	private static Map<Integer, Long> rank(JavaSparkContext spark, int pages, int rounds) {
		List<Integer> numbers = new ArrayList<>();
		for (int i = 0; i < pages; i++)
			numbers.add(i);
		JavaPairRDD<Integer, List<Integer>> links = spark.parallelize(numbers, PARTS)
				.mapToPair(page -> new Tuple2<>(page, links(page, pages)))
				.partitionBy(new HashPartitioner(PARTS))
				.cache();
		JavaPairRDD<Integer, Long> ranks = links.mapValues(to -> START);
		for (int i = 0; i < rounds; i++)
			ranks = links.join(ranks).values().flatMapToPair(page -> given(page).iterator()).reduceByKey(Long::sum)
				.mapValues(sum -> START * 15 / 100 + sum * 85 / 100);
		return new TreeMap<>(ranks.collectAsMap());
	}

	public static void main(String[] args) {
		SparkConf conf = new SparkConf().setMaster("local[2]").setAppName("pages").set("spark.ui.enabled", "false")
				.set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1")
				.set("spark.log.level", "OFF");
		try (JavaSparkContext spark = new JavaSparkContext(conf)) {
			Map<Integer, Long> ranks = rank(spark, Integer.parseInt(args[0]), Integer.parseInt(args[1]));
			long sum = 0;
			for (long rank : ranks.values())
				sum += rank;
			Result.check(sum > 0 && sum <= START * Integer.parseInt(args[0]), "ranks of " + sum);
			Result.is(ranks.size() + "-" + Integer.toHexString(ranks.hashCode()));
		}
	}
}
