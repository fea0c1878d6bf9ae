// SPDX-License-Identifier: Apache-2.0

import java.nio.file.Path;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/** Reads recordings with the JDK's own classes and prints sums: kind, what it is of, number; between tabs. */
public class ReadJfr {
    private static final int PRINTED = 300; // of a file
    private static final Map<String, Long> sums = new TreeMap<>();

    private static void add(String kind, String of, long number) {
        sums.merge(kind + "\t" + of.replace("\n", "\\u000a"), number, Long::sum);
    }

    private static String name(RecordedClass type) {
        String name = type.getName();
        int dimensions = 0;
        while (name.startsWith("[", dimensions)) {
            dimensions++;
        }
        if (dimensions == 0) {
            return name;
        }
        String element = name.substring(dimensions);
        for (Class<?> primitive : List.of(boolean.class, byte.class, char.class, double.class, float.class, int.class, long.class, short.class)) {
            if (primitive.arrayType().getName().equals("[" + element)) {
                return primitive.getName() + "[]".repeat(dimensions);
            }
        }
        return element.substring(1, element.length() - 1) + "[]".repeat(dimensions);
    }

    /** From the root on, as in collapsed stacks. */
    private static String stack(RecordedStackTrace trace) {
        StringBuilder text = new StringBuilder();
        if (trace == null) {
            return "";
        }
        List<RecordedFrame> frames = trace.getFrames();
        for (int i = frames.size() - 1; i >= 0; i--) {
            RecordedMethod method = frames.get(i).getMethod();
            String name = method.getType().getName() + (method.getName().isEmpty() ? "" : "." + method.getName());
            int line = frames.get(i).getLineNumber();
            text.append((name + (line >= 0 ? ":" + line : "")).replace(';', '_')).append(i > 0 ? ";" : "");
            if (!method.getDescriptor().startsWith("(")) {
                throw new AssertionError(method.getDescriptor());
            }
        }
        if (trace.isTruncated()) {
            add("truncated", text.toString(), 1);
        }
        return text.toString();
    }

    private static String top(RecordedEvent event) {
        RecordedClass type = event.getClass("objectClass");
        return "[" + (type != null ? name(type) : event.getString("bucket")).replace(';', '_') + "]";
    }

    private static String joined(String... parts) {
        StringBuilder text = new StringBuilder();
        for (String part : parts) {
            if (!part.isEmpty() && !part.equals("(no call path)")) {
                text.append(text.length() == 0 ? "" : ";").append(part);
            }
        }
        return text.toString();
    }

    private static void read(RecordedEvent event) {
        String stack = event.hasField("stackTrace") ? stack(event.getStackTrace()) : "";
        String type = event.getEventType().getName();
        switch (type) {
        case "jdk.ExecutionSample":
            RecordedThread thread = event.getThread("sampledThread");
            add("code", stack, 1);
            add("thread", thread == null ? "" : thread.getJavaName() + " " + thread.getOSThreadId() + " " + thread.getThreadGroup().getName(), 1);
            add("state", event.getString("state"), 1);
            break;
        case "jdk.ObjectAllocationSample":
            add("alloc-bytes", joined(stack, top(event)), event.getLong("weight"));
            break;
        case "locus.Allocation":
            add("alloc-count", joined(stack, top(event)), event.getLong("objects"));
            break;
        case "locus.ObjectAccess":
            RecordedStackTrace allocated = event.getValue("allocationStackTrace");
            add("access", joined(stack, top(event)), event.getLong("samples"));
            add("objects", joined(stack(allocated), top(event), stack), event.getLong("samples"));
            add("bucket", event.getString("bucket"), event.getLong("samples"));
            add("latency", "", event.getLong("latency"));
            if (event.getString("storedIn") != null) {
                add("stored", event.getString("storedIn"), event.getLong("samples"));
            }
            break;
        case "locus.FieldAccess":
            String field = event.getString("field");
            add("field", event.getString("bucket") + " " + top(event) + "." + (field == null ? event.getLong("firstElement") + "-" + event.getLong("lastElement") : field),
                event.getLong("samples"));
            break;
        case "locus.NodeAccess":
            add("node", event.getInt("cpuNode") + " " + event.getInt("node"), event.getLong("samples"));
            break;
        case "locus.Live":
            add("live-bytes", joined(stack, top(event)), event.getLong("bytes"));
            break;
        case "locus.OffHeap":
            add("offheap-bytes", joined(stack, top(event)), event.getLong("allocatedBytes"));
            add("offheap-live", joined(stack, top(event)), event.getLong("liveBytes"));
            break;
        case "jdk.GCPhasePause":
            add("pause", event.getStartTime().toString(), event.getDuration().toNanos());
            break;
        case "jdk.JVMInformation":
            add("jvm", event.getString("jvmName") + "|" + event.getString("jvmVersion") + "|" + event.getString("javaArguments"), event.getLong("pid"));
            break;
        case "jdk.CPUInformation":
            add("cpu", "", event.getInt("hwThreads"));
            break;
        case "jdk.ActiveSetting":
            add("setting", event.getLong("id") + " " + event.getString("name") + " " + event.getString("value"), 1);
            break;
        case "locus.Engine":
            add("engine", event.getString("name"), event.getLong("samplesPerEvent"));
            break;
        default:
            break;
        }
    }

    public static void main(String[] files) throws Exception {
        for (String file : files) {
            Instant first = Instant.MAX, last = Instant.MIN;
            int count = 0;
            sums.clear();
            try (RecordingFile recording = new RecordingFile(Path.of(file))) {
                while (recording.hasMoreEvents()) {
                    RecordedEvent event = recording.readEvent();
                    add("event", event.getEventType().getName(), 1);
                    read(event);
                    if (++count <= PRINTED) {
                        event.toString(); // the JDK's words for it, for which it takes names apart
                    }
                    if (event.getEventType().getName().equals("jdk.ExecutionSample")) {
                        first = event.getStartTime().isBefore(first) ? event.getStartTime() : first;
                        last = event.getEndTime().isAfter(last) ? event.getEndTime() : last;
                    }
                }
            }
            System.out.println("file\t" + file + "\t0");
            if (!first.equals(Instant.MAX)) {
                System.out.println("first\t\t" + (first.getEpochSecond() * 1_000_000_000 + first.getNano()));
                System.out.println("last\t\t" + (last.getEpochSecond() * 1_000_000_000 + last.getNano()));
            }
            for (Iterator<Map.Entry<String, Long>> i = sums.entrySet().iterator(); i.hasNext();) {
                Map.Entry<String, Long> entry = i.next();
                System.out.println(entry.getKey() + "\t" + entry.getValue());
            }
        }
    }
}
