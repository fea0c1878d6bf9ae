import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/**
 * Moves money between the accounts of a bank in transactions of an SQL database in memory (H2), of which one in sixteen
 * is rolled back, and asks for sums now and then. No money may be lost. Arguments: accounts and transactions.
 */
public final class Transactions implements AutoCloseable {
	private static final int BRANCHES = 20, START = 1000, ASK_EVERY = 2000;

	private final Connection bank;
	private final PreparedStatement change, note, look;
	private final int accounts;
	private final Random random = new Random(3);
	private int next, kept;
	private long sum;

	private Transactions(Connection bank, int accounts) throws SQLException {
		this.bank = bank;
		this.accounts = accounts;
		try (Statement s = bank.createStatement()) {
			s.execute("CREATE TABLE account(id INT PRIMARY KEY, branch INT NOT NULL, balance BIGINT NOT NULL)");
			s.execute("CREATE TABLE history(id INT PRIMARY KEY, giver INT, taker INT, amount BIGINT, text VARCHAR(80))");
			s.execute("CREATE INDEX by_branch ON account(branch)");
			s.execute("CREATE INDEX by_giver ON history(giver)");
		}
		change = bank.prepareStatement("UPDATE account SET balance = balance + ? WHERE id = ?");
		note = bank.prepareStatement("INSERT INTO history VALUES(?, ?, ?, ?, ?)");
		look = bank.prepareStatement("SELECT a.balance, COUNT(h.id), COALESCE(SUM(h.amount), 0) FROM account a"
				+ " LEFT JOIN history h ON h.giver = a.id WHERE a.id = ? GROUP BY a.balance");
		open();
		bank.setAutoCommit(false);
	}

	private void open() throws SQLException {
		try (PreparedStatement insert = bank.prepareStatement("INSERT INTO account VALUES(?, ?, ?)")) {
			for (int i = 0; i < accounts; i++) {
				insert.setInt(1, i);
				insert.setInt(2, i % BRANCHES);
				insert.setLong(3, START);
				insert.addBatch();
				if (i % 1000 == 999)
					insert.executeBatch();
			}
			insert.executeBatch();
		}
	}

	private void add(int account, long amount) throws SQLException {
		change.setLong(1, amount);
		change.setInt(2, account);
		Result.check(change.executeUpdate() == 1, "no account " + account);
	}

	private void transfer() throws SQLException {
		int giver = random.nextInt(accounts), taker = random.nextInt(accounts);
		long amount = 1 + random.nextInt(100);
		add(giver, -amount);
		add(taker, amount);
		note.setInt(1, next++);
		note.setInt(2, giver);
		note.setInt(3, taker);
		note.setLong(4, amount);
		note.setString(5, "from " + giver + " to " + taker);
		note.executeUpdate();
		if (random.nextInt(16) == 0) {
			bank.rollback();
		} else {
			bank.commit();
			kept++;
		}
		sum = sum * 31 + ask(look, giver);
	}

	private static long ask(PreparedStatement query, int argument) throws SQLException {
		query.setInt(1, argument);
		long sum = 0;
		try (ResultSet r = query.executeQuery()) {
			while (r.next())
				sum = sum * 31 + r.getLong(1) * 7 + r.getLong(2) * 3 + r.getLong(3);
		}
		return sum;
	}

	/** Sums over all branches, and the accounts that gave most. */
	private void summarize() throws SQLException {
		try (PreparedStatement branches = bank.prepareStatement("SELECT branch, SUM(balance), COUNT(*) FROM account"
				+ " WHERE id >= ? GROUP BY branch ORDER BY 2 DESC, 1");
				PreparedStatement givers = bank.prepareStatement("SELECT giver, SUM(amount), COUNT(*) FROM history"
				+ " WHERE id >= ? GROUP BY giver ORDER BY 2 DESC, 1 LIMIT 50")) {
			sum = sum * 31 + ask(branches, 0);
			sum = sum * 31 + ask(givers, 0);
		}
	}

	private long count(String query) throws SQLException {
		try (Statement s = bank.createStatement(); ResultSet r = s.executeQuery(query)) {
			r.next();
			return r.getLong(1);
		}
	}

	private long run(int transactions) throws SQLException {
		for (int i = 0; i < transactions; i++) {
			transfer();
			if (i % ASK_EVERY == ASK_EVERY - 1)
				summarize();
		}
		Result.check(count("SELECT SUM(balance) FROM account") == (long) accounts * START, "money was lost");
		Result.check(count("SELECT COUNT(*) FROM history") == kept, "transfers were lost");
		return sum;
	}

	@Override
	public void close() throws SQLException {
		change.close();
		note.close();
		look.close();
	}

	public static void main(String[] args) throws SQLException {
		try (Connection c = DriverManager.getConnection("jdbc:h2:mem:bank");
				Transactions bank = new Transactions(c, Integer.parseInt(args[0]))) {
			Result.is(Long.toHexString(bank.run(Integer.parseInt(args[1]))));
		}
	}
}
