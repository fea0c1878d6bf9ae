/**
 * Lets a hundred balls move in a box for fifty steps, and counts how often a ball bounces off a wall: 1331 times.
 * Argument: how often.
 */
public final class Bounce {
	private static final int BALLS = 100, STEPS = 50, SIDE = 500, SPEEDS = 300, BOUNCES = 1331;

	private static final class Ball {
		private int x, y, dx, dy;

		Ball(Random16 random) {
			x = random.next() % SIDE;
			y = random.next() % SIDE;
			dx = random.next() % SPEEDS - SPEEDS / 2;
			dy = random.next() % SPEEDS - SPEEDS / 2;
		}

		/** Moves the ball; does it bounce? */
		boolean move() {
			int wantedX = x + dx, wantedY = y + dy;
			x = Math.max(0, Math.min(SIDE, wantedX));
			y = Math.max(0, Math.min(SIDE, wantedY));
			if (x != wantedX)
				dx = -dx;
			if (y != wantedY)
				dy = -dy;
			return x != wantedX || y != wantedY;
		}
	}

	private static int run() {
		Random16 random = new Random16();
		Ball[] balls = new Ball[BALLS];
		for (int i = 0; i < BALLS; i++)
			balls[i] = new Ball(random);
		int bounces = 0;
		for (int step = 0; step < STEPS; step++)
			for (Ball ball : balls)
				if (ball.move())
					bounces++;
		return bounces;
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			int bounces = run();
			Result.check(bounces == BOUNCES, bounces + " bounces");
			sum += bounces;
		}
		Result.is(sum);
	}
}
