// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import locusbench.record.Recording;
import spoon.reflect.declaration.CtType;

/**
 * Makes a benchmark of a segment: `java -jar locus-bench.jar REQUEST`. The exit status is 0, 1 where no benchmark can be made,
 * 2 for a wrong command line, 3 where a part could be done.
 */
public final class Main {
	private static final int DONE = 0;
	private static final int IMPOSSIBLE = 1;
	private static final int USAGE = 2;
	private static final int PARTLY = 3;

	private final Request request;
	private final PrintStream out;
	private final PrintStream err;

	private Main(Request request, PrintStream out, PrintStream err) {
		this.request = request;
		this.out = out;
		this.err = err;
	}

	public static void main(String[] words) {
		System.exit(run(words, System.out, System.err));
	}

	static int run(String[] words, PrintStream out, PrintStream err) {
		if (words.length != 1) {
			err.println("usage: java -jar locus-bench.jar REQUEST");
			return USAGE;
		}
		try {
			return new Main(Request.read(Path.of(words[0])), out, err).run();
		} catch (Refusal | IOException e) {
			err.println("locus: bench: " + e.getMessage());
			return IMPOSSIBLE;
		} catch (RuntimeException | StackOverflowError e) { // of Spoon, which reads any source there is
			err.println("locus: bench: the source cannot be made a benchmark of, by a defect here: " + e + at(e));
			return IMPOSSIBLE;
		}
	}

	private static String at(Throwable e) {
		return e.getStackTrace().length > 0 ? ", at " + e.getStackTrace()[0] : "";
	}

	/** A version of the segment: in the source, or in the one to compare with. */
	private final class Version {
		final Segment segment;
		final Variables variables;
		final String text; // of the source file
		private final Uses uses;
		Payload payload;

		Version(Sources sources, Segment segment) throws Refusal, IOException {
			this.segment = segment;
			uses = new Uses(segment, request.allowIo);
			variables = new Variables(segment, uses, request.without);
			text = sources.textOf(segment.type.getTopLevelType().getQualifiedName());
		}

		/** Once no variable is added; `line`: in the name of the class, which is that of the first version. */
		void extract(int line) throws IOException {
			payload = new Extraction(segment, uses, variables).payload(line, text);
		}
	}

	private Segment find(Sources sources) throws Refusal, IOException {
		if (request.className.isEmpty()) {
			List<String> marked = sources.marked();
			if (marked.isEmpty()) {
				throw new Refusal("no source is marked with " + Segment.MARK);
			}
			return Segment.ofMark(sources.type(marked.get(0)));
		}
		CtType<?> type = sources.type(request.className);
		if (request.line > 0) {
			Segment segment = Segment.atLine(type, request.line, request.samplesByLine, request.methodSamples);
			segment.check(request.method, request.samplesByLine);
			return segment;
		}
		return request.method.isEmpty() ? Segment.ofMark(type) : Segment.ofMethod(type, request.method);
	}

	private int run() throws Refusal, IOException {
		Sources sources = new Sources(request.sourcePath, request.classPath);
		Version before = new Version(sources, find(sources));
		Version after = null;
		if (!request.against.isEmpty()) {
			Sources others = new Sources(request.against, request.classPath);
			after = new Version(others, before.segment.counterpart(others.type(before.segment.type.getQualifiedName())));
			before.variables.unite(after.variables);
			after.variables.unite(before.variables);
		}
		int line = before.segment.firstLine();
		before.extract(line);
		if (after != null) {
			after.extract(line);
		}
		Payload payload = before.payload;
		out.println(payload.originalClass + "." + payload.originalMethod + ", lines " + payload.firstLine + " to " + payload.lastLine
				+ (request.finding.isEmpty() ? "" : ": " + request.finding));
		Files.createDirectories(request.output);
		Recording recording = recording(before);
		Path project = after == null ? request.output : request.output.resolve("before");
		write(project, before, recording);
		if (after != null) {
			write(request.output.resolve("after"), after, recording);
		}
		out.println("the project is in " + request.output);
		return request.run ? measure(before, after, recording) : DONE;
	}

