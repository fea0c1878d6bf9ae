# Does what Ruby programs do (JRuby): counts words, parses expressions, sorts records, multiplies matrices.
# Argument: rounds. Prints one number, which is the same each time.

WORDS = %w[the quick brown fox jumps over a lazy dog and runs into seven other foxes on its way home].freeze

class Numbers
  def initialize(seed)
    @state = seed
  end

  def below(n)
    @state = (@state * 1103515245 + 12345) & 0x7fffffff
    (@state >> 8) % n
  end
end

Leaf = Struct.new(:value)

class Node
  def initialize(operator, left, right)
    @operator, @left, @right = operator, left, right
  end

  def value
    a, b = @left.value, @right.value
    case @operator
    when "+" then a + b
    when "-" then a - b
    else a * b % 9973
    end
  end
end

def expression(random, depth)
  return random.below(100).to_s if depth.zero?

  "(#{expression(random, depth - 1)}#{"+-*"[random.below(3)]}#{expression(random, depth - 1)})"
end

def parse(tokens)
  token = tokens.shift
  return Leaf.new(token.to_i) unless token == "("

  left = parse(tokens)
  operator = tokens.shift
  right = parse(tokens)
  tokens.shift
  Node.new(operator, left, right)
end

def count_words(random, n)
  counts = Hash.new(0)
  text = Array.new(n) { "#{WORDS[random.below(WORDS.size)]}#{random.below(40)}" }.join(" ")
  text.split(" ").each { |word| counts[word] += 1 }
  counts.sort.sum { |word, count| count * word.size }
end

def sort_records(random, n)
  records = Array.new(n) { |i| [random.below(1000), "name#{random.below(n)}", { at: i }] }
  records.sort_by { |r| [r[1], -r[0], r[2][:at]] }.each_with_index.sum { |r, i| i * r[0] } % 9973
end

def multiply(a, b)
  columns = b.transpose
  a.map { |row| columns.map { |column| row.zip(column).sum { |x, y| x * y } % 9973 } }
end

total = 0
ARGV[0].to_i.times do |i|
  random = Numbers.new(i + 1)
  total += count_words(random, 4000)
  total += parse(expression(random, 10).scan(/\d+|\D/)).value
  total += sort_records(random, 3000)
  matrix = Array.new(40) { Array.new(40) { random.below(100) } }
  total += multiply(matrix, matrix).flatten.sum
end
puts total
