import java.lang.instrument.Instrumentation;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.agent.builder.ResettableClassFileTransformer;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.dynamic.loading.ClassReloadingStrategy;
import net.bytebuddy.matcher.ElementMatchers;

/*
 * Instruments a class of its own when that is hot: by an agent that attaches itself.
 *
 * Usage: Advised TIMES HOW, with Byte Buddy and its agent on the class path
 *
 * HOW is "redefine": the JVM gets another class file; or "retransform", as Mockito's inline mocks do it: each transformer changes
 * what the one before has left.
 *
 * Hot.run() runs so many times without advice, so many with it, and as often without it again. Each time it allocates an array of
 * 2,000 bytes, and the advice one of 3,000 where it is. Prints how often the advice ran, and ends with status 4.
 */
public final class Advised {
	public static volatile Object kept;
	public static volatile int advised;
	static final int[][] cells = new int[64][1 << 16];

	static final class Hot {
		long at = 1;

		long run() {
			long sum = 0;
			for (int i = 0; i < 1 << 14; i++) {
				at = at * 6364136223846793005L + 1442695040888963407L;
				sum += cells[(int)(at >>> 58)][(int)(at >>> 40) & 0xffff]; // read
			}
			kept = new byte[2000]; // make
			return sum;
		}
	}

	public static final class Counting {
		@Advice.OnMethodEnter
		static void enter() {
			kept = new byte[3000]; // advice
			advised++;
		}
	}

	static long run(Hot hot, int times) {
		long sum = 0;
		for (int i = 0; i < times; i++)
			sum += hot.run();
		return sum;
	}

	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[0]);
		Hot hot = new Hot();
		long sum = run(hot, times);
		Instrumentation agent = ByteBuddyAgent.install();
		AsmVisitorWrapper advice = Advice.to(Counting.class).on(ElementMatchers.named("run"));
		if (args[1].equals("redefine")) {
			ClassReloadingStrategy reload = new ClassReloadingStrategy(agent, ClassReloadingStrategy.Strategy.REDEFINITION);
			new ByteBuddy().redefine(Hot.class).visit(advice).make().load(Hot.class.getClassLoader(), reload);
			sum += run(hot, times);
			reload.reset(Hot.class);
		} else {
			AgentBuilder.RedefinitionStrategy again = AgentBuilder.RedefinitionStrategy.RETRANSFORMATION;
			ResettableClassFileTransformer transformer = new AgentBuilder.Default().disableClassFormatChanges().with(again)
				.type(ElementMatchers.is(Hot.class)).transform((builder, type, loader, module, domain) -> builder.visit(advice))
				.installOn(agent);
			sum += run(hot, times);
			transformer.reset(agent, again);
		}
		sum += run(hot, times);
		System.out.println(advised + " " + (sum == 0));
		System.exit(4);
	}
}
