/* The wire: answers the referee's messages. Follows protocol/SPEC.md, and knows no game. You need not change
 * anything here. */
#ifndef WIRE_H
#define WIRE_H

#include "msgpack.h"

/* Connect, play every match that is offered, and return when the referee closes the connection.
 * `choose` appends a move to a buffer; it gets the name of the game and the view. */
typedef void chooser(const char *game, const struct value *view, struct buffer *move);
void play(chooser *choose);

#endif
