#include "msgpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16 }; /* SPEC.md, "Limits" */

void *need(size_t count, size_t size) {
    void *found = calloc(count ? count : 1, size);
    if (found == NULL) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return found;
}

/* --- values -> bytes */

void put_byte(struct buffer *out, unsigned char byte) {
    if (out->size == out->capacity) {
        unsigned char *grown = need(out->capacity * 2 + 64, 1);
        if (out->size > 0)
            memcpy(grown, out->bytes, out->size);
        free(out->bytes);
        out->bytes = grown;
        out->capacity = out->capacity * 2 + 64;
    }
    out->bytes[out->size++] = byte;
}

void put_unsigned(struct buffer *out, uint64_t number, int width) {
    while (width-- > 0)
        put_byte(out, (unsigned char)(number >> 8 * width));
}

static void put_head(struct buffer *out, unsigned char tag, uint64_t number, int width) {
    put_byte(out, tag);
    put_unsigned(out, number, width);
}

void put_int(struct buffer *out, int64_t number) { put_head(out, 0xd3, (uint64_t)number, 8); }
void put_list(struct buffer *out, size_t count) { put_head(out, 0xdd, count, 4); }
void put_map(struct buffer *out, size_t count) { put_head(out, 0xdf, count, 4); }

void put_text(struct buffer *out, const char *text) {
    put_head(out, 0xdb, strlen(text), 4);
    while (*text)
        put_byte(out, (unsigned char)*text++);
}

void put_value(struct buffer *out, const struct value *value) {
    uint64_t bits;
    switch (value->kind) {
    case NIL: put_byte(out, 0xc0); break;
    case BOOL: put_byte(out, value->number ? 0xc3 : 0xc2); break;
    case INT: put_int(out, value->number); break;
    case FLOAT:
        memcpy(&bits, &value->real, sizeof bits);
        put_head(out, 0xcb, bits, 8);
        break;
    case TEXT: put_text(out, value->text); break;
    case LIST:
        put_list(out, value->count);
        for (size_t i = 0; i < value->count; i++)
            put_value(out, &value->items[i]);
        break;
    case MAP:
        put_map(out, value->count);
        for (size_t i = 0; i < 2 * value->count; i++)
            put_value(out, &value->items[i]);
        break;
    }
}

/* --- bytes -> values */

struct cursor {
    const unsigned char *at;
    size_t left;
};

static const char TOO_EARLY[] = "a value ends too early: only a part of the frame was read";

static const char *take_unsigned(struct cursor *in, int width, uint64_t *number) {
    if (in->left < (size_t)width)
        return TOO_EARLY;
    *number = 0;
    in->left -= (size_t)width;
    while (width-- > 0)
        *number = *number << 8 | *in->at++;
    return NULL;
}

static const char *take_text(struct cursor *in, uint64_t count, struct value *out) {
    if (count > in->left)
        return TOO_EARLY;
    out->kind = TEXT;
    out->count = count;
    out->text = need(count + 1, 1);
    memcpy(out->text, in->at, count);
    in->at += count;
    in->left -= count;
    return NULL;
}

static const char *take_value(struct cursor *in, struct value *out, int depth);

static const char *take_items(struct cursor *in, enum kind kind, uint64_t count, struct value *out, int depth) {
    size_t each = kind == MAP ? 2 : 1;
    if (depth == MAX_DEPTH)
        return "arrays and maps are nested too deep";
    if (count * each > in->left) /* each item has at least a byte, so a header can't make us allocate too much */
        return TOO_EARLY;
    out->kind = kind;
    out->count = count;
    out->items = need(count * each, sizeof *out->items);
    for (size_t i = 0; i < count * each; i++) {
        const char *wrong = take_value(in, &out->items[i], depth + 1);
        if (wrong != NULL)
            return wrong;
        if (kind == MAP && i % 2 == 0 && out->items[i].kind != TEXT)
            return "a key is not a string";
    }
    return NULL;
}

/* Reads an integer or a float behind its tag, 0xca to 0xd3. */
static const char *take_number(struct cursor *in, unsigned tag, struct value *out) {
    int width = tag <= 0xcb ? 4 << (tag - 0xca) : 1 << ((tag - 0xcc) % 4);
    uint64_t bits;
    float single;
    const char *wrong = take_unsigned(in, width, &bits);
    if (wrong != NULL)
        return wrong;
    out->kind = tag <= 0xcb ? FLOAT : INT;
    if (tag == 0xca) {
        uint32_t half = (uint32_t)bits;
        memcpy(&single, &half, sizeof single);
        out->real = (double)single;
    } else if (tag == 0xcb) {
        memcpy(&out->real, &bits, sizeof bits);
    } else if (tag <= 0xcf || width == 8) {
        out->number = (int64_t)bits;
    } else {
        int64_t limit = (int64_t)1 << (8 * width - 1); /* signed: from here on the number is negative */
        out->number = (int64_t)bits < limit ? (int64_t)bits : (int64_t)bits - 2 * limit;
    }
    return NULL;
}

static const char *take_value(struct cursor *in, struct value *out, int depth) {
    uint64_t tag, count;
    const char *wrong = take_unsigned(in, 1, &tag);
    if (wrong != NULL)
        return wrong;
    if (tag < 0x80 || tag >= 0xe0) {
        out->kind = INT;
        out->number = tag < 0x80 ? (int64_t)tag : (int64_t)tag - 256;
        return NULL;
    }
    if (tag < 0x90)
        return take_items(in, MAP, tag & 0x0f, out, depth);
    if (tag < 0xa0)
        return take_items(in, LIST, tag & 0x0f, out, depth);
    if (tag < 0xc0)
        return take_text(in, tag & 0x1f, out);
    if (tag == 0xc0 || tag == 0xc2 || tag == 0xc3) {
        out->kind = tag == 0xc0 ? NIL : BOOL;
        out->number = tag == 0xc3;
        return NULL;
    }
    if (tag >= 0xca && tag <= 0xd3)
        return take_number(in, (unsigned)tag, out);
    if (tag < 0xd9)
        return "raw bytes, an ext type, or no msgpack at all";
    wrong = take_unsigned(in, tag <= 0xdb ? 1 << (tag - 0xd9) : 2 << (tag - 0xdc) % 2, &count);
    if (wrong != NULL)
        return wrong;
    return tag <= 0xdb ? take_text(in, count, out) : take_items(in, tag <= 0xdd ? LIST : MAP, count, out, depth);
}

const char *read_body(const unsigned char *bytes, size_t size, struct value *message) {
    struct cursor in = {bytes, size};
    memset(message, 0, sizeof *message);
    const char *wrong = take_value(&in, message, 0);
    if (wrong == NULL && (in.left > 0 || message->kind != MAP))
        wrong = "a frame is not exactly one map";
    return wrong;
}

void release(struct value *value) {
    size_t items = value->items == NULL ? 0 : value->kind == MAP ? 2 * value->count : value->count;
    for (size_t i = 0; i < items; i++)
        release(&value->items[i]);
    free(value->items);
    free(value->text);
}

const struct value *get(const struct value *map, const char *key) {
    static const struct value nothing = {.kind = NIL};
    for (size_t i = 0; map->kind == MAP && i < map->count; i++)
        if (strcmp(map->items[2 * i].text, key) == 0)
            return &map->items[2 * i + 1];
    return &nothing;
}
