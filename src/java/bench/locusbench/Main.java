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
		final Path project;
		private final Uses uses;
		Payload payload;
		private Project written;
		private List<String> needed; // of the class path
		boolean isSuited = true; // the inputs, to the code

		Version(Sources sources, Segment segment, Path project) throws Refusal, IOException {
			this.segment = segment;
			this.project = project;
			uses = new Uses(segment, request.allowIo);
			variables = new Variables(segment, uses, request.without);
			text = sources.textOf(segment.type.getTopLevelType().getQualifiedName());
		}

		/** Once no variable is added; `line`: in the name of the class, which is that of the first version. */
		void extract(int line) throws IOException {
			payload = new Extraction(segment, uses, variables).payload(line, text);
		}

		/** Write the project, with the parts of the class path that its regression test needs: a trial finds them. */
		void write(Recording recording) throws Refusal, IOException {
			written = Project.write(project, payload, recording, request.jvmOptions, request.forks);
			needed = request.classPath;
			if (Trial.isPossible(request)) {
				Trial trial = new Trial(project.resolve("trial"), request, recording.executions == 0);
				needed = trial.run(project, payload);
				isSuited = trial.unsuited().isEmpty();
				if (!isSuited) {
					err.println("locus: bench: the made-up inputs do not suit the code: " + trial.unsuited());
				}
			}
			written.complete(needed, new MavenRun(request.java).release(), request.jvmOptions);
		}

		/** Have Maven build it; with the whole class path, if it does not without. */
		void build(MavenRun maven) throws Refusal, IOException {
			try {
				maven.build(project);
			} catch (Refusal e) {
				if (needed.equals(request.classPath) || !MavenRun.isInstalled()) {
					throw e;
				}
				needed = request.classPath;
				written.complete(needed, maven.release(), request.jvmOptions);
				maven.build(project);
			}
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
		return request.method.isEmpty() ? Segment.ofMark(type) : Segment.ofMethod(type, request.method, request.parameters, request.samplesByLine);
	}

	private int run() throws Refusal, IOException {
		Sources sources = new Sources(request.sourcePath, request.classPath);
		Version before = new Version(sources, find(sources), request.against.isEmpty() ? request.output : request.output.resolve("before"));
		Version after = null;
		if (!request.against.isEmpty()) {
			Sources others = new Sources(request.against, request.classPath);
			after = new Version(others, before.segment.counterpart(others.type(before.segment.type.getQualifiedName())),
					request.output.resolve("after"));
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
		ProfiledRun profiled = new ProfiledRun(request, payload, before.project);
		if (request.record && !request.program.isEmpty() && !request.profile.isEmpty()) {
			saySamples(profiled);
		}
		Recording recording = recording(before);
		before.write(recording);
		boolean hasBoth = after != null && isWritten(after, recording);
		out.println("the project is in " + request.output);
		int status = request.run ? measure(before, hasBoth ? after : null, recording, profiled) : DONE;
		boolean whole = before.isSuited && (after == null || (hasBoth && after.isSuited));
		return status == DONE && !whole ? PARTLY : status;
	}

	/** Say before the program runs for it that there is nothing to compare the benchmark with. */
	private void saySamples(ProfiledRun profiled) throws IOException {
		try {
			profiled.readProgram();
			profiled.check();
		} catch (Refusal e) {
			err.println("locus: bench: the benchmark will not be compared with the program: " + e.getMessage());
		}
	}

	private boolean isWritten(Version after, Recording recording) throws IOException {
		try {
			after.write(recording);
			return true;
		} catch (Refusal e) { // the first version is of use without it
			err.println("locus: bench: the version to compare with: " + e.getMessage());
			return false;
		}
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

	/** Is the benchmark like the program? */
	private void compare(ProfiledRun run, Payload payload, Recording recording, Results results) throws IOException {
		if (recording.executions == 0) {
			return; // made up
		}
		Likeness likeness = new Likeness();
		try {
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

	private int measure(Version before, Version after, Recording recording, ProfiledRun profiled) throws Refusal, IOException {
		MavenRun maven = new MavenRun(request.java);
		List<String> notes = new ArrayList<>(Project.notes(before.payload, recording));
		if (after == null) {
			before.build(maven);
			Results results = alone(maven, before.project, before.payload, notes);
			compare(profiled, before.payload, recording, results);
			out.print(results.text());
			return results.status();
		}
		Path first = before.project;
		Path second = after.project;
		before.build(maven);
		Results then;
		Results now;
		try {
			after.build(maven);
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
			compare(profiled, before.payload, recording, alone);
			out.print(alone.text());
			return PARTLY;
		}
		noteWarmUp(maven, then);
		compare(profiled, before.payload, recording, then);
		out.print(now.against(then).text());
		return now.status();
	}
}
