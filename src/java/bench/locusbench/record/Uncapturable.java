// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

/** Why a value cannot be captured, and the fields that lead to the object that is the reason. */
public final class Uncapturable extends RuntimeException {
	private static final long serialVersionUID = 1;
	private static final int FIELDS_MAX = 12;

	private final StringBuilder path = new StringBuilder();
	private int fields;

	Uncapturable(String why) {
		super(why, null, false, false);
	}

	/** A failure of any kind, in one line. */
	static Uncapturable of(Throwable failure) {
		if (failure instanceof Uncapturable) {
			return (Uncapturable) failure;
		}
		if (failure instanceof StackOverflowError) {
			return new Uncapturable("it is nested too deeply");
		}
		if (failure instanceof OutOfMemoryError) {
			return new Uncapturable("there is too little memory");
		}
		Throwable cause = failure;
		while (cause.getCause() != null && cause.getCause() != cause) {
			cause = cause.getCause();
		}
		String said = String.valueOf(cause.getMessage());
		int end = said.indexOf('\n');
		return new Uncapturable(cause.getClass().getName() + ": " + (end < 0 ? said : said.substring(0, end)));
	}

	/** The object is the value of this field; called from the innermost field outwards. */
	Uncapturable in(Class<?> holder, String field) {
		if (++fields <= FIELDS_MAX) {
			path.insert(0, holder.getName() + "." + field + (path.length() > 0 ? " -> " : ""));
		}
		return this;
	}

	/** The fields, then the reason. */
	@Override
	public String getMessage() {
		String dots = fields > FIELDS_MAX ? "... -> " : "";
		return path.length() == 0 ? super.getMessage() : dots + path + ": " + super.getMessage();
	}
}
