/* Main - asks a database in memory for what customers ordered. Arguments: customers, queries. */

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

public class Main {
	private static final int ORDERS = 5; // of each customer
	private final Connection connection;

	private Main(Connection connection) throws SQLException {
		this.connection = connection;
	}

	private void fill(int customers) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute("create table customer (id int primary key, name varchar(40))");
			statement.execute("create table purchase (id int primary key, customer int, amount decimal(10, 2), cancelled int)");
			statement.execute("create index by_customer on purchase (customer)");
		}
		try (PreparedStatement customer = connection.prepareStatement("insert into customer values (?, ?)");
				PreparedStatement purchase = connection.prepareStatement("insert into purchase values (?, ?, ?, ?)")) {
			for (int i = 0; i < customers; i++) {
				customer.setInt(1, i);
				customer.setString(2, "name " + i);
				customer.executeUpdate();
				for (int k = 0; k < ORDERS; k++) {
					purchase.setInt(1, i * ORDERS + k);
					purchase.setInt(2, i);
					purchase.setBigDecimal(3, new BigDecimal(i % 100 + ".25"));
					purchase.setInt(4, k % 2);
					purchase.executeUpdate();
				}
			}
		}
	}

	private long ordered(int customer) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			return sum(statement.executeQuery("select c.name, sum(p.amount) from customer c join purchase p on p.customer = c.id "
					+ "where c.id = " + customer + " and p.cancelled = 0 group by c.name"));
		}
	}

	private static long sum(ResultSet rows) throws SQLException {
		long sum = 0;
		try (rows) {
			while (rows.next())
				sum += rows.getString(1).length() + rows.getBigDecimal(2).longValue();
		}
		return sum;
	}

	public static void main(String[] arguments) throws SQLException {
		int customers = Integer.parseInt(arguments[0]), queries = Integer.parseInt(arguments[1]);
		try (Connection connection = DriverManager.getConnection("jdbc:hsqldb:mem:shop")) {
			Main main = new Main(connection);
			main.fill(customers);
			long sum = 0;
			for (int i = 0; i < queries; i++)
				sum += main.ordered((int) (i * 7919L % customers));
			System.out.println("result: " + sum);
		}
	}
}
