/**
 * Simulates the kernel of an operating system, as Martin Richards described it: an idle task, a worker, two handlers
 * and two devices send packets to each other and are scheduled by priority. It counts 23246 packets that were queued
 * and 9297 tasks that were held. Argument: how often.
 */
public final class Richards {
	private static final int IDLE = 0, WORKER = 1, HANDLER_A = 2, HANDLER_B = 3, DEVICE_A = 4, DEVICE_B = 5, TASKS = 6;
	private static final int DATA = 4, ROUNDS = 10000, QUEUED = 23246, HELD = 9297;

	private enum Kind { DEVICE, WORK }

	private static final class Packet {
		private Packet next;
		private int task, datum;
		private final Kind kind;
		private final int[] data = new int[DATA];

		Packet(Packet next, int task, Kind kind) {
			this.next = next;
			this.task = task;
			this.kind = kind;
		}
	}

	private static Packet append(Packet packet, Packet queue) {
		packet.next = null;
		if (queue == null)
			return packet;
		Packet last = queue;
		while (last.next != null)
			last = last.next;
		last.next = packet;
		return queue;
	}

	private abstract class Task {
		private final int number, priority;
		private final Task next;
		private Packet input;
		private boolean pending, waiting, held;

		Task(int number, int priority, Packet input) {
			this.number = number;
			this.priority = priority;
			this.input = input;
			this.pending = input != null;
			this.waiting = true;
			this.next = first;
			first = this;
			tasks[number] = this;
		}

		/** Works on a packet, or on none; returns the task that is to run next. */
		abstract Task work(Packet packet);

		boolean stopped() {
			return held || (waiting && !pending);
		}

		Task run() {
			Packet packet = null;
			if (waiting && pending) {
				packet = input;
				input = packet.next;
				waiting = false;
				pending = input != null;
			}
			return work(packet);
		}

		/** Takes a packet; the more important of receiver and sender goes on. */
		Task receive(Packet packet, Task sender) {
			boolean first = input == null;
			input = append(packet, input);
			if (!first)
				return sender;
			pending = true;
			return priority > sender.priority ? this : sender;
		}

		Task await() {
			waiting = true;
			return this;
		}

		Task hold() {
			holds++;
			held = true;
			return next;
		}

		Task release(int other) {
			Task task = tasks[other];
			task.held = false;
			return task.priority > priority ? task : this;
		}

		Task send(Packet packet, int to) {
			queued++;
			packet.next = null;
			packet.task = number;
			return tasks[to].receive(packet, this);
		}
	}

	private final class Idle extends Task {
		private int control = 1, left = ROUNDS;

		Idle() {
			super(IDLE, 0, null);
			super.waiting = false;
		}

		@Override
		Task work(Packet packet) {
			if (--left == 0)
				return hold();
			boolean even = (control & 1) == 0;
			control = even ? control / 2 : control / 2 ^ 0xd008;
			return release(even ? DEVICE_A : DEVICE_B);
		}
	}

	private final class Worker extends Task {
		private int destination = HANDLER_A, letter;

		Worker(Packet input) { super(WORKER, 1000, input); }

		@Override
		Task work(Packet packet) {
			if (packet == null)
				return await();
			destination = destination == HANDLER_A ? HANDLER_B : HANDLER_A;
			packet.datum = 0;
			for (int i = 0; i < DATA; i++) {
				letter = letter % 26 + 1;
				packet.data[i] = 'A' + letter - 1;
			}
			return send(packet, destination);
		}
	}

	private final class Handler extends Task {
		private Packet works, devices;

		Handler(int number, int priority, Packet input) { super(number, priority, input); }

		@Override
		Task work(Packet packet) {
			if (packet != null && packet.kind == Kind.WORK)
				works = append(packet, works);
			else if (packet != null)
				devices = append(packet, devices);
			if (works == null)
				return await();
			Packet work = works;
			if (work.datum >= DATA) {
				works = work.next;
				return send(work, WORKER);
			}
			if (devices == null)
				return await();
			Packet device = devices;
			devices = device.next;
			device.datum = work.data[work.datum++];
			return send(device, device.task);
		}
	}

	private final class Device extends Task {
		private Packet kept;

		Device(int number, int priority) { super(number, priority, null); }

		@Override
		Task work(Packet packet) {
			if (packet != null) {
				kept = packet;
				return hold();
			}
			if (kept == null)
				return await();
			Packet done = kept;
			kept = null;
			return send(done, done.task);
		}
	}

	private final Task[] tasks = new Task[TASKS];
	private Task first;
	private int queued, holds;

	private static Packet packets(int count, int task, Kind kind) {
		Packet queue = null;
		for (int i = 0; i < count; i++)
			queue = new Packet(queue, task, kind);
		return queue;
	}

	private void schedule() {
		new Idle();
		new Worker(packets(2, WORKER, Kind.WORK));
		new Handler(HANDLER_A, 2000, packets(3, DEVICE_A, Kind.DEVICE));
		new Handler(HANDLER_B, 3000, packets(3, DEVICE_B, Kind.DEVICE));
		new Device(DEVICE_A, 4000);
		new Device(DEVICE_B, 5000);
		for (Task task = first; task != null;)
			task = task.stopped() ? task.next : task.run();
	}

	public static void main(String[] args) {
		long sum = 0;
		for (int i = Integer.parseInt(args[0]); i > 0; i--) {
			Richards kernel = new Richards();
			kernel.schedule();
			Result.check(kernel.queued == QUEUED && kernel.holds == HELD, kernel.queued + " and " + kernel.holds);
			sum += kernel.queued + kernel.holds;
		}
		Result.is(sum);
	}
}
