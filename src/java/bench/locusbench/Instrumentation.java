package locusbench;

import java.util.stream.Collectors;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtLambda;
import spoon.reflect.code.CtReturn;
import spoon.reflect.code.CtStatement;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.declaration.CtExecutable;
import spoon.reflect.declaration.CtType;
import spoon.reflect.factory.Factory;
import spoon.reflect.visitor.filter.TypeFilter;

/**
 * Writes the class of a segment so that it records what the segment begins with and what it leaves. The model that the
 * segment is of is as it was afterwards.
 */
final class Instrumentation {
	private static final String RECORDER = "locusbench.record.Recorder";
	private static final String TICKET = "locusTicket";

	private final Segment segment;
	private final Variables variables;
	private final Edits edits = new Edits();

	Instrumentation(Segment segment, Variables variables) {
		this.segment = segment;
		this.variables = variables;
	}

	/** The text of the source file. */
	String text() {
		Factory factory = segment.type.getFactory();
		String inputs = variables.inputs.stream().map(i -> ", (Object) " + i.inProgram).collect(Collectors.joining());
		String left = variables.outputs.stream().map(o -> ", " + o.inProgram).collect(Collectors.joining());
		for (CtReturn<?> r : segment.statement.getElements(new TypeFilter<CtReturn<?>>(CtReturn.class))) {
			if (r.getParent((CtElement e) -> e instanceof CtLambda || e instanceof CtExecutable) == segment.method) {
				ends(factory, r, left);
			}
		}
		String begin = "final int " + TICKET + " = " + RECORDER + ".enter();\nif (" + TICKET + " >= 0) { " + RECORDER + ".inputs("
				+ TICKET + inputs + "); }\n";
		String end = Completes.normally(segment.statement)
				? "\nif (" + TICKET + " >= 0) { " + RECORDER + ".outputs(" + TICKET + ", (Object) null" + left + "); }" : "";
		String guarded = begin + "try {\n" + text(segment.statement) + end + "\n} catch (Throwable locusThrown) { " + RECORDER
				+ ".failed(" + TICKET + "); throw locusThrown; }";
		CtStatement replacement = factory.createCodeSnippetStatement("{ " + guarded + " }");
		CtBlock<?> body = factory.createBlock();
		body.addStatement(replacement);
		edits.replace(segment.statement, segment.isWholeMethod() ? body : replacement);
		CtType<?> top = segment.type.getTopLevelType();
		String of = top.getPackage() == null || top.getPackage().isUnnamedPackage() ? ""
				: "package " + top.getPackage().getQualifiedName() + ";\n";
		String text = of + top;
		edits.undo();
		return text;
	}

	private String text(CtStatement statement) {
		if (segment.isWholeMethod()) {
			return ((CtBlock<?>) statement).getStatements().stream().map(s -> s + Extraction.ends(s))
					.collect(Collectors.joining("\n"));
		}
		return statement + Extraction.ends(statement);
	}

	private void ends(Factory factory, CtReturn<?> r, String left) {
		String value = r.getReturnedExpression() == null ? null : r.getReturnedExpression().toString();
		String record = "if (" + TICKET + " >= 0) { " + RECORDER + ".outputs(" + TICKET + ", (Object) ";
		String text = value == null ? "{ " + record + "null" + left + "); } return; }"
				: "{ final " + segment.method.getType() + " locusResult = " + value + "; " + record + "locusResult" + left
						+ "); } return locusResult; }";
		edits.replace(r, factory.createCodeSnippetStatement(text));
	}
}
