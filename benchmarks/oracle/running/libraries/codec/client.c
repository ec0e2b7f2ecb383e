#include <codec.h>
#include "watch.h"
int main(void) {
    GUARDED(struct Flags, flags);
    GUARDED(union Value, value);
    GUARDED(codec_frame, frame);
    flags.it.kind = 5, flags.it.level = 17, flags.it.delta = -9, flags.it.rest = 1234;
    SHOW(flags_sum(&flags.it));
    flags_fill(&flags.it, 6);
    SHOW(flags.it.kind), SHOW(flags.it.level), SHOW(flags.it.delta), SHOW(flags.it.rest);
    SHOW(codec_flags(&flags.it, CODEC_BOTH)), SHOW(CODEC_RESET(&flags.it)), SHOW(codec_flags(&flags.it, CODEC_FAST));
    value.it.whole = 77;
    SHOW(value_sum(&value.it, MODE_RAW));
    value.it.real = 2.25;
    SHOW(value_sum(&value.it, MODE_PACKED));
    value.it.bytes[0] = 3, value.it.bytes[3] = 4;
    SHOW(value_sum(&value.it, MODE_NONE));
    value_fill(&value.it, 33);
    SHOW(value.it.whole), SHOW(value.it.bytes[7]);
    frame.it.kind = 2, frame.it.length = 90, frame.it.value.whole = 8, frame.it.flags.level = 3;
    SHOW(frame_sum(&frame.it));
    frame_fill(&frame.it, 12);
    SHOW(frame.it.kind), SHOW(frame.it.length), SHOW(frame.it.value.whole), SHOW(frame.it.flags.delta);
    frame.it = frame_made(MODE_PACKED, 55);
    SHOW(frame.it.kind), SHOW(frame.it.length), SHOW(frame.it.flags.rest);
    codec_frame three[3];
    memset(three, 0, sizeof three);
    for (int at = 0; at < 3; at++) three[at].kind = at, three[at].length = 5, three[at].value.whole = at, three[at].flags.rest = at;
    SHOW(codec_frames(three, 3));
    INTACT(flags);
    INTACT(value);
    INTACT(frame);
    uint8_t from[4] = "abc", to[4] = "";
    SHOW(codec_encode(from, 3, to)), puts((char *)to);
    SHOW(codec_mode(MODE_NONE)), SHOW(codec_mode(MODE_RAW)), SHOW(codec_mode(MODE_PACKED)), SHOW(codec_mode(MODE_LAST));
    SHOW(codec_mixed(-3, 60000, 1l << 33, 1.5f, 0.25));
    SHOW(CODEC_TWICE(4)), SHOW(CODEC_FAST), SHOW(CODEC_SAFE), SHOW(MODE_LAST);
    codec_size size = 7;
    SHOW(size);
    return 0;
}
