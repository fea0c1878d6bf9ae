import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.EvictionPolicy;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;

/**
 * A cache (Hazelcast) with a bound: clients look keys up, most often the same ones, and store what is not there. Arguments:
 * requests a second, seconds that are left out, seconds that count.
 */
public final class Cache {
	private static final String NAME = "pages";
	private static final int KEYS = 50_000, ENTRIES = 20_000, THREADS = 2;

	/** Looks pages up, compares them, and stores those that are not there. */
	public static final class Reader implements Load.Client {
		private HazelcastInstance client;
		private IMap<Integer, String> pages;

		@Override
		public void connect(int port) {
			ClientConfig config = new ClientConfig();
			config.getNetworkConfig().addAddress("127.0.0.1:" + port);
			client = HazelcastClient.newHazelcastClient(config);
			pages = client.getMap(NAME);
		}

		/** Half of the requests are for a hundredth of the keys. */
		private static int key(int number) {
			int mixed = number * 0x9E3779B9 >>> 1;
			return (number & 1) == 0 ? mixed % (KEYS / 100) : mixed % KEYS;
		}

		private static String page(int key) {
			return ("page " + key + ' ').repeat(20 + key % 50);
		}

		@Override
		public void request(int number) {
			int key = key(number);
			String page = pages.get(key);
			if (page == null)
				pages.set(key, page(key));
			else
				Result.check(page.equals(page(key)), "another page of " + key);
		}

		@Override
		public void close() {
			client.shutdown();
		}
	}

	private Cache() {}

	public static void main(String[] args) throws Exception {
		Config config = new Config().setProperty("hazelcast.phone.home.enabled", "false")
				.setProperty("hazelcast.operation.thread.count", String.valueOf(THREADS));
		NetworkConfig network = config.getNetworkConfig().setPort(0).setPortAutoIncrement(false);
		network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
		JoinConfig join = network.getJoin();
		join.getAutoDetectionConfig().setEnabled(false);
		join.getMulticastConfig().setEnabled(false);
		config.getMapConfig(NAME).getEvictionConfig().setEvictionPolicy(EvictionPolicy.LRU).setSize(ENTRIES);
		HazelcastInstance cache = Hazelcast.newHazelcastInstance(config);
		try {
			Load.drive(Reader.class, cache.getCluster().getLocalMember().getAddress().getPort(), args);
		} finally {
			cache.shutdown();
		}
	}
}
