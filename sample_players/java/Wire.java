import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * The wire: answers the referee's messages. Follows protocol/SPEC.md, and knows no game. You need not change
 * anything here.
 */
final class Wire {
    private static final int MAX_FRAME_BYTES = 4 * 1024 * 1024; // SPEC.md, "Limits": the longest body from the referee

    private Wire() {}

    /** Chooses the moves. */
    interface Chooser {
        /** Returns the move to play in a game, given its name and what this seat may know. */
        Map<String, Object> choose(String game, Map<String, Object> view);
    }

    /** Returns a message as a frame: its length, then the message. */
    static byte[] frame(Map<String, Object> message) {
        byte[] body = Msgpack.encode(message);
        return ByteBuffer.allocate(4 + body.length).putInt(body.length).put(body).array();
    }

    /** Reads the next message. Throws EOFException at the end. */
    static Map<String, Object> readFrame(InputStream from) throws IOException {
        DataInputStream in = new DataInputStream(from);
        int length = in.readInt();
        if (length <= 0 || length > MAX_FRAME_BYTES) {
            throw new Msgpack.MalformedException("a frame of " + Integer.toUnsignedString(length) + " bytes");
        }
        byte[] body = new byte[length];
        in.readFully(body);
        return Msgpack.decodeMap(body);
    }

    private static SocketChannel connect(String address) throws IOException {
        if (address != null && address.startsWith("unix:")) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            channel.connect(UnixDomainSocketAddress.of(address.substring("unix:".length())));
            return channel;
        }
        if (address == null || !address.matches("tcp:.+:[0-9]{1,5}")) {
            throw new IOException("it is tcp:HOST:PORT or unix:PATH");
        }
        int colon = address.lastIndexOf(':');
        String host = address.substring("tcp:".length(), colon).replaceAll("[\\[\\]]", "");
        SocketChannel channel = SocketChannel.open(new InetSocketAddress(host, Integer.parseInt(address.substring(colon + 1))));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true); // a move is small: send it at once
        return channel;
    }

    /** Connects, plays every match that is offered, and returns when the referee closes the connection. */
    static void play(Chooser chooser) throws IOException {
        String address = System.getenv("REFEREE_ADDRESS");
        SocketChannel channel;
        try {
            channel = connect(address);
        } catch (IOException | RuntimeException wrong) { // Java's errors for a wrong address are unchecked
            throw new IOException("no referee at REFEREE_ADDRESS=" + address + ": " + wrong.getMessage());
        }
        try (channel) {
            InputStream in = Channels.newInputStream(channel);
            String name = System.getenv().getOrDefault("REFEREE_NAME", "player");
            send(channel, message("type", "hello", "version", 1, "name", name, "token", System.getenv("REFEREE_TOKEN")));
            String game = "";
            String nonce = "";
            while (true) {
                Map<String, Object> message = readFrame(in);
                if (message.get("game") instanceof String offered) { // in offer and resumed
                    game = offered;
                }
                if ("offer".equals(message.get("type"))) {
                    nonce = newNonce();
                }
                for (Map<String, Object> answer : answers(message, game, nonce, chooser)) {
                    send(channel, answer);
                }
            }
        } catch (Msgpack.MalformedException | RefusedException wrong) {
            throw wrong;
        } catch (EOFException | java.net.SocketException end) {
            return; // the end of the connection, even by an error, is the end of the match
        }
    }

    /** The referee refuses this player; the text says why. */
    static final class RefusedException extends IOException {
        RefusedException(String message) {
            super(message);
        }
    }

    private static void send(SocketChannel channel, Map<String, Object> message) {
        try {
            for (ByteBuffer bytes = ByteBuffer.wrap(frame(message)); bytes.hasRemaining();) {
                channel.write(bytes);
            }
        } catch (IOException closed) {
            return; // ignore a closed connection: the referee's last messages may still have to be read
        }
    }

    /** Returns a nonce, which enters the shuffle: nobody may foresee it, not even the referee. */
    private static String newNonce() {
        byte[] nonce = new byte[16];
        new SecureRandom().nextBytes(nonce);
        return HexFormat.of().formatHex(nonce);
    }

    private static String sha256(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
            return HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException impossible) { // every Java has it
            throw new IllegalStateException(impossible);
        }
    }

    /** Returns the messages that answer a message. */
    private static List<Map<String, Object>> answers(
            Map<String, Object> message, String game, String nonce, Chooser chooser) throws RefusedException {
        List<Map<String, Object>> found = new ArrayList<>();
        Object match = message.get("match");
        switch (String.valueOf(message.get("type"))) {
            case "refused":
                throw new RefusedException("the referee refuses this player: " + message.get("reason"));
            case "offer":
                String commitment = sha256("nonce:" + match + ":" + message.get("seat") + ":" + nonce);
                found.add(message("type", "ready", "match", match, "commitment", commitment));
                break;
            case "reveal": // all players have committed
                found.add(message("type", "nonce", "match", match, "nonce", nonce));
                break;
            case "turn":
                Map<String, Object> move = chooser.choose(game, View.map(message.get("view")));
                found.add(message("type", "move", "match", match, "turn", message.get("turn"), "move", move));
                break;
            case "expelled":
                System.err.println("expelled: " + message.get("foul") + " " + message.get("detail"));
                break;
            default: // "told", "end" and "paused" need no answer of their own
        }
        if (message.get("ack") != null) {
            found.add(message("type", "ack", "match", match, "ack", message.get("ack")));
        }
        return found;
    }

    /** Makes a map of keys and values, one after the other. */
    static Map<String, Object> message(Object... pairs) {
        Map<String, Object> made = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            made.put((String) pairs[i], pairs[i + 1]);
        }
        return made;
    }
}
