import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/**
 * A server of HTTP (Jetty) that prices orders: it reads an order in JSON and answers with the bill in JSON (Jackson). Arguments:
 * requests a second, seconds that are left out, seconds that count.
 */
public final class Shop {
	private static final ObjectMapper JSON = new ObjectMapper();
	private static final TypeReference<List<Map<String, Integer>>> LINES = new TypeReference<>() {};
	private static final int ARTICLES = 500;

	/** The number of lines of an order, and the article and amount of a line. */
	private static int lines(int order) {
		return 10 + order % 30;
	}

	private static int article(int order, int line) {
		return (order * 31 + line * 7) % ARTICLES;
	}

	private static int amount(int order, int line) {
		return 1 + (order + line) % 9;
	}

	private static long price(int article) {
		return 100 + article * 17L % 1000;
	}

	/** Answers an order with its bill. */
	private static final class Bills extends Handler.Abstract {
		@Override
		public boolean handle(Request request, Response response, Callback callback) throws Exception {
			List<Map<String, Integer>> order = JSON.readValue(Content.Source.asInputStream(request), LINES);
			List<Map<String, Object>> bill = new ArrayList<>();
			long total = 0;
			for (Map<String, Integer> line : order) {
				long sum = price(line.get("article")) * line.get("amount");
				bill.add(Map.of("article", line.get("article"), "amount", line.get("amount"), "sum", sum));
				total += sum;
			}
			try (OutputStream out = Content.Sink.asOutputStream(response)) {
				JSON.writeValue(out, Map.of("lines", bill, "total", total));
			}
			callback.succeeded();
			return true;
		}
	}

	/** Sends orders and adds up each bill. */
	public static final class Customer implements Load.Client {
		private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		private URI shop;

		@Override
		public void connect(int port) throws Exception {
			shop = URI.create("http://127.0.0.1:" + port + "/");
			request(0); // which connects
		}

		@Override
		public void request(int number) throws Exception {
			StringBuilder order = new StringBuilder("[");
			long total = 0;
			for (int line = 0; line < lines(number); line++) {
				int article = article(number, line), amount = amount(number, line);
				order.append(line == 0 ? "" : ",").append("{\"article\":").append(article).append(",\"amount\":").append(amount).append('}');
				total += price(article) * amount;
			}
			HttpRequest request = HttpRequest.newBuilder(shop)
					.POST(HttpRequest.BodyPublishers.ofString(order.append(']').toString())).build();
			String bill = client.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8)).body();
			Result.check(bill.contains("\"total\":" + total), "another bill: " + bill);
		}

		@Override
		public void close() {}
	}

	private Shop() {}

	public static void main(String[] args) throws Exception {
		Server server = new Server();
		ServerConnector connector = new ServerConnector(server);
		connector.setHost("127.0.0.1");
		server.addConnector(connector);
		server.setHandler(new Bills());
		server.start();
		try {
			Load.drive(Customer.class, connector.getLocalPort(), args);
		} finally {
			server.stop();
		}
	}
}
