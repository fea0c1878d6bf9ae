// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.util.List;
import spoon.reflect.code.CtBlock;
import spoon.reflect.code.CtBreak;
import spoon.reflect.code.CtCase;
import spoon.reflect.code.CtCatch;
import spoon.reflect.code.CtDo;
import spoon.reflect.code.CtExpression;
import spoon.reflect.code.CtFor;
import spoon.reflect.code.CtIf;
import spoon.reflect.code.CtLiteral;
import spoon.reflect.code.CtLoop;
import spoon.reflect.code.CtReturn;
import spoon.reflect.code.CtStatement;
import spoon.reflect.code.CtSwitch;
import spoon.reflect.code.CtSynchronized;
import spoon.reflect.code.CtThrow;
import spoon.reflect.code.CtTry;
import spoon.reflect.code.CtWhile;
import spoon.reflect.declaration.CtElement;
import spoon.reflect.visitor.filter.TypeFilter;

/** Tells whether a statement can complete normally (JLS 14.22), so that code behind it is allowed. */
final class Completes {
	private Completes() {
	}

	static boolean normally(CtStatement s) {
		if (s == null) {
			return true;
		} else if (s instanceof CtReturn || s instanceof CtThrow) {
			return false;
		} else if (s instanceof CtBlock) {
			return all(((CtBlock<?>) s).getStatements());
		} else if (s instanceof CtIf) {
			CtIf choice = (CtIf) s;
			return choice.getElseStatement() == null || normally(choice.getThenStatement()) || normally(choice.getElseStatement());
		} else if (s instanceof CtFor || s instanceof CtWhile || s instanceof CtDo) {
			CtExpression<?> condition = s instanceof CtFor ? ((CtFor) s).getExpression()
					: s instanceof CtWhile ? ((CtWhile) s).getLoopingExpression() : ((CtDo) s).getLoopingExpression();
			boolean endless = s instanceof CtFor && condition == null
					|| condition instanceof CtLiteral && Boolean.TRUE.equals(((CtLiteral<?>) condition).getValue());
			return !endless || isLeft(s);
		} else if (s instanceof CtSynchronized) {
			return normally(((CtSynchronized) s).getBlock());
		} else if (s instanceof CtTry) {
			CtTry attempt = (CtTry) s;
			if (attempt.getFinalizer() != null && !normally(attempt.getFinalizer())) {
				return false;
			}
			boolean any = normally(attempt.getBody());
			for (CtCatch c : attempt.getCatchers()) {
				any |= normally(c.getBody());
			}
			return any;
		} else if (s instanceof CtSwitch) {
			List<? extends CtCase<?>> cases = ((CtSwitch<?>) s).getCases();
			boolean hasDefault = cases.stream().anyMatch(c -> c.getCaseExpressions().isEmpty());
			return !hasDefault || isLeft(s) || cases.isEmpty() || all(cases.get(cases.size() - 1).getStatements());
		}
		return !(s instanceof CtBreak);
	}

	private static boolean all(List<CtStatement> statements) {
		return statements.stream().allMatch(Completes::normally);
	}

	/** Does a break leave the statement? */
	private static boolean isLeft(CtStatement s) {
		for (CtBreak b : s.getElements(new TypeFilter<>(CtBreak.class))) {
			CtElement of = b.getParent(e -> e instanceof CtLoop || e instanceof CtSwitch);
			if (b.getTargetLabel() != null ? b.getTargetLabel().equals(s.getLabel()) : of == s) {
				return true;
			}
		}
		return false;
	}
}
