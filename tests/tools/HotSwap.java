// SPDX-License-Identifier: Apache-2.0
import com.sun.jdi.Bootstrap;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/*
 * Replaces a class of a running JVM through its debugger's port, as an IDE does, by what stands in a file.
 *
 * Usage: HotSwap PORT CLASS FILE TIMES; prints how often it did
 */
public final class HotSwap {
	public static void main(String[] args) throws Exception {
		AttachingConnector socket = Bootstrap.virtualMachineManager().attachingConnectors().stream()
			.filter(c -> c.name().equals("com.sun.jdi.SocketAttach")).findFirst().get();
		Map<String, Connector.Argument> where = socket.defaultArguments();
		where.get("hostname").setValue("127.0.0.1");
		where.get("port").setValue(args[0]);
		VirtualMachine vm = socket.attach(where);
		byte[] bytes = Files.readAllBytes(Path.of(args[2]));
		int done = 0;
		for (; done < Integer.parseInt(args[3]); done++)
			for (ReferenceType type : vm.classesByName(args[1])) {
				vm.redefineClasses(Map.of(type, bytes));
				Thread.sleep(20);
			}
		vm.dispose();
		System.out.println(done);
	}
}
