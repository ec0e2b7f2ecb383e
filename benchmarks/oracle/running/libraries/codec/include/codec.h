#ifndef CODEC_H
#define CODEC_H
#include <stdint.h>
#define CODEC_FAST 1u
#define CODEC_SAFE 2u
#define CODEC_BOTH (CODEC_FAST | CODEC_SAFE)
#define CODEC_TWICE(x) ((x) * 2)
#define CODEC_RESET(f) codec_flags((f), CODEC_SAFE)
enum Mode {
    MODE_NONE,
    MODE_RAW,
    MODE_PACKED,
    MODE_LAST
};
struct Flags {
    unsigned kind : 3;
    unsigned level : 5;
    int delta : 6;
    unsigned rest : 18;
};
union Value {
    int whole;
    double real;
    unsigned char bytes[8];
};
struct Frame {
    uint16_t kind;
    uint32_t length;
    union Value value;
    struct Flags flags;
    uint8_t reserved[6];
};
typedef uint32_t codec_size;
typedef struct Frame codec_frame;
int codec_flags(struct Flags *p, unsigned set);
long flags_sum(const struct Flags *p);
void flags_fill(struct Flags *p, int from);
long value_sum(const union Value *p, enum Mode mode);
void value_fill(union Value *p, int from);
void frame_fill(codec_frame *p, int from);
long frame_sum(const codec_frame *p);
long codec_frames(const codec_frame *all, int count);
codec_frame frame_made(enum Mode mode, codec_size length);
codec_size codec_encode(const uint8_t *from, codec_size length, uint8_t *to);
int codec_mode(enum Mode mode);
int64_t codec_mixed(int8_t a, uint16_t b, int64_t c, float d, double e);
#endif
