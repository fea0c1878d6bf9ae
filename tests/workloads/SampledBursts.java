/*
 * Allocates small objects in known numbers: at a steady rate, in bursts with pauses between, or both at once.
 *
 * Usage: SampledBursts steady|bursts|mixed ROUNDS OBJECTS PAUSE_MS
 *
 * Each round makes OBJECTS objects at each of three lines. A steady program pauses after each hundredth of a
 * round, a program of bursts after each whole one; a mixed one has a thread of either kind.
 */
public final class SampledBursts {
	static final int PARTS = 100;
	static volatile Object sink;

	static void burst(int objects) {
		for (int i = 0; i < objects; i++) {
			sink = new byte[16]; // burst: 0
			sink = new byte[48]; // burst: 1
			sink = new byte[112]; // burst: 2
		}
	}

	static void part(int objects) {
		for (int i = 0; i < objects; i++) {
			sink = new byte[16]; // steady: 0
			sink = new byte[48]; // steady: 1
			sink = new byte[112]; // steady: 2
		}
	}

	static void bursts(int rounds, int objects, int pauseMs) {
		for (int i = 0; i < rounds; i++) {
			burst(objects);
			pause(pauseMs);
		}
	}

	static void steady(int rounds, int objects, int pauseMs) {
		for (int i = 0; i < rounds * PARTS; i++) {
			part(objects / PARTS);
			if (i % 10 == 9)
				pause(pauseMs / 10);
		}
	}

	static void pause(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int rounds = Integer.parseInt(args[1]), objects = Integer.parseInt(args[2]), pauseMs = Integer.parseInt(args[3]);
		Thread other = new Thread(() -> bursts(rounds, objects, pauseMs));
		if (args[0].equals("mixed"))
			other.start();
		if (args[0].equals("bursts"))
			bursts(rounds, objects, pauseMs);
		else
			steady(rounds, objects, pauseMs);
		other.join();
	}
}