	private Recording recording(Version version) throws Refusal, IOException {
		Recording recording = null;
		if (request.record && !request.program.isEmpty()) {
			recording = new RecordedRun(request.output.resolve("recorded"), request).run(version.segment, version.variables, version.text);
			if (!recording.recorded.isEmpty()) {
				return recording;
			}
			for (String sentence : recording.sentences(version.payload.inputNames)) {
				err.println("locus: bench: not recorded: " + sentence);
			}
			err.println("locus: bench: " + (recording.executions == 0 ? "the program never came to the segment"
					: "none of " + recording.executions + " executions could be recorded"));
		}
		Recording made = MadeInputs.make(version.variables);
		err.println("locus: bench: THE INPUTS ARE MADE UP: the numbers say little about the program");
		return made;
	}

	private void write(Path project, Version version, Recording recording) throws Refusal, IOException {
		Project.write(project, version.payload, recording, request.classPath, new MavenRun(request.java).release(), request.jvmOptions, request.forks);
	}

	/** Is the benchmark in `project` like the program? */
	private void compare(Path project, Payload payload, Recording recording, Results results) throws IOException {
		if (recording.executions == 0) {
			return; // made up
		}
		Likeness likeness = new Likeness();
		try {
			ProfiledRun run = new ProfiledRun(request, payload, project);
			run.readProgram();
			likeness.time(run.samples(), request.sampleNs, request.asProfiled, recording, results);
			Accesses[] accesses = run.run(recording);
			out.println("the benchmark's profile is in " + run.profile);
			likeness.accesses(accesses[0], accesses[1], payload.inputNames);
		} catch (Refusal e) { // the benchmark is of use without it
			likeness.unknown(e.getMessage());
		}
		likeness.sentences().forEach(results::note);
	}

	/** One version, after a warm-up that is as long as it takes, if it is not too long. */
	private Results alone(MavenRun maven, Path project, Payload payload, List<String> notes) throws IOException, Refusal {
		Results results;
		do {
			results = maven.run(project, payload, "", notes, request.jvmOptions, request.forks, request.seconds);
		} while (results.isGettingFaster() && maven.warmLonger());
		noteWarmUp(maven, results);
		return results;
	}

	private void noteWarmUp(MavenRun maven, Results results) {
		if (maven.warmUps() > 1) {
			results.note("measured after a warm-up of " + maven.warmUps() * request.seconds + " s: after a shorter one all forks got faster while measured");
		}
	}

	private int measure(Version before, Version after, Recording recording) throws Refusal, IOException {
		MavenRun maven = new MavenRun(request.java);
		List<String> notes = new ArrayList<>(Project.notes(before.payload, recording));
		if (after == null) {
			maven.build(request.output);
			Results results = alone(maven, request.output, before.payload, notes);
			compare(request.output, before.payload, recording, results);
			out.print(results.text());
			return results.status();
		}
		Path first = request.output.resolve("before");
		Path second = request.output.resolve("after");
		maven.build(first);
		Results then;
		Results now;
		try {
			maven.build(second);
			do {
				List<Path> ofFirst = new ArrayList<>();
				List<Path> ofSecond = new ArrayList<>();
				for (int turn = 1; turn <= request.forks; turn++) {
					ofFirst.add(maven.jmh(first, before.payload, request.jvmOptions, 1, request.seconds, turn));
					ofSecond.add(maven.jmh(second, after.payload, request.jvmOptions, 1, request.seconds, turn));
				}
				then = Results.read(ofFirst, before.payload.className, "before", notes);
				now = Results.read(ofSecond, after.payload.className, "after", Project.notes(after.payload, recording));
			} while ((then.isGettingFaster() || now.isGettingFaster()) && maven.warmLonger());
		} catch (Refusal e) { // the first version is of use without it
			err.println("locus: bench: the version to compare with: " + e.getMessage());
			Results alone = alone(maven, first, before.payload, notes);
			compare(first, before.payload, recording, alone);
			out.print(alone.text());
			return PARTLY;
		}
		noteWarmUp(maven, then);
		compare(first, before.payload, recording, then);
		out.print(now.against(then).text());
		return now.status();
	}
}
