/* Main - adds up amounts by day of tables that are read from texts, with Tablesaw. Arguments: rows of a table, rounds. */

import java.time.LocalDate;
import tech.tablesaw.api.Table;
import tech.tablesaw.io.csv.CsvReadOptions;

public class Main {
	private static String sales(int rows) {
		StringBuilder text = new StringBuilder("day,city,amount\n");
		LocalDate first = LocalDate.of(2020, 1, 1);
		for (int row = 0; row < rows; row++)
			text.append(first.plusDays(row % 1500)).append(",city ").append(row % 50).append(',').append(row % 997).append(".25\n");
		return text.toString();
	}

	private static Table read(String text) {
		return Table.read().usingOptions(CsvReadOptions.builderFromString(text));
	}

	public static void main(String[] arguments) {
		String text = sales(Integer.parseInt(arguments[0]));
		int rounds = Integer.parseInt(arguments[1]);
		double total = 0;
		for (int round = 0; round < rounds; round++) {
			Table sales = read(text);
			total += sales.numberColumn("amount").sum() + sales.dateColumn("day").countUnique();
		}
		System.out.println("result: " + total);
	}
}
