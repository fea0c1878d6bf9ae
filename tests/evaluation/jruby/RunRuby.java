import org.jruby.embed.LocalContextScope;
import org.jruby.embed.LocalVariableBehavior;
import org.jruby.embed.ScriptingContainer;

/**
 * Runs a program of Ruby (JRuby): it fills templates, solves puzzles of cells by going back, walks a graph and groups
 * records. Argument: how often.
 */
public final class RunRuby {
	private static final String PROGRAM = """
		class Numbers
		  def initialize(seed) = @state = seed
		  def below(n)
		    @state = (@state * 69069 + 1) & 0xffffffff
		    (@state >> 16) % n
		  end
		end

		Record = Struct.new(:name, :size, :tags)

		def fill(template, values)
		  template.gsub(/\\{\\{(\\w+)\\}\\}/) { values[$1.to_sym].to_s }
		end

		def templates(numbers)
		  (0...150).sum do |i|
		    values = { kind: "k#{i % 5}", name: "n#{numbers.below(99)}", size: i }
		    fill("<li class='{{kind}}'>{{name}} of {{size}}</li>", values).length
		  end
		end

		# A Latin square: each number is once in each row and column.
		def square(cells, at, n, numbers)
		  return true if at == n * n
		  row, column = at.divmod(n)
		  used = (0...column).map { |c| cells[row * n + c] } + (0...row).map { |r| cells[r * n + column] }
		  ((1..n).to_a - used).rotate(numbers.below(n)).each do |value|
		    cells[at] = value
		    return true if square(cells, at + 1, n, numbers)
		  end
		  cells[at] = nil
		  false
		end

		def graph(numbers, n)
		  edges = Hash.new { |hash, key| hash[key] = [] }
		  (n * 3).times { edges[numbers.below(n)] << numbers.below(n) }
		  distance = { 0 => 0 }
		  open = [0]
		  until open.empty?
		    node = open.shift
		    edges[node].each do |to|
		      next if distance.key?(to)
		      distance[to] = distance[node] + 1
		      open.push(to)
		    end
		  end
		  distance.values.sum
		end

		def records(numbers, n)
		  all = Array.new(n) { |i| Record.new("r#{numbers.below(n)}", numbers.below(500), [i % 7, i % 11]) }
		  groups = all.group_by { |r| r.tags.max }.transform_values { |rs| rs.sum(&:size) }
		  all.sort_by { |r| [-r.size, r.name] }.first(10).sum(&:size) + groups.max_by { |k, v| [v, k] }.last
		end

		def run(seed)
		  numbers = Numbers.new(seed)
		  cells = []
		  raise "no square" unless square(cells, 0, 6, numbers)
		  raise "a wrong square" unless cells.each_slice(6).all? { |row| row.sort == [1, 2, 3, 4, 5, 6] }
		  templates(numbers) + cells.join.hash_of + graph(numbers, 400) + records(numbers, 300)
		end

		class String
		  def hash_of = each_byte.inject(0) { |h, b| (h * 31 + b) % 65521 }
		end
		""";

	private RunRuby() {}

	public static void main(String[] args) {
		ScriptingContainer ruby = new ScriptingContainer(LocalContextScope.SINGLETHREAD, LocalVariableBehavior.TRANSIENT);
		long sum = 0;
		ruby.runScriptlet(PROGRAM);
		Object top = ruby.runScriptlet("self");
		for (int i = Integer.parseInt(args[0]); i > 0; i--)
			sum = sum * 31 + ruby.callMethod(top, "run", i, Long.class);
		ruby.terminate();
		Result.is(Long.toHexString(sum));
	}
}
