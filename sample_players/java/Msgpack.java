import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Values and their bytes: the part of msgpack that the protocol allows. You need not change anything here.
 *
 * <p>A value is null, a Boolean, a Long, a Double, a String, a List of values, or a Map from String to values.
 */
final class Msgpack {
    private static final int MAX_DEPTH = 16; // SPEC.md, "Limits"

    private Msgpack() {}

    /** The bytes are not a message. */
    static final class MalformedException extends IOException {
        MalformedException(String message) {
            super(message);
        }
    }

    static byte[] encode(Object value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            encode(value, new DataOutputStream(bytes));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // an array in memory can always be written
        }
        return bytes.toByteArray();
    }

    private static void encode(Object value, DataOutputStream out) throws IOException {
        if (value == null) {
            out.writeByte(0xc0);
        } else if (value instanceof Boolean flag) {
            out.writeByte(flag ? 0xc3 : 0xc2);
        } else if (value instanceof Double number) {
            out.writeByte(0xcb);
            out.writeDouble(number);
        } else if (value instanceof Number number) {
            out.writeByte(0xd3);
            out.writeLong(number.longValue());
        } else if (value instanceof String text) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            out.writeByte(0xdb);
            out.writeInt(bytes.length);
            out.write(bytes);
        } else if (value instanceof List<?> items) {
            out.writeByte(0xdd);
            out.writeInt(items.size());
            for (Object item : items) {
                encode(item, out);
            }
        } else if (value instanceof Map<?, ?> pairs) {
            out.writeByte(0xdf);
            out.writeInt(pairs.size());
            for (Map.Entry<?, ?> pair : pairs.entrySet()) {
                encode(pair.getKey(), out);
                encode(pair.getValue(), out);
            }
        } else {
            throw new IllegalArgumentException("the protocol has no " + value.getClass());
        }
    }

    /** Returns the one map that the body of a frame must be. */
    @SuppressWarnings("unchecked") // decode() makes maps with strings as keys
    static Map<String, Object> decodeMap(byte[] body) throws MalformedException {
        ByteBuffer in = ByteBuffer.wrap(body);
        try {
            Object value = decode(in, 0);
            if (value instanceof Map && !in.hasRemaining()) {
                return (Map<String, Object>) value;
            }
        } catch (BufferUnderflowException early) {
            throw new MalformedException("a value ends too early: only a part of the frame was read");
        }
        throw new MalformedException("a frame is not exactly one map");
    }

    private static Object decode(ByteBuffer in, int depth) throws MalformedException {
        int tag = in.get() & 0xff;
        if (tag < 0x80 || tag >= 0xe0) {
            return (long) (byte) tag;
        } else if (tag < 0x90) {
            return map(in, tag & 0x0f, depth);
        } else if (tag < 0xa0) {
            return list(in, tag & 0x0f, depth);
        } else if (tag < 0xc0) {
            return text(in, tag & 0x1f);
        }
        switch (tag) {
            case 0xc0: return null;
            case 0xc2: case 0xc3: return tag == 0xc3;
            case 0xca: return (double) in.getFloat();
            case 0xcb: return in.getDouble();
            case 0xcc: case 0xcd: case 0xce: case 0xcf: return unsigned(in, 1 << (tag - 0xcc));
            case 0xd0: return (long) in.get();
            case 0xd1: return (long) in.getShort();
            case 0xd2: return (long) in.getInt();
            case 0xd3: return in.getLong();
            case 0xd9: case 0xda: case 0xdb: return text(in, unsigned(in, 1 << (tag - 0xd9)));
            case 0xdc: case 0xdd: return list(in, unsigned(in, 2 << (tag - 0xdc)), depth);
            case 0xde: case 0xdf: return map(in, unsigned(in, 2 << (tag - 0xde)), depth);
            default: throw new MalformedException(String.format("no value of the protocol begins with 0x%02x", tag));
        }
    }

    private static long unsigned(ByteBuffer in, int width) {
        long number = 0;
        for (int i = 0; i < width; i++) {
            number = number << 8 | (in.get() & 0xff);
        }
        return number;
    }

    private static String text(ByteBuffer in, long count) throws MalformedException {
        if (count > in.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer bytes = in.slice(in.position(), (int) count);
        in.position(in.position() + (int) count);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
        } catch (CharacterCodingException wrong) {
            throw new MalformedException("a string is not UTF-8");
        }
    }

    private static void checkDepth(int depth) throws MalformedException {
        if (depth == MAX_DEPTH) {
            throw new MalformedException("arrays and maps are nested too deep");
        }
    }

    private static List<Object> list(ByteBuffer in, long count, int depth) throws MalformedException {
        checkDepth(depth);
        List<Object> items = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            items.add(decode(in, depth + 1));
        }
        return items;
    }

    private static Map<String, Object> map(ByteBuffer in, long count, int depth) throws MalformedException {
        checkDepth(depth);
        Map<String, Object> pairs = new LinkedHashMap<>();
        for (long i = 0; i < count; i++) {
            if (!(decode(in, depth + 1) instanceof String key)) {
                throw new MalformedException("a key is not a string");
            }
            pairs.put(key, decode(in, depth + 1));
        }
        return pairs;
    }
}
