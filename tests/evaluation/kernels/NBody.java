import java.util.Locale;

/**
 * Moves the Sun and the four large planets by Newton's law, in steps of a hundredth of a year. The energy is
 * -0.169075164 before the first step and -0.169087605 after a thousand, as the Computer Language Benchmarks Game, which
 * this problem is from, has published. Argument: steps.
 */
public final class NBody {
	private static final double STEP = 0.01, DAYS = 365.24, SUN = 4 * Math.PI * Math.PI;

	private static final class Body {
		private double x, y, z, vx, vy, vz;
		private final double mass;

		/** Takes distances in those of the Earth, speeds for a day, and the mass in Suns. */
		Body(double x, double y, double z, double vx, double vy, double vz, double mass) {
			this.x = x;
			this.y = y;
			this.z = z;
			this.vx = vx * DAYS;
			this.vy = vy * DAYS;
			this.vz = vz * DAYS;
			this.mass = mass * SUN;
		}
	}

	private final Body[] bodies = {
		new Body(0, 0, 0, 0, 0, 0, 1),
		new Body(4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01, 1.66007664274403694e-03,
			7.69901118419740425e-03, -6.90460016972063023e-05, 9.54791938424326609e-04),
		new Body(8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01, -2.76742510726411021e-03,
			4.99852801234917238e-03, 2.30417297573763929e-05, 2.85885980666130812e-04),
		new Body(1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01, 2.96460137564761618e-03,
			2.37847173959480950e-03, -2.96589568540237556e-05, 4.36624404335156298e-05),
		new Body(1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01, 2.68067772490389322e-03,
			1.62824170038242295e-03, -9.51592254519715870e-05, 5.15138902046611451e-05),
	};

	/** Gives the Sun the speed with which all bodies together stand still. */
	private NBody() {
		double px = 0, py = 0, pz = 0;
		for (Body b : bodies) {
			px += b.vx * b.mass;
			py += b.vy * b.mass;
			pz += b.vz * b.mass;
		}
		bodies[0].vx = -px / SUN;
		bodies[0].vy = -py / SUN;
		bodies[0].vz = -pz / SUN;
	}

	private void attract(Body a, Body b) {
		double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
		double square = dx * dx + dy * dy + dz * dz;
		double pull = STEP / (square * Math.sqrt(square));
		a.vx -= dx * b.mass * pull;
		a.vy -= dy * b.mass * pull;
		a.vz -= dz * b.mass * pull;
		b.vx += dx * a.mass * pull;
		b.vy += dy * a.mass * pull;
		b.vz += dz * a.mass * pull;
	}

	private void advance() {
		for (int i = 0; i < bodies.length; i++)
			for (int k = i + 1; k < bodies.length; k++)
				attract(bodies[i], bodies[k]);
		for (Body b : bodies) {
			b.x += STEP * b.vx;
			b.y += STEP * b.vy;
			b.z += STEP * b.vz;
		}
	}

	private double energy() {
		double sum = 0;
		for (int i = 0; i < bodies.length; i++) {
			Body a = bodies[i];
			sum += a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz) / 2;
			for (int k = i + 1; k < bodies.length; k++) {
				Body b = bodies[k];
				double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
				sum -= a.mass * b.mass / Math.sqrt(dx * dx + dy * dy + dz * dz);
			}
		}
		return sum;
	}

	private static void check(double energy, double published) {
		Result.check(Math.abs(energy - published) < 6e-10, "an energy of " + energy);
	}

	public static void main(String[] args) {
		NBody system = new NBody();
		check(system.energy(), -0.169075164);
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			system.advance();
			if (i == Integer.parseInt(args[0]) - 999)
				check(system.energy(), -0.169087605);
		}
		Result.is(String.format(Locale.ROOT, "%.9f", system.energy()));
	}
}
