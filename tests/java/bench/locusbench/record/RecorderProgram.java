// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A program as it is after instrumentation, for RecorderTest: its first argument says what it does. */
public final class RecorderProgram {
	private RecorderProgram() {
	}

	private static long sum(int[] values) {
		int ticket = Recorder.enter();
		if (ticket >= 0) {
			Recorder.inputs(ticket, values, 1L);
		}
		long sum = 1;
		for (int value : values) {
			sum += value;
		}
		if (ticket >= 0) {
			Recorder.outputs(ticket, sum);
		}
		return sum;
	}

	private static int depth(int left) {
		int ticket = Recorder.enter();
		Recorder.inputs(ticket, left);
		int depth = left == 0 ? 0 : 1 + depth(left - 1);
		Recorder.outputs(ticket, depth);
		return depth;
	}

	private static void capture(Object value) {
		int ticket = Recorder.enter();
		Recorder.inputs(ticket, value);
		Recorder.outputs(ticket, 1);
	}

	private static void fail(int i) {
		int ticket = Recorder.enter();
		Recorder.inputs(ticket, i);
		try {
			if (i % 2 == 0) {
				throw new IllegalStateException();
			}
			Recorder.outputs(ticket, i);
		} catch (IllegalStateException e) {
			Recorder.failed(ticket);
		}
	}

	/** A list too deep for this thread's stack whose monitor this thread holds: the thread with the large stack waits for it. */
	private static void monitor() {
		List<Object> list = Collections.synchronizedList(new ArrayList<>());
		Object deep = null;
		for (int i = 0; i < 1000; i++) {
			deep = new Object[] {deep};
		}
		list.add(deep);
		synchronized (list) {
			capture(list);
		}
	}

	public static void main(String[] args) throws Exception {
		switch (args[0]) {
		case "sum":
			for (int i = 0; i < 10_000; i++) {
				sum(new int[] {i, 2 * i});
			}
			break;
		case "threads":
			List<Thread> threads = new ArrayList<>();
			for (int t = 0; t < 4; t++) {
				threads.add(new Thread(() -> {
					for (int i = 0; i < 20_000; i++) {
						sum(new int[] {i});
					}
				}));
			}
			threads.forEach(Thread::start);
			for (Thread thread : threads) {
				thread.join();
			}
			break;
		case "recursion":
			depth(50);
			depth(50);
			break;
		case "refused":
			for (int i = 0; i < 30; i++) {
				capture(new Object[] {Thread.currentThread()});
			}
			break;
		case "large":
			capture(new long[100_000]);
			capture(new long[1]);
			break;
		case "fail":
			for (int i = 0; i < 20; i++) {
				fail(i);
			}
			break;
		case "slow":
			Object[] lists = new Object[2];
			for (int i = 0; i < lists.length; i++) {
				List<Object> list = new ArrayList<>();
				for (int j = 0; j < 50_000; j++) {
					list.add(new int[] {j});
				}
				lists[i] = list;
			}
			for (long end = System.nanoTime() + 4_000_000_000L; System.nanoTime() < end;) {
				capture(lists);
				Thread.sleep(1);
			}
			break;
		case "monitor":
			monitor();
			break;
		default:
			throw new IllegalArgumentException(args[0]);
		}
		System.out.println("done");
	}
}
