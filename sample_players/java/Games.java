import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The games: finds the legal moves from the view alone, and rates each of them.
 *
 * <p>{@code referee list GAME} prints a game's rules, {@code referee list GAME --schema} the form of its views and
 * moves.
 */
final class Games {
    private Games() {}

    /** A move, and its rating by a simple heuristic. */
    record Rated(int value, Map<String, Object> move) {}

    static List<Rated> moves(String game, Map<String, Object> view) {
        return switch (game) {
            case "q" -> q(view);
            case "quincy" -> quincy(view);
            case "quincala" -> new Quincala(view).moves();
            case "quadominos" -> quadominos(view);
            default -> throw new IllegalArgumentException("this player does not know the game " + game);
        };
    }

    // --- q: place tiles in a line, exchange the hand, or pass

    private static List<Rated> q(Map<String, Object> view) {
        TreeMap<View.Cell, String> board = View.cells(view.get("map"), String.class::cast);
        List<String> hand = View.texts(view.get("hand"));
        List<Rated> found = new ArrayList<>(List.of(new Rated(-2, Wire.message("action", "pass"))));
        if (hand.size() <= View.integer(view.get("tiles_left"))) {
            found.add(new Rated(-1, Wire.message("action", "exchange")));
        }
        for (View.Cell first : View.freeCells(board)) {
            for (String tile : new TreeSet<>(hand)) {
                if (fits(board, first, tile)) {
                    found.add(placement(board, hand, first, tile, View.LINES.get(0)));
                    found.add(placement(board, hand, first, tile, View.LINES.get(1)));
                }
            }
        }
        return found;
    }

    /** Returns the neighbours of a cell along an axis. */
    private static List<String> near(Map<View.Cell, String> board, View.Cell at, View.Cell axis) {
        return Stream.of(at.plus(axis, -1), at.plus(axis, 1)).map(board::get).filter(Objects::nonNull).toList();
    }

    /** Tells whether a tile agrees with its neighbours along each axis: all in colour or all in shape. */
    private static boolean fits(Map<View.Cell, String> board, View.Cell at, String tile) {
        String color = tile.substring(0, tile.indexOf('-') + 1);
        String shape = tile.substring(tile.indexOf('-'));
        for (View.Cell axis : View.LINES.subList(0, 2)) {
            List<String> others = near(board, at, axis);
            boolean inColor = others.stream().allMatch(other -> other.startsWith(color));
            if (!inColor && !others.stream().allMatch(other -> other.endsWith(shape))) {
                return false;
            }
        }
        return true;
    }

    /** Lays a first tile, then more of the hand next to it, along one axis in both directions. */
    private static Rated placement(
            Map<View.Cell, String> board, List<String> hand, View.Cell first, String tile, View.Cell axis) {
        TreeMap<View.Cell, String> after = new TreeMap<>(board);
        List<String> rest = new ArrayList<>(hand);
        List<View.Cell> laid = new ArrayList<>(List.of(first));
        after.put(first, tile);
        rest.remove(tile);
        for (int sign : new int[] {1, -1}) {
            View.Cell at = edge(after, first, axis, sign);
            for (String next = fitting(after, at, rest); next != null; next = fitting(after, at, rest)) {
                after.put(at, next);
                rest.remove(next);
                laid.add(at);
                at = edge(after, at, axis, sign);
            }
        }
        int touched = laid.stream().flatMap(at -> View.LINES.subList(0, 2).stream().map(line -> near(after, at, line)))
                .mapToInt(List::size).sum();
        List<?> tiles = laid.stream().map(at -> List.of(at.row(), at.column(), after.get(at))).toList();
        return new Rated(laid.size() + touched, Wire.message("action", "place", "tiles", tiles));
    }

    /** Returns the first free cell from a cell in one direction. */
    private static View.Cell edge(Map<View.Cell, String> board, View.Cell from, View.Cell axis, int sign) {
        View.Cell at = from;
        while (board.containsKey(at)) {
            at = at.plus(axis, sign);
        }
        return at;
    }

    /** Returns the first of some tiles that fits on a cell; null if none does. */
    private static String fitting(Map<View.Cell, String> board, View.Cell at, List<String> tiles) {
        return tiles.stream().filter(tile -> fits(board, at, tile)).findFirst().orElse(null);
    }

    // --- quincy: play a domino, and with it add a stone or remove one

