// Makes oranged-timed of the objects of oranged: the daemon whose time a test advances. It adds to the machine's time
// the milliseconds that the file ORANGE_TEST_TIME holds, a 64-bit number that the test may change at any moment.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/support/advanced_time.hpp"

namespace {

const std::atomic<std::int64_t>& time_of_test() {
    const char* file = std::getenv("ORANGE_TEST_TIME");
    const int descriptor = file ? ::open(file, O_RDONLY | O_CLOEXEC) : -1;
    void* page = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED) {
        std::fputs("oranged-timed: ORANGE_TEST_TIME names no file that can be read\n", stderr);
        std::_Exit(2);
    }
    ::close(descriptor);
    return *static_cast<const std::atomic<std::int64_t>*>(page);
}

/// Set before main() begins: main() is the product's.
const orange::test::AdvancedTime advanced(time_of_test());
[[maybe_unused]] const bool is_set = (orange::async::set_time(advanced), true);

}  // namespace
