/* libdouble-conversion 4.3.0 -> 5.8.0: breaks. An inline constructor leaves unset what the library now reads. */
#include <cstring>
#include <new>

#include <double-conversion/double-conversion.h>

using double_conversion::DoubleToStringConverter;
using double_conversion::StringBuilder;

int main()
{
    alignas(16) static char memory[sizeof(DoubleToStringConverter)];
    std::memset(memory, 0x7f, sizeof memory);
    auto *converter = new (memory) DoubleToStringConverter(
        DoubleToStringConverter::EMIT_POSITIVE_EXPONENT_SIGN, "inf", "nan", 'e', -6, 21, 6, 0);
    char text[64];
    StringBuilder builder(text, sizeof text);
    if (!converter->ToExponential(1e7, 1, &builder))
        return 2;
    return std::strcmp(builder.Finalize(), "1.0e+7") != 0;
}
