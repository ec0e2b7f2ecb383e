"""Headers and the sources of their libraries, by what they show."""

from __future__ import annotations

C_SOURCES = {
    "structs, unions and bit-fields": (
        """
        struct point { int x, y; };
        struct flags { unsigned a : 3; int : 2; unsigned b : 5; int : 0; long long c : 40; signed char d; };
        union number { int i; double d; char bytes[16]; };
        struct mixed { struct point where; union number n; union { int u; float f; }; struct { short s; } named; };
        struct flexible { int count; double items[]; };
        struct __attribute__((packed)) packed { char c; int i; short s; };
        struct pointers { struct pointers *next; const char *const name; volatile int *v; void *restrict r; };
        struct opaque;
        void use(struct point, struct flags *, union number, struct mixed *, struct flexible *, struct packed *,
                 struct pointers *, struct opaque *);
        """,
        """
        void use(struct point a, struct flags *b, union number c, struct mixed *d, struct flexible *e,
                 struct packed *f, struct pointers *g, struct opaque *h) {}
        """,
    ),
    "typedefs and unnamed types": (
        """
        typedef struct { int a; } first, second;
        typedef struct tagged { long b; } tagged;
        typedef struct tagged *handle;
        typedef enum { RED, GREEN = 5, BLUE } color;
        typedef union { int i; float f; } either;
        typedef int matrix[3][4];
        typedef int (*callback)(const first *, matrix, ...);
        typedef struct { callback call; struct { int depth; enum { A, B } kind; } inner; } table;
        void use(first, second *, tagged *, handle, color, either, matrix, callback, table *);
        """,
        """
        void use(first a, second *b, tagged *c, handle d, color e, either f, matrix g, callback h, table *i) {}
        """,
    ),
    "enumerations and integers": (
        """
        enum small { S0, S1, SN = -1 };
        enum large { L0 = 0x7fffffffffffffffLL };
        enum huge { H0 = 0xffffffffffffffffULL };
        enum __attribute__((packed)) tiny { T0, T1 };
        struct all {
          _Bool b; char c; signed char sc; unsigned char uc; short s; unsigned short us; int i; unsigned u;
          long l; unsigned long ul; long long ll; unsigned long long ull; float f; double d; long double ld;
          _Complex double cd; _Complex float cf; enum small es; enum large el; enum huge eh; enum tiny et;
        };
        void use(struct all *);
        """,
        "void use(struct all *a) {}",
    ),
    "functions and variables": (
        """
        #include <stdarg.h>
        #include <stddef.h>
        extern int counter;
        extern const char *const names[4];
        extern _Thread_local long per_thread;
        int with_list(const char *format, va_list list);
        int printing(const char *format, ...);
        void stops(void) __attribute__((noreturn));
        size_t sizes(size_t, ptrdiff_t);
        int (*chooser(int which))(double);
        void arrays(int a[10], const int b[], char c[2][3], int f(int));
        int unprototyped();
        """,
        """
        int counter; const char *const names[4]; _Thread_local long per_thread;
        int with_list(const char *format, va_list list) { return 0; }
        int printing(const char *format, ...) { return 0; }
        void stops(void) { for (;;); }
        size_t sizes(size_t a, ptrdiff_t b) { return 0; }
        int (*chooser(int which))(double) { return 0; }
        void arrays(int a[10], const int b[], char c[2][3], int f(int)) {}
        int unprototyped() { return 0; }
        """,
    ),
    "vectors, atomics and alignment": (
        """
        typedef float vector4 __attribute__((vector_size(16)));
        struct aligned { _Alignas(32) int a; char b; };
        struct atomics { _Atomic int a; _Atomic long long b; };
        typedef struct { vector4 v; struct aligned a; } held;
        void use(held *, struct atomics *);
        """,
        "void use(held *a, struct atomics *b) {}",
    ),
}

