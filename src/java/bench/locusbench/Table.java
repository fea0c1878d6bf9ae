// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.ArrayList;
import java.util.List;

/** Lines of cells as text in columns: the first to the left, numbers to the right. A cell that is null has no column. */
final class Table {
	private final List<List<String>> lines = new ArrayList<>();

	void add(String... cells) {
		List<String> line = new ArrayList<>();
		for (String cell : cells) {
			if (cell != null) {
				line.add(cell);
			}
		}
		lines.add(line);
	}

	String text() {
		StringBuilder text = new StringBuilder();
		for (List<String> line : lines) {
			StringBuilder row = new StringBuilder();
			for (int i = 0; i < line.size(); i++) {
				String space = " ".repeat(width(i) - line.get(i).length());
				row.append(i > 0 ? "  " : "").append(i == 0 ? line.get(i) + space : space + line.get(i));
			}
			text.append(row.toString().stripTrailing()).append('\n');
		}
		return text.toString();
	}

	private int width(int column) {
		return lines.stream().mapToInt(line -> line.get(column).length()).max().orElse(0);
	}
}
