// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Proxy;
import java.util.concurrent.Callable;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.implementation.bind.annotation.SuperCall;
import net.bytebuddy.matcher.ElementMatchers;
import net.sf.cglib.beans.BeanCopier;
import net.sf.cglib.proxy.Enhancer;
import net.sf.cglib.proxy.MethodInterceptor;
import org.codehaus.janino.ExpressionEvaluator;
import org.codehaus.janino.SimpleCompiler;

/**
 * Has libraries make classes while it runs, in class loaders, and uses them. Prints what they
 * answered.
 */
public final class Generate {
	/** The class to extend. */
	public static class Base {
		private int number = 1;

		/** A constructor with work to do. */
		public Base() {
			number += new int[] { 1, 2 }.length;
		}

		/** For bean copiers. */
		public int getNumber() {
			return number;
		}

		public void setNumber(int n) {
			number = n;
		}

		public String name() {
			return "base";
		}
	}

	/** For MethodDelegation. */
	public static final class Around {
		public static String around(@SuperCall Callable<String> inner) throws Exception {
			return "<" + inner.call() + ">";
		}
	}

	private static String byteBuddy(int i) throws Exception {
		ByteBuddy make = new ByteBuddy();
		Base fixed = make.subclass(Base.class).method(ElementMatchers.named("name"))
			.intercept(FixedValue.value("fixed" + i)).make()
			.load(Generate.class.getClassLoader()).getLoaded().getConstructor().newInstance();
		Base delegated = make.subclass(Base.class).method(ElementMatchers.named("name"))
			.intercept(MethodDelegation.to(Around.class)).make()
			.load(Generate.class.getClassLoader()).getLoaded().getConstructor().newInstance();
		return fixed.name() + delegated.name() + delegated.getNumber();
	}

	private static String cglib() {
		Enhancer enhancer = new Enhancer();
		enhancer.setSuperclass(Base.class);
		enhancer.setCallback((MethodInterceptor) (o, method, args, proxy) ->
			method.getReturnType() == String.class ? "(" + proxy.invokeSuper(o, args) + ")"
				: proxy.invokeSuper(o, args));
		Base from = (Base) enhancer.create();
		Base to = new Base();
		from.setNumber(42);
		BeanCopier.create(Base.class, Base.class, false).copy(from, to, null);
		return from.name() + to.getNumber();
	}

	private static String janino(int i) throws Exception {
		ExpressionEvaluator sum = new ExpressionEvaluator();
		sum.setParameters(new String[] { "a", "b" }, new Class<?>[] { int.class, int.class });
		sum.setExpressionType(Object.class);
		sum.cook("new StringBuilder().append(a + b + " + i + ").append(new int[] { a, b }[1])");
		SimpleCompiler compiler = new SimpleCompiler();
		compiler.cook("public class Made implements Runnable { int[][] grid = new int[3][4];"
			+ " public Made() { this(2); } Made(int n) { try { grid[n][n] = n; }"
			+ " finally { grid[0][0]++; } }"
			+ " public void run() { synchronized (this) { grid = (int[][]) grid.clone(); } }"
			+ " public String toString() { run(); return \"made\" + grid[0][0]; } }");
		return sum.evaluate(new Object[] { 2, 3 }) + "" + compiler.getClassLoader().loadClass("Made")
			.getConstructor().newInstance();
	}

	private static String proxy() throws Exception {
		Callable<?> c = (Callable<?>) Proxy.newProxyInstance(Generate.class.getClassLoader(),
			new Class<?>[] { Callable.class, Runnable.class }, (o, method, args) -> method.getName());
		return (String) c.call();
	}

	public static void main(String[] args) throws Exception {
		StringBuilder answers = new StringBuilder();
		for (int i = 0; i < 20; i++)
			answers.append(byteBuddy(i)).append(cglib()).append(janino(i)).append(proxy());
		System.out.println(answers.length() + " " + answers.toString().hashCode());
	}
}
