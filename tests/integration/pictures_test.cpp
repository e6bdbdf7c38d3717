// The pictures of the documentation, made again.
#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/integration/sandbox.hpp"

using namespace orange;
using namespace orange::tests;
namespace fs = std::filesystem;

TEST_CASE("scripts/pictures makes the pictures of the documentation again, byte for byte", "[soak]") {
    Sandbox box;
    const auto folder = box.root() / "pictures", committed = fs::path(ORANGE_SOURCE_DIR) / "docs/pictures";
    box.run({"/usr/bin/python3", ORANGE_SOURCE_DIR "/scripts/pictures", ORANGE_BINARY_DIR "/bin", folder.string()});
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(committed)) {
        INFO(entry.path());
        CHECK(read_file(folder / entry.path().filename()) == read_file(entry.path()));
        ++count;
    }
    CHECK(count == static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator())));
}
