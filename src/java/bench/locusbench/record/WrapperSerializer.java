// SPDX-License-Identifier: Apache-2.0
package locusbench.record;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Writes and reads what Collections.unmodifiable...() and synchronized...() return, around a new collection of the same
 * elements in the same order.
 */
final class WrapperSerializer extends Serializer<Object> {
	/** From the elements to the wrapper; keys and values of a map alternate. */
	private static final Map<Class<?>, Function<List<Object>, Object>> MAKERS = new HashMap<>();

	static {
		add(all -> Collections.unmodifiableCollection(all));
		add(all -> Collections.unmodifiableList(all));
		add(all -> Collections.unmodifiableList(new LinkedList<>(all)));
		add(all -> Collections.unmodifiableSet(new LinkedHashSet<>(all)));
		add(all -> Collections.unmodifiableMap(map(all)));
		add(all -> Collections.synchronizedCollection(all));
		add(all -> Collections.synchronizedList(all));
		add(all -> Collections.synchronizedList(new LinkedList<>(all)));
		add(all -> Collections.synchronizedSet(new LinkedHashSet<>(all)));
		add(all -> Collections.synchronizedMap(map(all)));
	}

	private static void add(Function<List<Object>, Object> maker) {
		MAKERS.put(maker.apply(new ArrayList<>()).getClass(), maker);
	}

	private static Map<Object, Object> map(List<Object> all) {
		Map<Object, Object> map = new LinkedHashMap<>();
		for (int i = 0; i + 1 < all.size(); i += 2) {
			map.put(all.get(i), all.get(i + 1));
		}
		return map;
	}

	static boolean serves(Class<?> type) {
		return MAKERS.containsKey(type);
	}

	@Override
	public void write(Kryo kryo, Output output, Object object) {
		List<Object> all = new ArrayList<>();
		if (object instanceof Map) {
			for (Map.Entry<?, ?> entry : ((Map<?, ?>) object).entrySet()) {
				all.add(entry.getKey());
				all.add(entry.getValue());
			}
		} else {
			all.addAll((Collection<?>) object);
		}
		output.writeInt(all.size());
		for (Object element : all) {
			kryo.writeClassAndObject(output, element);
		}
	}

	/** An element that refers to the wrapper itself is not found: the wrapper is made last. */
	@Override
	public Object read(Kryo kryo, Input input, Class<? extends Object> type) {
		List<Object> all = new ArrayList<>();
		for (int left = input.readInt(); left > 0; left--) {
			all.add(kryo.readClassAndObject(input));
		}
		return MAKERS.get(type).apply(all);
	}
}
