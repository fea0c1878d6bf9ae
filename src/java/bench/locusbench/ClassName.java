// SPDX-License-Identifier: Apache-2.0
package locusbench;

import java.io.DataInputStream;
import java.io.IOException;

/** Reads the name of a class from its class file (JVMS 4.1). */
final class ClassName {
	private static final int MAGIC = 0xCAFEBABE;

	private ClassName() {
	}

	/** Such as "org/acme/Index". */
	static String read(DataInputStream in) throws IOException {
		if (in.readInt() != MAGIC) {
			throw new IOException("no class file");
		}
		in.readInt(); // the version
		int count = in.readUnsignedShort();
		String[] texts = new String[count];
		int[] names = new int[count]; // of classes
		for (int i = 1; i < count; i++) {
			int tag = in.readUnsignedByte();
			switch (tag) {
			case 1:
				texts[i] = in.readUTF();
				break;
			case 7:
				names[i] = in.readUnsignedShort();
				break;
			case 5:
			case 6:
				in.readLong();
				i++; // a long or double takes two places
				break;
			case 15:
				in.readUnsignedByte();
				in.readUnsignedShort();
				break;
			case 8:
			case 16:
			case 19:
			case 20:
				in.readUnsignedShort();
				break;
			default:
				in.readInt();
			}
		}
		in.readUnsignedShort(); // the access flags
		int own = in.readUnsignedShort();
		if (own >= count || names[own] >= count || texts[names[own]] == null) {
			throw new IOException("a damaged class file");
		}
		return texts[names[own]];
	}
}
