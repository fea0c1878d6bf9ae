import java.util.Random;

/** Makes texts whose words are as frequent as those of a language: the word of rank r is found like 1/r. */
final class Texts {
	private static final int WORDS = 30_000;
	private static final String[] BEGIN = "b br c ch d f gr l m n p pl r s st t".split(" ");
	private static final String[] MIDDLE = "a e i o u ea ou ai".split(" ");
	private static final String[] END = { "", "n", "r", "st", "ing", "ed", "s", "ly" };

	private final String[] words = new String[WORDS];
	private final Random random;

	Texts(long seed) {
		random = new Random(seed);
		Random letters = new Random(1);
		for (int i = 0; i < WORDS; i++) {
			StringBuilder word = new StringBuilder();
			for (int k = 1 + i * 3 / WORDS; k >= 0; k--)
				word.append(of(BEGIN, letters)).append(of(MIDDLE, letters));
			words[i] = word.append(of(END, letters)).toString();
		}
	}

	private static String of(String[] all, Random random) {
		return all[random.nextInt(all.length)];
	}

	String word() {
		return words[(int) Math.pow(WORDS, random.nextDouble()) - 1];
	}

	String sentence(int length) {
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < length; i++)
			text.append(i == 0 ? "" : " ").append(word()).append(i % 12 == 11 ? "." : "");
		return text.toString();
	}
}
