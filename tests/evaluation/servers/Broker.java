import jakarta.jms.Connection;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;

/**
 * A broker of messages (ActiveMQ Artemis) that keeps nothing on disk: each client sends to a queue of its own and receives from
 * it. Arguments: requests a second, seconds that are left out, seconds that count.
 */
public final class Broker {
	private static final int LIMIT_MS = 30_000;

	/** Sends messages, and compares each that comes with what was sent. */
	public static final class Correspondent implements Load.Client {
		private static final AtomicInteger NEXT = new AtomicInteger();
		private ActiveMQConnectionFactory factory; // which would close its connections
		private Connection connection;
		private Session session;
		private MessageProducer producer;
		private MessageConsumer consumer;

		@Override
		public void connect(int port) throws Exception {
			factory = new ActiveMQConnectionFactory(url(port));
			connection = factory.createConnection();
			session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
			Queue queue = session.createQueue("letters." + NEXT.getAndIncrement());
			producer = session.createProducer(queue);
			consumer = session.createConsumer(queue);
			connection.start();
		}

		@Override
		public void request(int number) throws Exception {
			String text = "letter " + number + " ".repeat(number % 2000);
			TextMessage message = session.createTextMessage(text);
			message.setIntProperty("number", number);
			producer.send(message);
			TextMessage received = (TextMessage) consumer.receive(LIMIT_MS);
			Result.check(received != null && received.getIntProperty("number") == number && received.getText().equals(text),
					"another letter came");
		}

		@Override
		public void close() throws Exception {
			connection.close();
			factory.close();
		}
	}

	private Broker() {}

	private static String url(int port) {
		return "tcp://127.0.0.1:" + port;
	}

	public static void main(String[] args) throws Exception {
		int port;
		try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			port = free.getLocalPort();
		}
		Configuration configuration = new ConfigurationImpl().setPersistenceEnabled(false).setSecurityEnabled(false)
				.setJMXManagementEnabled(false).addAcceptorConfiguration("tcp", url(port));
		EmbeddedActiveMQ broker = new EmbeddedActiveMQ().setConfiguration(configuration);
		broker.start();
		try {
			Load.drive(Correspondent.class, port, args);
		} finally {
			broker.stop();
		}
	}
}
