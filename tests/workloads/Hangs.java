/** Says that it has begun, and waits for a lock that a thread holds which does not end. */
public final class Hangs {
    static final class Holder extends Thread {
        @Override
        public void run() {
            synchronized (Hangs.class) {
                synchronized (this) {
                    notifyAll();
                }
                while (true) {
                    try {
                        Thread.sleep(Long.MAX_VALUE);
                    } catch (InterruptedException e) {
                        continue;
                    }
                }
            }
        }
    }

    static void waitForNobody() {
        synchronized (Hangs.class) {
            System.out.println("nobody held it");
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Holder holder = new Holder();
        synchronized (holder) {
            holder.start();
            holder.wait();
        }
        System.out.println("begun");
        waitForNobody();
    }
}
