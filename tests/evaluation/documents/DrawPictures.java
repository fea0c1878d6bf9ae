import java.awt.image.BufferedImage;
import java.io.StringReader;
import java.util.Random;
import org.apache.batik.transcoder.TranscoderException;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.ImageTranscoder;

/**
 * Draws pictures that are made as SVG (Batik): paths, circles, gradients, clips, a filter and transparent groups. The
 * result is of the mean colours of each. Arguments: shapes in a picture, and pictures.
 */
public final class DrawPictures {
	private static final int SIDE = 600;

	private static final class Pixels extends ImageTranscoder {
		private BufferedImage image;

		@Override
		public BufferedImage createImage(int width, int height) {
			return new BufferedImage(width, height, BufferedImage.TYPE_INT_ARGB);
		}

		@Override
		public void writeImage(BufferedImage drawn, TranscoderOutput output) {
			image = drawn;
		}
	}

	private DrawPictures() {}

	private static void shape(StringBuilder svg, Random random, int number) {
		int x = random.nextInt(SIDE), y = random.nextInt(SIDE), size = 10 + random.nextInt(90);
		String paint = number % 3 == 0 ? "url(#g" + number % 4 + ")" : String.format("#%06x", random.nextInt(1 << 24));
		String end = " fill=\"" + paint + "\" opacity=\"0." + (3 + number % 7) + "\"/>";
		switch (number % 4) {
		case 0:
			svg.append("<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"" + size / 2 + "\"" + end);
			break;
		case 1:
			svg.append("<rect x=\"" + x + "\" y=\"" + y + "\" width=\"" + size + "\" height=\"" + size / 2
					+ "\" rx=\"8\" stroke=\"#333\" transform=\"rotate(" + number % 90 + " " + x + " " + y + ")\"" + end);
			break;
		case 2:
			svg.append("<path stroke=\"#246\" stroke-width=\"3\" stroke-dasharray=\"9 4\" d=\"M" + x + " " + y);
			for (int i = 0; i < 6; i++)
				svg.append(" q" + (random.nextInt(size) - size / 2) + " " + random.nextInt(size) + " "
						+ (random.nextInt(size) - size / 2) + " " + (random.nextInt(size) - size / 2));
			svg.append("z\"" + end);
			break;
		default:
			svg.append("<g clip-path=\"url(#c)\"><ellipse cx=\"" + x + "\" cy=\"" + y + "\" rx=\"" + size + "\" ry=\""
					+ size / 3 + "\"" + (number % 32 == 3 ? " filter=\"url(#f)\"" : "") + end + "</g>");
			break;
		}
	}

	private static String svg(int shapes, int seed) {
		Random random = new Random(seed);
		StringBuilder svg = new StringBuilder("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + SIDE + "\" height=\""
				+ SIDE + "\"><defs><clipPath id=\"c\"><circle cx=\"300\" cy=\"300\" r=\"280\"/></clipPath>"
				+ "<filter id=\"f\"><feGaussianBlur stdDeviation=\"3\"/></filter>");
		for (int i = 0; i < 4; i++)
			svg.append("<linearGradient id=\"g" + i + "\"><stop offset=\"0\" stop-color=\"#" + (i + 2) + "a4\"/>"
					+ "<stop offset=\"1\" stop-color=\"#f" + (i + 5) + "0\"/></linearGradient>");
		svg.append("</defs>");
		for (int i = 0; i < shapes; i++)
			shape(svg, random, i);
		return svg.append("</svg>").toString();
	}

	/** The mean of the picture's colours, so coarse that what JDKs round differently at edges does not count. */
	private static long mean(BufferedImage image) {
		long sum = 0;
		for (int argb : image.getRGB(0, 0, SIDE, SIDE, null, 0, SIDE))
			sum += (argb >>> 24) + (argb >>> 16 & 255) + (argb >>> 8 & 255) + (argb & 255);
		return sum / SIDE / SIDE / 4;
	}

	public static void main(String[] args) throws TranscoderException {
		int shapes = Integer.parseInt(args[0]);
		long sum = 0;
		for (int i = Integer.parseInt(args[1]); i > 0; i--) {
			Pixels pixels = new Pixels();
			pixels.transcode(new TranscoderInput(new StringReader(svg(shapes, i))), null);
			Result.check(pixels.image.getWidth() == SIDE && pixels.image.getHeight() == SIDE, "another size");
			sum = sum * 31 + mean(pixels.image);
		}
		Result.is(Long.toHexString(sum));
	}
}
