/* The common parts of the games. Each game has its own file, which finds the legal moves from the view alone, and rates
 * each of them. `referee list GAME` prints a game's rules, `referee list GAME --schema` the form of views and moves. */
#ifndef GAMES_H
#define GAMES_H

#include "msgpack.h"

struct rated {
    long value;         /* the rating of the move by a simple heuristic */
    struct buffer move; /* in msgpack */
};

struct moves {
    struct rated *items;
    size_t count, capacity;
};

/* List the legal moves of a game by its name, or of one game. */
void list_moves(const char *game, const struct value *view, struct moves *moves);
void q(const struct value *view, struct moves *moves);
void quincy(const struct value *view, struct moves *moves);
void quincala(const struct value *view, struct moves *moves);
void quadominos(const struct value *view, struct moves *moves);

/* Begin a move: a map of `pairs` pairs, the first one being its action. The returned buffer takes the others. */
struct buffer *add_move(struct moves *moves, long value, size_t pairs, const char *action);
void put_cell(struct buffer *out, const char *key, int row, int column);

/* Read a view. */
int integer(const struct value *list, size_t index);
const char *text(const struct value *list, size_t index);
bool is(const struct value *view, const char *key, const char *word);

/* (rows, columns) of a step along each line; the other four directions are opposite. */
extern const int LINES[4][2];

/* The tiles on a table: a rectangle around all of them, with room for a hand at each edge. */
struct table {
    int top, left, height, width;
    const char **tiles;
};

struct table table_of(const struct value *cells);
const char **slot(const struct table *table, int row, int column);

/* Find the next free cell next to an occupied one after the given cell, row by row; false if there is none. The
 * first one is found from the left end of the row below the top one. */
bool next_open(const struct table *table, int *row, int *column);

#endif
