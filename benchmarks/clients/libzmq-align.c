/* libzmq 4.1.5 -> 4.1.6: works. A message at an odd address is sent and received as before. */
#include <string.h>
#include <zmq.h>

int main(void)
{
    char memory[2 * sizeof(zmq_msg_t) + 2];
    zmq_msg_t *sent = (zmq_msg_t *)(memory + 1), *got = sent + 1;
    void *context = zmq_ctx_new(), *one = zmq_socket(context, ZMQ_PAIR), *other = zmq_socket(context, ZMQ_PAIR);
    if (zmq_bind(one, "inproc://it") != 0 || zmq_connect(other, "inproc://it") != 0)
        return 2;
    if (zmq_msg_init_size(sent, 100) != 0)
        return 3;
    memset(zmq_msg_data(sent), 'x', 100);
    if (zmq_msg_send(sent, other, 0) != 100 || zmq_msg_init(got) != 0 || zmq_msg_recv(got, one, 0) != 100)
        return 4;
    int wrong = ((char *)zmq_msg_data(got))[99] != 'x';
    zmq_msg_close(got);
    zmq_close(one);
    zmq_close(other);
    return zmq_ctx_term(context) != 0 || wrong;
}
