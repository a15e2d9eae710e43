import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Quincala Mixing: place the pieces of the hand, then move a tower leg by leg. */
final class Quincala {
    private final Map<String, Object> view;
    private final int seat;
    private final String own;
    private final String other;
    private final TreeMap<View.Cell, Character> dots;
    private final TreeMap<View.Cell, List<String>> towers;
    private final TreeMap<View.Cell, List<String>> immune;

    Quincala(Map<String, Object> view) {
        this.view = view;
        seat = View.integer(view.get("seat"));
        own = seat == 0 ? "w" : "b";
        other = seat == 0 ? "b" : "w";
        dots = View.grid(view.get("layout"));
        towers = View.cells(view.get("board"), View::texts);
        immune = View.cells(view.get("immune"), View::texts);
    }

    List<Games.Rated> moves() {
        List<Games.Rated> found = new ArrayList<>();
        if (view.get("phase").equals("place")) {
            addPlacings(found);
        } else if (view.get("phase").equals("move")) {
            towers.forEach((start, pieces) -> {
                if (pieces.stream().allMatch(piece -> piece.startsWith(own))) {
                    addLegs(found, start, pieces);
                }
            });
        } else {
            List<?> path = View.list(view.get("path"));
            View.Cell here = View.cell(path.get(path.size() - 1));
            List<String> mine = towers.get(here).stream().filter(piece -> piece.startsWith(own)).toList();
            found.add(new Games.Rated(lead(towers) + 1, Wire.message("action", "stop"))); // go on only for a gain
            addLegs(found, here, mine.subList(0, mine.size() - 1)); // the largest piece, which is the last one, stays
        }
        return found;
    }

    private void addPlacings(List<Games.Rated> found) {
        int forward = seat == 0 ? 1 : -1; // pieces meet near the other player
        List<String> hand = View.texts(View.list(view.get("hands")).get(seat));
        dots.forEach((dot, sign) -> {
            if ((sign == own.charAt(0) || sign == 'x') && !towers.containsKey(dot)) {
                for (String piece : hand) {
                    Map<String, Object> move = Wire.message("action", "place", "piece", piece, "dot", dot.pair());
                    found.add(new Games.Rated(forward * dot.row(), move));
                }
            }
        });
    }

    /** Adds the legs of some pieces: straight over free dots, with at most as many steps as pieces. */
    private void addLegs(List<Games.Rated> found, View.Cell start, List<String> moving) {
        for (int direction = 0; direction < 8; direction++) {
            for (int step = 1; step <= moving.size(); step++) {
                View.Cell end = start.plus(View.LINES.get(direction / 2), direction % 2 == 0 ? step : -step);
                if (dots.getOrDefault(end, ' ') == ' ') {
                    break;
                }
                if (immune.getOrDefault(end, List.of()).stream().noneMatch(piece -> isHit(piece, moving))) {
                    Map<String, Object> move = Wire.message("action", "leg", "start", start.pair(), "end", end.pair());
                    found.add(new Games.Rated(lead(moved(start, end, moving)), move));
                }
                if (towers.containsKey(end)) {
                    break;
                }
            }
        }
    }

    private Map<View.Cell, List<String>> moved(View.Cell start, View.Cell end, List<String> moving) {
        TreeMap<View.Cell, List<String>> after = new TreeMap<>(towers);
        List<String> arrived = new ArrayList<>(towers.getOrDefault(end, List.of()));
        arrived.removeIf(piece -> isHit(piece, moving));
        arrived.addAll(moving);
        after.put(end, arrived);
        after.put(start, towers.get(start).stream().filter(piece -> !moving.contains(piece)).toList());
        return after;
    }

    /** Tells whether arriving pieces knock a piece: one of them is of its size. */
    private static boolean isHit(String piece, List<String> moving) {
        return moving.stream().anyMatch(arriving -> arriving.charAt(1) == piece.charAt(1));
    }

    /** Returns twice the number of sizes by which the player is ahead. */
    private int lead(Map<View.Cell, List<String>> board) {
        return 2 * (mixed(board, own) - mixed(board, other));
    }

    /** Counts the sizes of a colour that are in towers of both colours; with all sizes it wins. */
    private static int mixed(Map<View.Cell, List<String>> board, String color) {
        Set<String> found = new HashSet<>();
        for (List<String> pieces : board.values()) {
            if (pieces.stream().map(piece -> piece.charAt(0)).distinct().count() == 2) {
                pieces.stream().filter(piece -> piece.startsWith(color)).forEach(found::add);
            }
        }
        return found.size();
    }
}
