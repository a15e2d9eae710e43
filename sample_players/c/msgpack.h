/* Values and their bytes: the part of msgpack that the protocol allows. You need not change anything here. */
#ifndef MSGPACK_H
#define MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind { NIL, BOOL, INT, FLOAT, TEXT, LIST, MAP };

/* Any value of the protocol. */
struct value {
    enum kind kind;
    int64_t number;      /* of an integer; 0 or 1 of a bool */
    double real;         /* of a float */
    char *text;          /* of a text: its bytes, and a zero behind them */
    size_t count;        /* items of a list, pairs of a map, bytes of a text */
    struct value *items; /* of a map: key, value, key, value... */
};

/* Bytes that grow. */
struct buffer {
    unsigned char *bytes;
    size_t size, capacity;
};

/* The value of a map's key; nil if there is none. */
const struct value *get(const struct value *map, const char *key);

/* Append values to a buffer. A list and a map are followed by so many items, or pairs of key and value. */
void put_byte(struct buffer *out, unsigned char byte);
void put_unsigned(struct buffer *out, uint64_t number, int width); /* the most significant byte first, no tag */
void put_int(struct buffer *out, int64_t number);
void put_text(struct buffer *out, const char *text);
void put_list(struct buffer *out, size_t count);
void put_map(struct buffer *out, size_t count);
void put_value(struct buffer *out, const struct value *value);

/* Read the body of a frame, which must be one map. Returns NULL, or what is wrong; release the value in both cases. */
const char *read_body(const unsigned char *bytes, size_t size, struct value *message);
void release(struct value *value);

/* Allocate zeroed memory, or end the program. */
void *need(size_t count, size_t size);

#endif
