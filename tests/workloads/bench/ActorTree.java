import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;

/**
 * Searches a tree with actors (Pekko): each node is an actor, which makes one for each of its children, waits for
 * what these have found, tells its parent and stops. The shape of the tree hangs on the nodes' numbers only.
 * Argument: how many trees are searched, one after the other. Prints the number of nodes.
 */
public final class ActorTree {
	private static final int DEPTH = 13;
	private static final AtomicLong nodes = new AtomicLong();

	private static final class Search {
		final long number;
		final int depth;

		Search(long number, int depth) {
			this.number = number;
			this.depth = depth;
		}
	}

	private static final class Found {
		final int[] byDepth;

		Found(int[] byDepth) { this.byDepth = byDepth; }
	}

	private static long mix(long n) {
		n = (n ^ n >>> 31) * 0x7fb5d329728ea185L;
		return n ^ n >>> 27;
	}

	/** Is one node, and knows how many of its children have not yet answered. */
	public static final class Node extends AbstractActor {
		private final int[] byDepth = new int[DEPTH + 1];
		private int waiting;

		@Override
		public Receive createReceive() {
			return receiveBuilder().match(Search.class, this::search).match(Found.class, this::found).build();
		}

		private void search(Search s) {
			byDepth[s.depth]++;
			waiting = s.depth == DEPTH ? 0 : 1 + (int) (mix(s.number) & 3);
			for (int i = 0; i < waiting; i++)
				getContext().actorOf(Props.create(Node.class)).tell(
					new Search(s.number * 5 + i, s.depth + 1), getSelf());
			if (waiting == 0)
				answer();
		}

		private void found(Found f) {
			for (int i = 0; i < byDepth.length; i++)
				byDepth[i] += f.byDepth[i];
			if (--waiting == 0)
				answer();
		}

		private void answer() {
			getContext().getParent().tell(new Found(byDepth), getSelf());
			getContext().stop(getSelf());
		}
	}

	/** Begins a tree when the one before is done, and ends the program after the last. */
	public static final class Root extends AbstractActor {
		private int left;

		@Override
		public Receive createReceive() {
			return receiveBuilder().match(Integer.class, this::next).match(Found.class, this::found).build();
		}

		private void next(int trees) {
			left = trees;
			getContext().actorOf(Props.create(Node.class)).tell(new Search(trees, 6), getSelf());
		}

		private void found(Found f) {
			for (int n : f.byDepth)
				nodes.addAndGet(n);
			if (left == 1)
				getContext().getSystem().terminate();
			else
				next(left - 1);
		}
	}

	public static void main(String[] args) throws Exception {
		ActorSystem system = ActorSystem.create("tree");
		ActorRef root = system.actorOf(Props.create(Root.class));
		root.tell(Integer.parseInt(args[0]), ActorRef.noSender());
		system.getWhenTerminated().toCompletableFuture().join();
		System.out.println(nodes + " nodes");
	}
}
