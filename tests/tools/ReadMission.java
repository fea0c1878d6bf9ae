// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import org.openjdk.jmc.common.IMCFrame;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.IMCThread;
import org.openjdk.jmc.common.item.Aggregators;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.ItemFilters;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.jdk.JdkAttributes;

/** Reads recordings with the parser of JDK Mission Control and prints, of each, samples, bytes and samples at objects. */
public class ReadMission {
    private static long samples(IItemCollection events) {
        long count = 0;
        for (IItemIterable items : events.apply(ItemFilters.type("jdk.ExecutionSample"))) {
            IMemberAccessor<IMCStackTrace, IItem> stack = JfrAttributes.EVENT_STACKTRACE.getAccessor(items.getType());
            IMemberAccessor<IMCThread, IItem> thread = JfrAttributes.EVENT_THREAD.getAccessor(items.getType());
            IMemberAccessor<IQuantity, IItem> time = JfrAttributes.START_TIME.getAccessor(items.getType());
            for (IItem item : items) {
                for (IMCFrame frame : stack.getMember(item).getFrames()) {
                    frame.getMethod().getType().getFullName().length();
                }
                IMCThread of = thread.getMember(item);
                if ((of != null && of.getThreadName() == null) || time.getMember(item) == null) {
                    throw new AssertionError(item);
                }
                count++;
            }
        }
        return count;
    }

    private static long objectSamples(IItemCollection events) {
        long sum = 0;
        for (IItemIterable items : events.apply(ItemFilters.type("locus.ObjectAccess"))) {
            IMemberAccessor<IQuantity, IItem> samples =
                org.openjdk.jmc.common.item.Attribute.attr("samples", UnitLookup.NUMBER).getAccessor(items.getType());
            for (IItem item : items) {
                sum += samples.getMember(item).longValue();
            }
        }
        return sum;
    }

    public static void main(String[] files) throws Exception {
        for (String file : files) {
            IItemCollection events = JfrLoaderToolkit.loadEvents(new File(file));
            IQuantity bytes = events.apply(ItemFilters.type("jdk.ObjectAllocationSample")).getAggregate(Aggregators.sum(JdkAttributes.SAMPLE_WEIGHT));
            System.out.println(file + " " + samples(events) + " " + (bytes == null ? 0 : bytes.longValue()) + " " + objectSamples(events));
        }
    }
}
