import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/*
 * Works with an embedded SQL database (H2) as programs do. The result is the same each time.
 *
 * Usage: Database ROWS [ROUNDS]
 *
 * ROUNDS is how often all queries are made (3).
 */
public final class Database {
	static void load(Connection c, int rows) throws SQLException {
		try (Statement s = c.createStatement()) {
			s.execute("CREATE TABLE orders(id INT PRIMARY KEY, customer INT, total BIGINT, note VARCHAR)");
		}
		try (PreparedStatement p = c.prepareStatement("INSERT INTO orders VALUES(?, ?, ?, ?)")) {
			for (int i = 0; i < rows; i++) {
				p.setInt(1, i);
				p.setInt(2, (int) (i * 2654435761L % 5003 + 5003) % 5003);
				p.setLong(3, i % 997 * 31L);
				p.setString(4, "note " + i % 1000);
				p.addBatch();
				if (i % 1000 == 999)
					p.executeBatch();
			}
			p.executeBatch();
		}
		try (Statement s = c.createStatement()) {
			s.execute("CREATE INDEX by_customer ON orders(customer, total)");
		}
	}

	static long query(Connection c, String sql) throws SQLException {
		long sum = 0;
		try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
			while (r.next())
				sum = sum * 31 + r.getLong(1) + r.getLong(2);
		}
		return sum;
	}

	public static void main(String[] args) throws Exception {
		int rows = Integer.parseInt(args[0]);
		int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
		long sum = 0;
		try (Connection c = DriverManager.getConnection("jdbc:h2:mem:locus")) {
			load(c, rows);
			for (int i = 0; i < rounds; i++) {
				sum += query(c, "SELECT customer, SUM(total) FROM orders GROUP BY customer ORDER BY customer");
				sum += query(c, "SELECT id, total FROM orders ORDER BY note, total DESC, id");
				sum += query(c, "SELECT a.id, b.total FROM orders a JOIN orders b ON a.customer = b.customer"
						+ " WHERE a.id < 2000 ORDER BY a.id, b.id");
			}
		}
		System.out.println(rows + " rows " + sum);
	}
}
