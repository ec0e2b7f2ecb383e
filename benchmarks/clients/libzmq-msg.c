/* libzmq 4.0.5 -> 4.1.2: breaks. zmq_msg_t is 32 bytes for the client and 64 for the library. */
#include <string.h>
#include <zmq.h>

struct guarded { zmq_msg_t message; unsigned char guard[64]; };

int main(void)
{
    struct guarded it;
    memset(&it, 0xA5, sizeof it);
    if (zmq_msg_init_size(&it.message, 8) != 0)
        return 2;
    for (unsigned i = 0; i < sizeof it.guard; i++)
        if (it.guard[i] != 0xA5)
            return 1;
    return zmq_msg_size(&it.message) == 8 ? zmq_msg_close(&it.message) : 3;
}
