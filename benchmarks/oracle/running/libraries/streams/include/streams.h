#pragma once
namespace io {
enum Mode : unsigned char {
    Read = 1,
    Write = 2
};
class Stream;
class Listener {
public:
    virtual void opened(Stream *stream) = 0;
    virtual int received(const char *bytes, int count) = 0;
    virtual void closed() {}
protected:
    ~Listener() = default;
};
class Stream {
public:
    virtual ~Stream() {}
    virtual int read(char *to, int most) = 0;
    virtual int write(const char *from, int count) = 0;
    virtual bool flush() { return true; }
    int copy(Stream &to);
    static Stream *open(const char *name, Mode mode);
    static int count;
};
class Buffered : public Stream {
public:
    explicit Buffered(int size);
    ~Buffered() override;
    int read(char *to, int most) override;
    int write(const char *from, int count) override;
    int used() const noexcept;
    void listen(Listener *listener);
private:
    char *memory;
    int begin;
    int end;
    Listener *listener;
};
int send(Stream &stream, const char *text, int times = 1);
int receive(Stream *stream, Listener &listener);
inline int send_twice(Stream &stream, const char *text) { return send(stream, text, 2); }
}