CPP_SOURCES = {
    "classes, bases and virtual methods": (
        """
        namespace geo {
        class Shape {
         public:
          Shape(); virtual ~Shape(); virtual double area() const = 0; virtual void move(int dx, int dy);
         protected:
          int id;
         private:
          mutable char cache; static int count;
        };
        struct Named { const char *name; char c; Named(); };
        struct Empty {};
        struct Other { virtual int other(); long l; };
        class Circle : public Shape, protected Named, private Empty, public Other {
         public:
          Circle(double); ~Circle() override; double area() const override; int other() override; virtual void last();
         private:
          double radius;
        };
        struct Left : virtual Shape { int l; virtual void left(); };
        struct Right : virtual Shape { int r; };
        struct Diamond : Left, Right { Diamond(); double area() const override; char d; };
        struct Nearly { virtual void nearly(); };
        struct Shares : virtual Nearly { int s; };
        struct Two : Empty { Empty e; };
        struct Three : Empty, Two { char c; };
        struct Tail : Named { char t; };
        void use(Circle &, Diamond *, Tail, Three &, Shares *);
        }
        """,
        """
        namespace geo {
        Shape::Shape() {} Shape::~Shape() {} void Shape::move(int, int) {} int Shape::count;
        Named::Named() {} int Other::other() { return 0; }
        Circle::Circle(double) {} Circle::~Circle() {} double Circle::area() const { return 0; }
        int Circle::other() { return 0; } void Circle::last() {}
        void Left::left() {} Diamond::Diamond() {} double Diamond::area() const { return 0; }
        void Nearly::nearly() {}
        void use(Circle &, Diamond *, Tail, Three &, Shares *) {}
        }
        """,
    ),
    "templates and the standard library": (
        """
        #include <cstdint>
        #include <map>
        #include <memory>
        #include <string>
        #include <vector>
        namespace lib { inline namespace v2 {
        enum class Color : unsigned char { red, green };
        template <class T, int N = 3> struct Array { T items[N]; int used; };
        template <class T> struct Base { T value; virtual T get() const { return value; } virtual ~Base() {} };
        template <class T> struct Derived : Base<T> { T more; T get() const override { return more; } };
        template <Color C> struct Painted { int p; };
        template <class... T> struct Pack { int count = sizeof...(T); };
        template <class T> using Ref = T &;
        struct Holder {
          std::string text; std::vector<Array<int>> arrays; std::map<int, std::string> table;
          std::unique_ptr<Holder> next; Painted<Color::green> p; Pack<int, char *> pack; std::uint32_t bits;
          Derived<long> derived;
        };
        std::string use(const Holder &, Array<char, 5>, Ref<int>, std::nullptr_t, int Holder::*,
                        void (Holder::*)(int) const);
        } }
        """,
        """
        namespace lib { inline namespace v2 {
        std::string use(const Holder &, Array<char, 5>, Ref<int>, std::nullptr_t, int Holder::*,
                        void (Holder::*)(int) const)
        { return {}; }
        } }
        """,
    ),
    "instances whose bases depend on their arguments": (
        """
        namespace crtp {
        struct Plain { int p; };
        template <class Self> struct Common { Self *self() { return static_cast<Self *>(this); } };
        template <class Self> struct Counted : Common<Self> {};
        template <class T> struct Base {
          T value; virtual T get() const; virtual void set(const T &); virtual ~Base();
        };
        template <class T> struct Derived : Base<T>, Common<Derived<T>> {
          T more; T get() const override; virtual void put(const T &, Base<T> *);
        };
        template <class T, class U = int> struct Pair { T t; U u; };
        template <class T> struct Held : Plain, Pair<T>, Counted<Held<T>> { char c; };
        template <class T> struct Only : Pair<T, T> {};
        struct Holder { Derived<long> d; Held<short> h; Only<double> o; };
        void use(Holder &);
        }
        """,
        """
        namespace crtp { void use(Holder &) {} template struct Derived<long>; }
        """,
    ),
    "methods of every kind": (
        """
        struct Full {
          explicit Full(int); Full(const Full &) = delete; Full(Full &&) = default; ~Full();
          Full &operator=(const Full &) = delete;
          static int made(); int plain(); int constant() const; int both() const volatile; int left() &; int right() &&;
          operator bool() const; explicit operator int() const; Full &operator+=(int); bool operator()(int, ...);
          template <class T> T convert(T);
          void *operator new(decltype(sizeof 0)); [[noreturn]] void stop() noexcept;
          struct Inner { int i; Full *outer; }; enum Kind { one, two }; typedef Inner Alias; using Other = Kind;
          Alias a; Other o; static const int limit = 5; static thread_local int tls;
         protected:
          void hidden();
         private:
          int secret;
        };
        namespace { struct Local { int x; }; }
        struct Final final { int f; };
        struct alignas(16) Over { char c; };
        void use(Full::Inner &, Final, Over &);
        """,
        """
        Full::Full(int) {} Full::~Full() {} int Full::made() { return 0; } int Full::plain() { return 0; }
        int Full::constant() const { return 0; } int Full::both() const volatile { return 0; }
        int Full::left() & { return 0; } int Full::right() && { return 0; }
        Full::operator bool() const { return 0; } Full::operator int() const { return 0; }
        Full &Full::operator+=(int) { return *this; } bool Full::operator()(int, ...) { return 0; }
        void *Full::operator new(decltype(sizeof 0)) { return 0; } void Full::stop() noexcept { for (;;); }
        void Full::hidden() {} thread_local int Full::tls; const int Full::limit;
        void use(Full::Inner &, Final, Over &) {}
        """,
    ),
}
