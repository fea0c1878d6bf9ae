import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the loops of a control flow graph by Paul Havlak's algorithm. The graph is that of Robert Hundt's comparison of
 * languages: ten times ten chains of five small nests of loops, 5213 blocks in all. It has 1601 loops, and the nest of
 * its beginning alone has 3: "Are We Fast Yet?" has published 1605 for both and a root. Arguments: how often the
 * graph's loops are found, and how often those of the beginning.
 */
public final class Havlak {
	private static final int OUTER = 10, MIDDLE = 10, INNER = 5, BLOCKS = 5213, LOOPS = 1601, SMALL_LOOPS = 3;

	private static final class Block {
		private final int name;
		private final List<Block> in = new ArrayList<>(2), out = new ArrayList<>(2);

		Block(int name) { this.name = name; }
	}

	/** A graph, which begins with the block 0. */
	private static final class Graph {
		private final List<Block> blocks = new ArrayList<>();

		private Block block(int name) {
			while (blocks.size() <= name)
				blocks.add(new Block(blocks.size()));
			return blocks.get(name);
		}

		void edge(int from, int to) {
			block(from).out.add(block(to));
			block(to).in.add(block(from));
		}

		int straight(int from) {
			edge(from, from + 1);
			return from + 1;
		}

		int diamond(int from) {
			edge(from, from + 1);
			edge(from, from + 2);
			edge(from + 1, from + 3);
			edge(from + 2, from + 3);
			return from + 3;
		}

		/** Three loops, two of which are in the third, with branches. */
		int nest(int from) {
			int header = straight(from);
			int first = diamond(header);
			int between = straight(first);
			int second = diamond(between);
			int footer = straight(second);
			edge(second, between);
			edge(first, header);
			edge(footer, from);
			return straight(footer);
		}

		static Graph small() {
			Graph graph = new Graph();
			graph.nest(0);
			graph.edge(0, 2);
			return graph;
		}
	}

	private enum Kind { PLAIN, REDUCIBLE, SELF, IRREDUCIBLE }

	private static final class Loop {
		private final Kind kind;
		private final List<Block> blocks = new ArrayList<>();
		private final List<Loop> children = new ArrayList<>();
		private Loop parent;

		Loop(Kind kind) { this.kind = kind; }

		int nesting() {
			int deepest = 0;
			for (Loop child : children)
				deepest = Math.max(deepest, 1 + child.nesting());
			return deepest;
		}
	}

	/** A block as the search sees it: an element of a set of blocks whose loop is known. */
	private static final class Node {
		private final Block block;
		private final int number;
		private int last; // the largest number below it in the tree of the search
		private Node set = this;
		private Node header;
		private Loop loop;
		private Kind kind = Kind.PLAIN;
		private final List<Node> back = new ArrayList<>(2);
		private final Set<Node> other = new HashSet<>(2);

		Node(Block block, int number) {
			this.block = block;
			this.number = number;
		}

		boolean isAncestorOf(Node n) {
			return number <= n.number && n.number <= last;
		}

		/** The head of the set that the node is in; the way there becomes short. */
		Node find() {
			Node head = this;
			while (head.set != head)
				head = head.set;
			for (Node at = this; at != head;) {
				Node next = at.set;
				at.set = head;
				at = next;
			}
			return head;
		}
	}

	private final Graph graph;
	private final Node[] byName;
	private final List<Node> nodes = new ArrayList<>();
	private final List<Loop> loops = new ArrayList<>();

	private Havlak(Graph graph) {
		this.graph = graph;
		this.byName = new Node[graph.blocks.size()];
	}

	/** Numbers blocks in the order in which a search meets them. */
	private void number(Block block) {
		Node node = new Node(block, nodes.size());
		nodes.add(node);
		byName[block.name] = node;
		for (Block next : block.out)
			if (byName[next.name] == null)
				number(next);
		node.last = nodes.size() - 1;
	}

	private void sortEdges() {
		for (Node node : nodes) {
			node.header = nodes.get(0);
			for (Block from : node.block.in) {
				Node source = byName[from.name];
				if (source == null)
					continue;
				if (node.isAncestorOf(source))
					node.back.add(source);
				else
					node.other.add(source);
			}
		}
	}

	/** Collects the blocks of the loop whose header is the node. */
	private List<Node> body(Node node) {
		List<Node> body = new ArrayList<>();
		for (Node source : node.back) {
			if (source == node) {
				node.kind = Kind.SELF;
				continue;
			}
			Node head = source.find();
			if (!body.contains(head))
				body.add(head);
		}
		if (!body.isEmpty())
			node.kind = Kind.REDUCIBLE;
		for (int i = 0; i < body.size(); i++) {
			for (Node source : body.get(i).other) {
				Node head = source.find();
				if (!node.isAncestorOf(head)) {
					node.kind = Kind.IRREDUCIBLE;
					node.other.add(head);
				} else if (head != node && !body.contains(head)) {
					body.add(head);
				}
			}
		}
		return body;
	}

	private void makeLoop(Node node, List<Node> body) {
		Loop loop = new Loop(node.kind);
		node.loop = loop;
		loop.blocks.add(node.block);
		for (Node inside : body) {
			inside.header = node;
			inside.set = node;
			if (inside.loop != null) {
				inside.loop.parent = loop;
				loop.children.add(inside.loop);
			} else {
				loop.blocks.add(inside.block);
			}
		}
		loops.add(loop);
	}

	private List<Loop> find() {
		number(graph.blocks.get(0));
		sortEdges();
		for (int i = nodes.size() - 1; i >= 0; i--) {
			Node node = nodes.get(i);
			List<Node> body = body(node);
			if (node.kind != Kind.PLAIN)
				makeLoop(node, body);
		}
		return loops;
	}

	private static Graph large() {
		Graph graph = Graph.small();
		int n = 2;
		for (int outer = 0; outer < OUTER; outer++) {
			graph.edge(2, n + 1);
			n++;
			for (int middle = 0; middle < MIDDLE; middle++) {
				int top = n;
				n = graph.straight(n);
				for (int inner = 0; inner < INNER; inner++)
					n = graph.nest(n);
				int bottom = graph.straight(n);
				graph.edge(n, top);
				n = bottom;
			}
			graph.edge(n, 1);
		}
		return graph;
	}

	public static void main(String[] args) {
		Graph small = Graph.small(), large = large();
		Result.check(large.blocks.size() == BLOCKS, large.blocks.size() + " blocks");
		long sum = 0;
		for (int i = Integer.parseInt(args[1]); i > 0; i--) {
			int found = new Havlak(small).find().size();
			Result.check(found == SMALL_LOOPS, found + " loops in the nest");
			sum += found;
		}
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			List<Loop> found = new Havlak(large).find();
			Result.check(found.size() == LOOPS, found.size() + " loops");
			for (Loop loop : found)
				sum += loop.nesting() + loop.blocks.size() + loop.kind.ordinal();
		}
		Result.is(sum);
	}
}
