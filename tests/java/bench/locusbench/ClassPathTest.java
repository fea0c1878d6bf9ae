// SPDX-License-Identifier: Apache-2.0
package locusbench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of a directory that come into a project: programs are started from where all their files are. */
class ClassPathTest {
	@TempDir
	Path directory;

	private void file(String name, byte[] content) throws Exception {
		Path file = directory.resolve("app").resolve(name);
		Files.createDirectories(file.getParent());
		Files.write(file, content);
	}

	@Test
	void classesAndResourcesAlone() throws Exception {
		byte[] classFile = ClassPathTest.class.getResourceAsStream("ClassPathTest.class").readAllBytes();
		for (String root : List.of("", "META-INF/versions/11/", "target/classes/", "bench-C-1/target/classes/")) {
			file(root + "locusbench/ClassPathTest.class", classFile);
		}
		file("locusbench/Broken.class", new byte[] {1, 2});
		for (String name : List.of("app.properties", "text/de.txt", "META-INF/maven/g/a/pom.xml", "META-INF/services/a.B", "C.java", "lib/x.jar", ".git/config",
				".hidden", "prof/0.lcb", "other/pom.xml", "other/text.txt", "bench-C-1/lib/00-app.jar", "bench-C-1/recorded/inputs.bin")) {
			file(name, new byte[9]);
		}
		file("bench-C-1/request.json", "{\"source_path\":[]}".getBytes());
		file("prof/manifest.json", "{\"processes\":[]}".getBytes());
		Path lib = directory.resolve("lib");
		Files.createDirectories(lib);
		Files.createFile(lib.resolve("00-old.jar"));
		assertEquals(List.of("00-app.jar"), ClassPath.copy(List.of(directory.resolve("app").toString(), directory.resolve("absent").toString()), lib));
		assertEquals(1, lib.toFile().list().length);
		try (ZipFile jar = new ZipFile(lib.resolve("00-app.jar").toFile())) {
			assertEquals(List.of("META-INF/maven/g/a/pom.xml", "META-INF/services/a.B", "META-INF/versions/11/locusbench/ClassPathTest.class", "app.properties",
					"locusbench/ClassPathTest.class", "text/de.txt"), jar.stream().map(e -> e.getName()).collect(Collectors.toList()));
		}
	}
}
