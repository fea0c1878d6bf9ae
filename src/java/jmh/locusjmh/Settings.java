// SPDX-License-Identifier: Apache-2.0
package locusjmh;

import org.openjdk.jmh.profile.ProfilerException;

/** The options behind `-prof locus:`, as name=value;name=value. */
final class Settings {
	static final String HELP = "Usage: -prof \"locus:OPTION=VALUE;OPTION=VALUE\"\n"
			+ "\n"
			+ "Profiles each fork with Locus. Below each score stand the objects and bytes that one\n"
			+ "operation allocates, counted in the measured iterations; behind it the objects with most\n"
			+ "samples, their lines, and the directory of the fork's profile.\n"
			+ "\n"
			+ "  dir=DIR        where the profiles are written, one directory for each fork [locus-jmh]\n"
			+ "  minSize=SIZE   count and follow objects of at least this size; 0: every object, which\n"
			+ "                 slows code that allocates much [1k]\n"
			+ "  top=N          objects shown of each fork [1]\n"
			+ "  options=LIST   more options of the agent, separated by ',' as NAME=VALUE or NAME, those\n"
			+ "                 of `locus run`: options=event=timer,interval=1ms\n"
			+ "  locus=FILE     the locus command; without it the system property `locus`, the\n"
			+ "                 environment's LOCUS_HOME (FILE is bin/locus, build/locus or locus in it),\n"
			+ "                 the places where a build or an installation has it beside the jar, PATH\n"
			+ "  help           show this text\n";

	private static final int TOP_MAX = 1000;

	String directory = "locus-jmh";
	String minSize = "1k";
	String options = "";
	/** The locus command; null: it is looked for. */
	String command;
	int top = 1;

	Settings(String text) throws ProfilerException {
		for (String item : text.split(";")) {
			if (!item.trim().isEmpty()) {
				set(item.trim());
			}
		}
	}

	private void set(String item) throws ProfilerException {
		int equals = item.indexOf('=');
		String name = equals < 0 ? item : item.substring(0, equals).trim();
		String value = equals < 0 ? "" : item.substring(equals + 1).trim();
		if (name.equals("help")) {
			throw new ProfilerException(HELP);
		}
		if (value.isEmpty()) {
			throw new ProfilerException("locus: '" + item + "': an option is NAME=VALUE; -prof locus:help lists them");
		}
		switch (name) {
		case "dir":
			directory = value;
			break;
		case "minSize":
			if (!value.matches("[0-9]+[kmg]?")) {
				throw new ProfilerException("locus: minSize: '" + value + "' is no size; write bytes, or 4k, 1m");
			}
			minSize = value;
			break;
		case "top":
			top = number(value);
			break;
		case "options":
			options = value;
			break;
		case "locus":
			command = value;
			break;
		default:
			throw new ProfilerException("locus: there is no option '" + name + "'; -prof locus:help lists them");
		}
	}

	private static int number(String value) throws ProfilerException {
		if (!value.matches("[0-9]{1,4}") || Integer.parseInt(value) > TOP_MAX || Integer.parseInt(value) < 1) {
			throw new ProfilerException("locus: top: '" + value + "' is no number from 1 to " + TOP_MAX);
		}
		return Integer.parseInt(value);
	}
}
