"""The headers of the C++ library: parsed once for many readings, and kept between runs."""
