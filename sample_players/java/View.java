import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads the values of views as Java's types, and the cells of a board. Knows no game. */
final class View {
    private View() {}

    /** A place: a row and a column. Sorted row by row, so that a player always does the same with the same view. */
    record Cell(int row, int column) implements Comparable<Cell> {
        Cell plus(Cell step, int times) {
            return new Cell(row + times * step.row, column + times * step.column);
        }

        List<Integer> pair() {
            return List.of(row, column);
        }

        @Override
        public int compareTo(Cell other) {
            return row != other.row ? Integer.compare(row, other.row) : Integer.compare(column, other.column);
        }
    }

    /** Steps along a row, a column and the two diagonals. */
    static final List<Cell> LINES = List.of(new Cell(0, 1), new Cell(1, 0), new Cell(1, 1), new Cell(1, -1));

    @SuppressWarnings("unchecked") // Msgpack makes no other maps
    static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    static List<?> list(Object value) {
        return (List<?>) value;
    }

    static int integer(Object value) {
        return ((Long) value).intValue();
    }

    static List<String> texts(Object value) {
        return list(value).stream().map(String.class::cast).toList();
    }

    static Cell cell(Object pair) {
        return new Cell(integer(list(pair).get(0)), integer(list(pair).get(1)));
    }

    /** Reads {@code [row, column, something]} of every cell. */
    static <T> TreeMap<Cell, T> cells(Object value, java.util.function.Function<Object, T> read) {
        TreeMap<Cell, T> found = new TreeMap<>();
        for (Object item : list(value)) {
            found.put(cell(item), read.apply(list(item).get(2)));
        }
        return found;
    }

    /** Reads a text for each row; rows and columns count from 1. */
    static TreeMap<Cell, Character> grid(Object value) {
        TreeMap<Cell, Character> found = new TreeMap<>();
        List<String> rows = texts(value);
        for (int row = 0; row < rows.size(); row++) {
            for (int column = 0; column < rows.get(row).length(); column++) {
                found.put(new Cell(row + 1, column + 1), rows.get(row).charAt(column));
            }
        }
        return found;
    }

    /** Returns the free cells next to an occupied one. */
    static <T> List<Cell> freeCells(Map<Cell, T> board) {
        TreeMap<Cell, Boolean> free = new TreeMap<>();
        for (Cell at : board.keySet()) {
            for (int i = 0; i < 4; i++) {
                Cell near = at.plus(LINES.get(i / 2), i % 2 == 0 ? 1 : -1);
                if (!board.containsKey(near)) {
                    free.put(near, true);
                }
            }
        }
        return List.copyOf(free.keySet());
    }
}
