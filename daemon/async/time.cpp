#include "daemon/async/time.hpp"

namespace orange::async {
namespace {

const Time*& source_of_time() {
    static const Time machine;
    static const Time* source = &machine;
    return source;
}

}  // namespace

Timestamp Time::now() const {
    return SystemClock().now();
}

Moment Time::steady_now() const {
    return std::chrono::steady_clock::now();
}

const Time& time() {
    return *source_of_time();
}

void set_time(const Time& source) {
    source_of_time() = &source;
}

}  // namespace orange::async
