/* Main - adds up the parts of areas that are inside a region, with JTS. Arguments: areas, rounds. */

import java.util.Random;
import org.locationtech.jts.geom.Coordinate;
import org.locationtech.jts.geom.Geometry;
import org.locationtech.jts.geom.GeometryFactory;

public class Main {
	private static final GeometryFactory FACTORY = new GeometryFactory();

	/* A polygon whose corners are about so far from a point. */
	private static Geometry around(double x, double y, double radius, int corners, Random random) {
		Coordinate[] ring = new Coordinate[corners + 1];
		for (int i = 0; i < corners; i++) {
			double far = radius * (0.9 + 0.2 * random.nextDouble()), angle = 2 * Math.PI * i / corners;
			ring[i] = new Coordinate(x + far * Math.cos(angle), y + far * Math.sin(angle));
		}
		ring[corners] = ring[0];
		return FACTORY.createPolygon(ring);
	}

	private static double inside(Geometry region, Geometry[] areas) {
		double sum = 0;
		for (Geometry area : areas)
			sum += region.intersection(area).getArea();
		return sum;
	}

	public static void main(String[] arguments) {
		Random random = new Random(7);
		Geometry region = around(0, 0, 100, 200, random);
		Geometry[] areas = new Geometry[Integer.parseInt(arguments[0])];
		for (int i = 0; i < areas.length; i++)
			areas[i] = around(200 * random.nextDouble() - 100, 200 * random.nextDouble() - 100, 5, 40, random);
		double sum = 0;
		for (int round = 0; round < Integer.parseInt(arguments[1]); round++)
			sum += inside(region, areas);
		System.out.println("result: " + Math.round(sum));
	}
}
