/* Main - compares addresses by the characters that they have, with Commons Text. Argument: rounds. */

import org.apache.commons.text.similarity.JaccardSimilarity;

public class Main {
	private static final String[] ADDRESSES = {
		"Main Street 12, Springfield", "12 Main St., Springfeild", "Elm Avenue 7, Shelbyville", "7 Elm Ave, Shelbyvile",
		"Oak Road 99, Capital City",
	};

	public static void main(String[] arguments) {
		int rounds = Integer.parseInt(arguments[0]);
		JaccardSimilarity similarity = new JaccardSimilarity();
		double total = 0;
		for (int round = 0; round < rounds; round++)
			for (String left : ADDRESSES)
				for (String right : ADDRESSES)
					total += similarity.apply(left, right);
		System.out.println("result: " + total);
	}
}
