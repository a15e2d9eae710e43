import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Scanner;

/**
 * A player for all four games. To make it yours, replace {@code choose}.
 *
 * <pre>
 * java -cp classes Player            plays the best move for this turn
 * java -cp classes Player random     plays any legal move
 * java -cp classes Player echo       for tests: reads frames in hex, line by line, and writes them back, or an error
 * </pre>
 */
final class Player {
    private static final Random CHANCE = new Random(seed());
    private static boolean isRandom;

    private Player() {}

    /** Gives the same numbers in matches with the same seed, so that a match can be repeated. */
    private static long seed() {
        String digits = System.getenv("REFEREE_PLAYER_SEED");
        boolean isGiven = digits != null && digits.matches("[0-9a-f]{64}");
        return isGiven ? Long.parseUnsignedLong(digits.substring(0, 16), 16) : System.nanoTime();
    }

    /**
     * Returns the move to play. This is the function to replace.
     *
     * @param game name of the game: "q", "quincy", "quincala" or "quadominos"
     * @param view all that this seat may know, as the referee sent it
     */
    private static Map<String, Object> choose(String game, Map<String, Object> view) {
        List<Games.Rated> moves = Games.moves(game, view);
        int best = moves.stream().mapToInt(Games.Rated::value).max().orElseThrow();
        List<Games.Rated> taken = moves.stream().filter(move -> isRandom || move.value() == best).toList();
        return taken.get(CHANCE.nextInt(taken.size())).move();
    }

    private static String echo(String line) {
        ByteArrayInputStream bytes = new ByteArrayInputStream(HexFormat.of().parseHex(line));
        try {
            Map<String, Object> message = Wire.readFrame(bytes);
            return bytes.available() > 0 ? "error: more than a frame" : HexFormat.of().formatHex(Wire.frame(message));
        } catch (IOException wrong) {
            return "error: " + wrong;
        }
    }

    public static void main(String[] words) {
        String strategy = words.length > 0 ? words[0] : "heuristic";
        isRandom = strategy.equals("random");
        if (strategy.equals("echo")) {
            new Scanner(System.in).forEachRemaining(line -> System.out.println(echo(line)));
            return;
        }
        if (!isRandom && !strategy.equals("heuristic")) {
            System.err.println("the strategy is heuristic or random, not " + strategy);
            System.exit(2);
        }
        try {
            Wire.play(Player::choose);
        } catch (IOException wrong) {
            System.err.println(wrong.getMessage());
            System.exit(1);
        }
    }
}
