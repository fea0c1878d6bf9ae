import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Sends messages to a server on the loopback, which sends them back (Netty), over several connections: the server has
 * one thread, the clients have one. Each message that comes back is compared with what was sent. Arguments:
 * connections, and messages of each.
 */
public final class Echo {
	private static final int MOST = 64 * 1024, IN_FLIGHT = 8;

	/** Sends back what it receives. */
	private static final class Server extends ChannelInboundHandlerAdapter {
		@Override
		public void channelRead(ChannelHandlerContext context, Object message) {
			context.write(message);
		}

		@Override
		public void channelReadComplete(ChannelHandlerContext context) {
			context.flush();
		}
	}

	/** Keeps some messages on their way, and counts what came back. */
	private static final class Client extends SimpleChannelInboundHandler<ByteBuf> {
		private final int number, messages;
		private final Promise<Long> done;
		private int sent, received;
		private long sum;

		Client(int number, int messages, Promise<Long> done) {
			this.number = number;
			this.messages = messages;
			this.done = done;
		}

		private int length(int message) {
			return 16 + (message * 7919 + number * 613) % 4000;
		}

		private void send(ChannelHandlerContext context) {
			int length = length(sent);
			ByteBuf message = context.alloc().buffer(length);
			for (int i = 0; i < length; i += Integer.BYTES)
				message.writeInt(sent * 31 + i);
			message.writerIndex(length);
			sent++;
			context.write(message);
		}

		@Override
		public void channelActive(ChannelHandlerContext context) {
			while (sent < Math.min(messages, IN_FLIGHT))
				send(context);
			context.flush();
		}

		@Override
		protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
			int length = length(received);
			Result.check(message.readableBytes() == length, "a message of " + message.readableBytes());
			for (int i = 0; i + Integer.BYTES <= length; i += Integer.BYTES)
				if (message.getInt(i) != received * 31 + i)
					throw new IllegalStateException("another message came back");
			sum += length;
			received++;
			if (sent < messages)
				send(context);
			else if (received == messages)
				done.setSuccess(sum);
		}

		@Override
		public void channelReadComplete(ChannelHandlerContext context) {
			context.flush();
		}

		@Override
		public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
			done.tryFailure(cause);
		}
	}

	private Echo() {}

	private static void framed(Channel channel, ChannelHandler handler) {
		ChannelPipeline pipeline = channel.pipeline();
		pipeline.addLast(new LengthFieldBasedFrameDecoder(MOST, 0, 4, 0, 4), new LengthFieldPrepender(4), handler);
	}

	private static Channel serve(EventLoopGroup group) throws InterruptedException {
		return new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
				.childHandler(new ChannelInitializer<SocketChannel>() {
					@Override
					protected void initChannel(SocketChannel channel) {
						framed(channel, new Server());
					}
				}).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
	}

	private static Promise<Long> connect(EventLoopGroup group, Channel server, int number, int messages)
			throws InterruptedException {
		Promise<Long> done = group.next().newPromise();
		new Bootstrap().group(group).channel(NioSocketChannel.class)
				.handler(new ChannelInitializer<SocketChannel>() {
					@Override
					protected void initChannel(SocketChannel channel) {
						framed(channel, new Client(number, messages, done));
					}
				}).connect(server.localAddress()).sync();
		return done;
	}

	public static void main(String[] args) throws Exception {
		EventLoopGroup servers = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
		EventLoopGroup clients = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
		long sum = 0;
		try {
			Channel server = serve(servers);
			List<Promise<Long>> all = new ArrayList<>();
			for (int i = 0; i < Integer.parseInt(args[0]); i++)
				all.add(connect(clients, server, i, Integer.parseInt(args[1])));
			for (Promise<Long> one : all)
				sum += one.get();
		} finally {
			clients.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
			servers.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
		}
		Result.is(sum);
	}
}
