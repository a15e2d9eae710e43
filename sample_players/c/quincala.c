/* Quincala Mixing: place the pieces of the hand, then move a tower leg by leg. */
#include "games.h"

#include <string.h>

enum { SIZES = 5, MAX_SIDE = 26 }; /* of the game, and of a board's layout */

/* The pieces on a dot, as bits: White's sizes first, then Black's. */
typedef unsigned pieces;
static const pieces COLOR[2] = {0x01f, 0x3e0};

struct field {
    int seat;
    char dots[MAX_SIDE + 2][MAX_SIDE + 2]; /* 0 beyond the board; rows and columns count from 1 */
    pieces towers[MAX_SIDE + 2][MAX_SIDE + 2], immune[MAX_SIDE + 2][MAX_SIDE + 2];
};

static pieces piece_of(const char *name) { return 1u << ((name[0] == 'b') * SIZES + name[1] - '1'); }
static pieces of_sizes(pieces some) { return (some | some >> SIZES | some << SIZES) & (COLOR[0] | COLOR[1]); }

static int count_of(pieces some) {
    int count = 0;
    for (; some; some &= some - 1)
        count++;
    return count;
}

static bool is_inside(int number) { return number >= 1 && number <= MAX_SIDE; }

static void read_towers(const struct value *cells, pieces towers[MAX_SIDE + 2][MAX_SIDE + 2]) {
    for (size_t i = 0; i < cells->count; i++) {
        const struct value *names = &cells->items[i].items[2];
        int row = integer(&cells->items[i], 0), column = integer(&cells->items[i], 1);
        for (size_t j = 0; j < names->count && is_inside(row) && is_inside(column); j++)
            towers[row][column] |= piece_of(text(names, j));
    }
}

/* Twice the player's lead in sizes; the sizes in towers of both colours count. */
static long lead(const struct field *field) {
    pieces mixed = 0;
    for (int row = 1; row <= MAX_SIDE; row++)
        for (int column = 1; column <= MAX_SIDE; column++)
            if (field->towers[row][column] & COLOR[0] && field->towers[row][column] & COLOR[1])
                mixed |= field->towers[row][column];
    return 2L * (count_of(mixed & COLOR[field->seat]) - count_of(mixed & COLOR[1 - field->seat]));
}

static long lead_after(struct field *field, const int start[2], const int end[2], pieces moving) {
    pieces *from = &field->towers[start[0]][start[1]], *to = &field->towers[end[0]][end[1]];
    pieces old_from = *from, old_to = *to;
    *from &= ~moving;
    *to = (*to & ~of_sizes(moving)) | moving;
    long value = lead(field);
    *from = old_from;
    *to = old_to;
    return value;
}

/* Adds the legs of some pieces: straight over free dots, with at most as many steps as pieces. */
static void add_legs(struct moves *moves, struct field *field, int row, int column, pieces moving) {
    for (int direction = 0; direction < 8; direction++) {
        int sign = direction < 4 ? 1 : -1, start[2] = {row, column};
        for (int step = 1; step <= count_of(moving); step++) {
            int end[2] = {row + sign * step * LINES[direction % 4][0], column + sign * step * LINES[direction % 4][1]};
            if (field->dots[end[0]][end[1]] == 0 || field->dots[end[0]][end[1]] == ' ')
                break;
            if (!(field->immune[end[0]][end[1]] & of_sizes(moving))) {
                struct buffer *out = add_move(moves, lead_after(field, start, end, moving), 3, "leg");
                put_cell(out, "start", row, column);
                put_cell(out, "end", end[0], end[1]);
            }
            if (field->towers[end[0]][end[1]])
                break;
        }
    }
}

static void add_placings(struct moves *moves, const struct field *field, const struct value *hand) {
    for (int row = 1; row <= MAX_SIDE; row++) {
        for (int column = 1; column <= MAX_SIDE; column++) {
            char dot = field->dots[row][column];
            if ((dot != "wb"[field->seat] && dot != 'x') || field->towers[row][column])
                continue;
            for (size_t i = 0; i < hand->count; i++) {
                long forward = field->seat == 0 ? row : -row; /* pieces meet near the other player */
                struct buffer *out = add_move(moves, forward, 3, "place");
                put_text(out, "piece");
                put_text(out, text(hand, i));
                put_cell(out, "dot", row, column);
            }
        }
    }
}

void quincala(const struct value *view, struct moves *moves) {
    struct field field = {.seat = (int)get(view, "seat")->number};
    const struct value *layout = get(view, "layout"), *path = get(view, "path");
    pieces own = COLOR[field.seat];
    for (size_t row = 0; row < layout->count && row < MAX_SIDE; row++)
        strncpy(&field.dots[row + 1][1], text(layout, row), MAX_SIDE);
    read_towers(get(view, "board"), field.towers);
    read_towers(get(view, "immune"), field.immune);
    if (is(view, "phase", "place")) {
        add_placings(moves, &field, &get(view, "hands")->items[field.seat]);
    } else if (is(view, "phase", "move")) {
        for (int row = 1; row <= MAX_SIDE; row++)
            for (int column = 1; column <= MAX_SIDE; column++)
                if (!(field.towers[row][column] & ~own))
                    add_legs(moves, &field, row, column, field.towers[row][column]);
    } else {
        const struct value *last = &path->items[path->count - 1];
        pieces mine = field.towers[integer(last, 0)][integer(last, 1)] & own, largest = mine;
        while (largest & (largest - 1))
            largest &= largest - 1;
        add_move(moves, lead(&field) + 1, 1, "stop"); /* so it goes on only for a gain */
        add_legs(moves, &field, integer(last, 0), integer(last, 1), mine & ~largest);
    }
}
