import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/*
 * AdviceMade MODE SECONDS: programs that make objects again and again for which a certain change is known to help, and the
 * same programs with that change ("kept-" before the mode). Each runs for SECONDS of CPU time.
 */
public final class AdviceMade {
	static final int ROUND = 1000;
	static final byte[] TEXT = "one line of text\nand one more\n".getBytes(StandardCharsets.ISO_8859_1);
	static volatile long sink;

	static final Pattern PATTERN = Pattern.compile("([a-z]+)-([0-9]+)\\s*(x|yy|zzz)?");
	static final StringBuilder BUILDER = new StringBuilder(2048);
	static final char[] CHARS = new char[8192];
	static final List<Integer> LIST = new ArrayList<>(4096);
	static final BigDecimal STEP = new BigDecimal("12345678901234567890.01");
	static final Integer[] NUMBERS = new Integer[64];

	static long builder(int i) {
		StringBuilder text = new StringBuilder();
		for (int k = 0; k < 100; k++)
			text.append("part").append(i);
		return text.length();
	}

	static long keptBuilder(int i) {
		BUILDER.setLength(0);
		for (int k = 0; k < 100; k++)
			BUILDER.append("part").append(i);
		return BUILDER.length();
	}

	static long reader(int i) throws IOException {
		Reader in = new BufferedReader(new InputStreamReader(new ByteArrayInputStream(TEXT), StandardCharsets.ISO_8859_1));
		return in.read() + i;
	}

	static long keptReader(int i) {
		return CHARS[i] + TEXT[i & 7];
	}

	static long pattern(int i) {
		return Pattern.compile("([a-z]+)-([0-9]+)\\s*(x|yy|zzz)?").matcher("abc-12").matches() ? i : 0;
	}

	static long keptPattern(int i) {
		return PATTERN.matcher("abc-12").matches() ? i : 0;
	}

	static long date(int i) {
		LocalDateTime time = LocalDateTime.of(2026, 1, 1, 0, 0);
		for (int k = 0; k < 20; k++)
			time = time.plusMinutes(i);
		return time.getMinute();
	}

	static long keptDate(int i) {
		long time = 0;
		for (int k = 0; k < 20; k++)
			time += i;
		return time % 60;
	}

	static long reflect(int i) throws ReflectiveOperationException {
		Method found = null;
		for (Method m : String.class.getMethods())
			if (m.getName().equals("length"))
				found = m;
		return (Integer) found.invoke("text") + i;
	}

	static final Method LENGTH = length();

	static Method length() {
		try {
			return String.class.getMethod("length");
		} catch (ReflectiveOperationException e) {
			throw new AssertionError(e);
		}
	}

	static long keptReflect(int i) throws ReflectiveOperationException {
		return (Integer) LENGTH.invoke("text") + i;
	}

	static long growth(int i) {
		List<Integer> list = new ArrayList<>();
		for (int k = 0; k < 2000; k++)
			list.add(NUMBERS[k & 63]);
		return list.size() + i;
	}

	static long keptGrowth(int i) {
		LIST.clear();
		for (int k = 0; k < 2000; k++)
			LIST.add(NUMBERS[k & 63]);
		return LIST.size() + i;
	}

	static long decimal(int i) {
		BigDecimal sum = BigDecimal.valueOf(i, 2);
		for (int k = 0; k < 50; k++)
			sum = sum.add(STEP);
		return sum.scale();
	}

	static long keptDecimal(int i) {
		long sum = i;
		for (int k = 0; k < 50; k++)
			sum += 1234567890;
		return sum;
	}

	static Optional<Integer> find(int i) {
		return sink == i ? Optional.empty() : Optional.of(NUMBERS[i & 63]);
	}

	static long optional(int i) {
		Optional<?>[] found = new Optional<?>[64];
		for (int k = 0; k < 64; k++)
			found[k] = find(i + k);
		return found[i & 63].hashCode();
	}

	static long keptOptional(int i) {
		Integer[] found = new Integer[64];
		for (int k = 0; k < 64; k++)
			found[k] = NUMBERS[i + k & 63];
		return found[i & 63].hashCode();
	}

	static long stream(int i) {
		return LIST.subList(0, 8).stream().filter(n -> n > 3).mapToInt(n -> n + i).sum();
	}

	static long keptStream(int i) {
		long sum = 0;
		for (int k = 0; k < 8; k++)
			if (LIST.get(k) > 3)
				sum += LIST.get(k) + i;
		return sum;
	}

	static long string(int i) {
		String text = "one,two,three,four,five,six," + i;
		long sum = 0;
		for (int k = 0; k < 5; k++)
			sum += text.substring(k * 2).toUpperCase().length();
		return sum;
	}

	static long keptString(int i) {
		long sum = i;
		for (int k = 0; k < 5; k++)
			sum += TEXT[k * 2];
		return sum;
	}

	static long once(String mode, int i) throws Exception {
		return switch (mode) {
			case "builder" -> builder(i);
			case "kept-builder" -> keptBuilder(i);
			case "reader" -> reader(i);
			case "kept-reader" -> keptReader(i);
			case "pattern" -> pattern(i);
			case "kept-pattern" -> keptPattern(i);
			case "date" -> date(i);
			case "kept-date" -> keptDate(i);
			case "reflect" -> reflect(i);
			case "kept-reflect" -> keptReflect(i);
			case "growth" -> growth(i);
			case "kept-growth" -> keptGrowth(i);
			case "decimal" -> decimal(i);
			case "kept-decimal" -> keptDecimal(i);
			case "optional" -> optional(i);
			case "kept-optional" -> keptOptional(i);
			case "stream" -> stream(i);
			case "kept-stream" -> keptStream(i);
			case "string" -> string(i);
			case "kept-string" -> keptString(i);
			default -> throw new IllegalArgumentException(mode);
		};
	}

	static long cpu() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
	}

	public static void main(String[] args) throws Exception {
		long rounds = 0;
		for (int i = 0; i < NUMBERS.length; i++)
			NUMBERS[i] = i;
		for (int i = 0; i < 8; i++)
			LIST.add(NUMBERS[i]);
		for (long end = cpu() + (long) (Double.parseDouble(args[1]) * 1e9); cpu() < end; rounds++)
			for (int i = 0; i < ROUND; i++)
				sink += once(args[0], i);
		System.out.println(rounds);
	}
}
