#include "codec.h"
#include <string.h>
int codec_flags(struct Flags *p, unsigned set) {
    p->kind = set & CODEC_BOTH;
    return p->kind;
}
long flags_sum(const struct Flags *p) {
    long sum = 0;
    sum += 3 * p->kind;
    sum += 50 * p->level;
    sum += 700 * p->delta;
    sum += 9000 * p->rest;
    //@ reads Flags p
    return sum;
}
void flags_fill(struct Flags *p, int from) {
    p->kind = from;
    p->level = from + 9;
    p->delta = -from;
    p->rest = from * 100;
    //@ writes Flags p
}
long value_sum(const union Value *p, enum Mode mode) {
    if (mode == MODE_RAW) return p->whole;
    if (mode == MODE_PACKED) return (long)(p->real * 4);
    return p->bytes[0] + 3 * p->bytes[3];
}
void value_fill(union Value *p, int from) {
    memset(p, from, sizeof *p);
    p->whole = from;
    //@ writes Value p
}
void frame_fill(codec_frame *p, int from) {
    p->kind = from;
    p->length = from + 1;
    value_fill(&p->value, from + 2);
    flags_fill(&p->flags, 3);
    memset(p->reserved, 0x11, sizeof p->reserved);
    //@ writes Frame p
}
long frame_sum(const codec_frame *p) {
    long sum = 0;
    sum += 3 * p->kind;
    sum += 5 * (long)p->length;
    sum += 7 * value_sum(&p->value, MODE_RAW);
    sum += 11 * flags_sum(&p->flags);
    sum += p->reserved[0] + p->reserved[sizeof p->reserved - 1];
    //@ reads Frame p
    return sum;
}
codec_frame frame_made(enum Mode mode, codec_size length) {
    codec_frame made;
    memset(&made, 0, sizeof made);
    frame_fill(&made, 4);
    made.kind = mode;
    made.length = length;
    return made;
}
codec_size codec_encode(const uint8_t *from, codec_size length, uint8_t *to) {
    for (codec_size at = 0; at < length; at++) to[at] = from[at] ^ 0x20;
    return length;
}
int codec_mode(enum Mode mode) {
    switch (mode) {
    case MODE_NONE: return 10;
    case MODE_RAW: return 20;
    case MODE_PACKED: return 30;
    default: return 40;
    }
}
int64_t codec_mixed(int8_t a, uint16_t b, int64_t c, float d, double e) {
    return a + 10 * b + 100 * c + (int64_t)(1000 * d) + (int64_t)(10000 * e);
}
long codec_frames(const codec_frame *all, int count) {
    long sum = 0;
    for (int at = 0; at < count; at++) sum += (at + 2) * frame_sum(&all[at]);
    return sum;
}
