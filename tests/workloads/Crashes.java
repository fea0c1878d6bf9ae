/** Sends itself the signal of a wrong access to memory, so that the JVM says that it has crashed, and ends. */
public class Crashes {
    public static void main(String[] args) throws Exception {
        new ProcessBuilder("kill", "-SEGV", Long.toString(ProcessHandle.current().pid())).inheritIO().start().waitFor();
        Thread.sleep(60_000);
    }
}
