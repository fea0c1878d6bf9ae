import clojure.java.api.Clojure;
import clojure.lang.IFn;

/**
 * Runs a program of Clojure: lazy sequences, persistent maps and sets, multimethods and transducers over a game of life
 * and a shop's orders. Argument: how often.
 */
public final class RunClojure {
	private static final String PROGRAM = """
		(ns work)

		(defn numbers [seed]
		  (map #(bit-and (bit-shift-right % 16) 0x7fff)
		       (rest (iterate #(bit-and (+ (* % 69069) 1) 0xffffffff) seed))))

		(defn neighbours [[x y]]
		  (for [dx [-1 0 1] dy [-1 0 1] :when (not= 0 dx dy)] [(+ x dx) (+ y dy)]))

		(defn generation [cells]
		  (set (for [[cell n] (frequencies (mapcat neighbours cells))
		             :when (or (= n 3) (and (= n 2) (contains? cells cell)))]
		         cell)))

		(defn life [seed]
		  (let [start (set (map (fn [[a b]] [(mod a 24) (mod b 24)]) (take 150 (partition 2 (numbers seed)))))]
		    (count (nth (iterate generation start) 12))))

		(defmulti price :kind)
		(defmethod price :book [order] (* 12 (:pieces order)))
		(defmethod price :music [order] (+ 3 (* 9 (:pieces order))))
		(defmethod price :default [order] (:pieces order))

		(defn orders [seed n]
		  (map (fn [[a b c]] {:kind ([:book :music :other] (mod a 3)) :pieces (inc (mod b 20)) :who (mod c 37)})
		       (take n (partition 3 (numbers seed)))))

		(defn shop [seed]
		  (let [all (vec (orders seed 400))
		        by-customer (reduce (fn [m o] (update m (:who o) (fnil + 0) (price o))) (sorted-map) all)
		        large (transduce (comp (filter #(> (:pieces %) 10)) (map price)) + all)]
		    (+ large (reduce (fn [sum [who paid]] (mod (+ (* 31 sum) (* who paid)) 1000003)) 7 by-customer))))

		(defn primes [n]
		  (reduce (fn [found k]
		            (if (some #(zero? (rem k %)) (take-while #(<= (* % %) k) found)) found (conj found k)))
		          [2] (range 3 n 2)))

		(defn run [seed]
		  (assert (= 168 (count (primes 1000))))
		  (+ (life seed) (shop seed)))
		""";

	private RunClojure() {}

	public static void main(String[] args) {
		Clojure.var("clojure.core", "load-string").invoke(PROGRAM);
		IFn run = Clojure.var("work", "run");
		long sum = 0;
		for (long i = Integer.parseInt(args[0]); i > 0; i--)
			sum = sum * 31 + ((Number) run.invoke(i)).longValue();
		Result.is(Long.toHexString(sum));
	}
}
