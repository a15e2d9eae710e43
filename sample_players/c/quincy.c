/* Quincy: play a domino, and with it add a stone or remove one. */
#include "games.h"
/* The stone on a square of the board, `.` for none, 0 beyond the board. Rows and columns count from 1. */
static char stone_on(const struct value *board, int row, int column) {
    bool is_inside = row >= 1 && row <= 9 && column >= 1 && column <= 9;
    return is_inside ? text(board, (size_t)row - 1)[column - 1] : 0;
}

/* The worth of a square: high if fours through it have many stones of one colour, own or not. */
static long worth(const struct value *board, int row, int column) {
    long sum = 0;
    for (int line = 0; line < 4; line++) {
        for (int start = -3; start <= 0; start++) {
            int counts[128] = {0};
            for (int i = start; i < start + 4; i++)
                if (i != 0)
                    counts[(int)stone_on(board, row + i * LINES[line][0], column + i * LINES[line][1])]++;
            if (counts[0] == 0 && (counts['A'] == 0 || counts['B'] == 0))
                sum += 1L << 2 * (counts['A'] + counts['B']);
        }
    }
    return sum;
}

static bool is_unbreakable(const struct value *lines, int row, int column) {
    for (size_t i = 0; i < lines->count; i++) {
        const struct value *squares = get(&lines->items[i], "squares");
        for (size_t j = 0; j < squares->count; j++)
            if (integer(&squares->items[j], 0) == row && integer(&squares->items[j], 1) == column)
                return true;
    }
    return false;
}

/* Tells whether a domino names a square; a blank, which is the smaller end, stands for any number. */
static bool names(int low, int high, int row, int column) {
    if (low == 0)
        return high == 0 || row == high || column == high;
    return (row == low && column == high) || (row == high && column == low);
}

void quincy(const struct value *view, struct moves *moves) {
    const struct value *board = get(view, "board"), *hand = get(view, "hand");
    for (size_t i = 0; i < hand->count; i++) {
        int low = integer(&hand->items[i], 0), high = integer(&hand->items[i], 1);
        size_t before = moves->count;
        for (int row = 1; row <= 9; row++) {
            for (int column = 1; column <= 9; column++) {
                char stone = stone_on(board, row, column);
                bool is_prey = low == 0 && stone != '.' && stone != get(view, "stone")->text[0] &&
                               !is_unbreakable(get(view, "lines"), row, column);
                if (!names(low, high, row, column) || (stone != '.' && !is_prey))
                    continue;
                struct buffer *out = add_move(moves, worth(board, row, column), 3, is_prey ? "remove" : "add");
                put_cell(out, "domino", low, high);
                put_cell(out, "square", row, column);
            }
        }
        if (moves->count == before) /* only an unplayable domino may be discarded */
            put_cell(add_move(moves, -1, 2, "discard"), "domino", low, high);
    }
}