    private static List<Rated> quincy(Map<String, Object> view) {
        TreeMap<View.Cell, Character> stones = View.grid(view.get("board"));
        char own = ((String) view.get("stone")).charAt(0);
        Set<View.Cell> unbreakable = new TreeSet<>();
        for (Object line : View.list(view.get("lines"))) {
            View.list(View.map(line).get("squares")).forEach(square -> unbreakable.add(View.cell(square)));
        }
        List<Rated> found = new ArrayList<>();
        for (Object domino : View.list(view.get("hand"))) {
            int before = found.size();
            View.Cell ends = View.cell(domino);
            stones.forEach((square, stone) -> {
                boolean isPrey = ends.row() == 0 && stone != '.' && stone != own && !unbreakable.contains(square);
                if (names(ends, square) && (stone == '.' || isPrey)) {
                    String action = isPrey ? "remove" : "add";
                    Map<String, Object> move = Wire.message("action", action, "domino", domino, "square", square.pair());
                    found.add(new Rated(worth(stones, square), move));
                }
            });
            if (found.size() == before) { // only an unplayable domino may be discarded
                found.add(new Rated(-1, Wire.message("action", "discard", "domino", domino)));
            }
        }
        return found;
    }

    /** Tells whether a domino names a square; a blank, which is the smaller end, stands for any number. */
    private static boolean names(View.Cell ends, View.Cell square) {
        int low = ends.row();
        int high = ends.column();
        if (low == 0) {
            return high == 0 || square.row() == high || square.column() == high;
        }
        return square.equals(ends) || square.equals(new View.Cell(high, low));
    }

    /** Returns the worth of a square: high if fours through it have many stones of one colour, own or not. */
    private static int worth(Map<View.Cell, Character> stones, View.Cell square) {
        int sum = 0;
        for (View.Cell line : View.LINES) {
            for (int start = -3; start <= 0; start++) {
                String four = IntStream.range(start, start + 4).filter(i -> i != 0)
                        .mapToObj(i -> String.valueOf(stones.getOrDefault(square.plus(line, i), '#'))).collect(joining());
                if (!four.contains("#") && !(four.contains("A") && four.contains("B"))) {
                    sum += 1 << 2 * four.replace(".", "").length();
                }
            }
        }
        return sum;
    }

    // --- quadominos: lay a tile whose corners agree with all corners that they meet

    private static List<Rated> quadominos(Map<String, Object> view) {
        List<String> hand = View.texts(view.get("hand"));
        String step = (String) view.get("step");
        List<Rated> found = new ArrayList<>();
        if (step.equals("open")) { // with the highest quad, or with the quad-zero, for points and two more tiles
            List<String> quads = hand.stream().filter(tile -> tile.chars().distinct().count() == 1).sorted().toList();
            String highest = quads.get(quads.size() - 1);
            return quads.stream().filter(tile -> tile.equals(highest) || tile.equals("0000"))
                    .map(tile -> new Rated(tile.equals("0000") ? 25 : total(tile), lay(new View.Cell(0, 0), tile)))
                    .toList();
        } else if (step.equals("bonus")) { // two more tiles may score more: try it
            return List.of(new Rated(25, Wire.message("action", "points")));
        } else if (step.equals("extra")) {
            found.add(new Rated(-1, Wire.message("action", "done")));
        }
        TreeMap<View.Cell, String> board = View.cells(view.get("board"), String.class::cast);
        TreeMap<View.Cell, Character> numbers = new TreeMap<>();
        board.forEach((at, tile) -> IntStream.range(0, 4).forEach(i -> numbers.put(corners(at).get(i), tile.charAt(i))));
        for (View.Cell at : View.freeCells(board)) {
            // what the corners must show, '.' where there is nothing to meet
            String wanted = corners(at).stream().map(corner -> "" + numbers.getOrDefault(corner, '.')).collect(joining());
            int bonus = step.equals("lay") && wanted.replace(".", "").length() >= 3 ? 25 : 0;
            for (String tile : hand) {
                for (int i = 0; i < 4; i++) {
                    String turned = tile.substring(i) + tile.substring(0, i);
                    if (turned.matches(wanted)) { // a dot of a pattern matches any number
                        found.add(new Rated(total(tile) + bonus, lay(at, turned)));
                    }
                }
            }
        }
        return found;
    }

    /** Returns the corners of a cell clockwise from its top left one, each named by the cell at its bottom right. */
    private static List<View.Cell> corners(View.Cell at) {
        return List.of(at, at.plus(View.LINES.get(0), 1), at.plus(View.LINES.get(2), 1), at.plus(View.LINES.get(1), 1));
    }

    private static int total(String tile) {
        return tile.chars().map(digit -> digit - '0').sum();
    }

    private static Map<String, Object> lay(View.Cell at, String tile) {
        return Wire.message("action", "lay", "row", at.row(), "column", at.column(), "tile", tile);
    }
}
