import java.util.Random;
import org.eclipse.collections.api.bag.MutableBag;
import org.eclipse.collections.api.list.MutableList;
import org.eclipse.collections.api.map.primitive.MutableIntLongMap;
import org.eclipse.collections.api.map.primitive.MutableObjectLongMap;
import org.eclipse.collections.api.multimap.list.MutableListMultimap;
import org.eclipse.collections.api.partition.list.PartitionMutableList;
import org.eclipse.collections.api.set.primitive.MutableIntSet;
import org.eclipse.collections.api.tuple.Pair;
import org.eclipse.collections.impl.factory.Bags;
import org.eclipse.collections.impl.factory.Lists;
import org.eclipse.collections.impl.factory.primitive.IntLongMaps;
import org.eclipse.collections.impl.factory.primitive.IntSets;
import org.eclipse.collections.impl.factory.primitive.ObjectLongMaps;
import org.eclipse.collections.impl.list.primitive.IntInterval;

/**
 * Groups, counts, partitions, zips and sorts sales with Eclipse Collections: multimaps, bags and maps of primitive
 * values. The sums by two ways are to be the same. Arguments: sales, and how often.
 */
public final class GroupSales {
	private static final int SHOPS = 97, GOODS = 1000;

	private record Sale(int number, String shop, int goods, long cents) {
	}

	private GroupSales() {}

	private static MutableList<Sale> make(int count) {
		Random random = new Random(17);
		return IntInterval.zeroTo(count - 1).collect(i -> new Sale(i, "shop " + random.nextInt(SHOPS),
				(int) Math.pow(GOODS, random.nextDouble()), 1 + random.nextInt(10_000)), Lists.mutable.empty());
	}

	/** Each shop's turnover; its sum is compared with that of all sales. */
	private static long byShop(MutableList<Sale> sales) {
		MutableListMultimap<String, Sale> groups = sales.groupBy(Sale::shop);
		MutableObjectLongMap<String> turnover = ObjectLongMaps.mutable.empty();
		groups.forEachKeyMultiValues((shop, some) -> some.forEach(s -> turnover.addToValue(shop, s.cents())));
		Result.check(turnover.sum() == sales.sumOfLong(Sale::cents), "sales were lost");
		long sum = 0;
		for (String shop : groups.keysView().toSortedList())
			sum = sum * 31 + turnover.get(shop);
		return sum;
	}

	private static long byGoods(MutableList<Sale> sales) {
		MutableIntLongMap cents = IntLongMaps.mutable.empty();
		sales.forEach(s -> cents.addToValue(s.goods(), s.cents()));
		MutableBag<Integer> counts = sales.collect(Sale::goods, Bags.mutable.empty());
		Result.check(counts.size() == sales.size(), "goods were lost");
		long sum = 0;
		for (int goods : cents.keySet().toSortedArray())
			sum = sum * 31 + cents.get(goods) * counts.occurrencesOf(goods);
		return sum;
	}

	private static long best(MutableList<Sale> sales) {
		PartitionMutableList<Sale> parts = sales.partition(s -> s.cents() % 7 < 3);
		MutableList<Pair<Sale, Sale>> pairs = parts.getSelected().zip(parts.getRejected());
		MutableIntSet seen = IntSets.mutable.empty();
		MutableList<Sale> sorted = pairs.select(p -> p.getOne().goods() != p.getTwo().goods())
				.collect(p -> p.getOne().cents() > p.getTwo().cents() ? p.getOne() : p.getTwo())
				.sortThis((a, b) -> a.cents() != b.cents() ? Long.compare(b.cents(), a.cents()) : a.number() - b.number());
		long sum = 0;
		for (Sale sale : sorted.select(s -> seen.add(s.goods())).take(200))
			sum = sum * 31 + sale.number();
		return sum;
	}

	public static void main(String[] args) {
		MutableList<Sale> sales = make(Integer.parseInt(args[0]));
		long sum = 0;
		for (int i = Integer.parseInt(args[1]); i > 0; i--)
			sum = sum * 31 + byShop(sales) + byGoods(sales) + best(sales);
		Result.is(Long.toHexString(sum));
	}
}
