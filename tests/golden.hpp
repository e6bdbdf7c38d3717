#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.hpp"

/// What goes to disk and over the wire, byte for byte as it is in tests/data/golden. What differs is kept in the build
/// tree's golden/, to be looked at, and to be copied over the old one if the change is meant.
namespace orange {

inline void check_golden(const std::string& name, const std::string& text) {
    namespace fs = std::filesystem;
    std::ifstream in(fs::path(ORANGE_SOURCE_DIR) / "tests/data/golden" / name, std::ios::binary);
    const std::string golden{std::istreambuf_iterator<char>(in), {}};
    const bool same = text == golden;
    if (!same) {
        const auto folder = fs::path(ORANGE_BINARY_DIR) / "golden";
        fs::create_directories(folder);
        std::ofstream(folder / name, std::ios::binary) << text;
    }
    INFO("diff tests/data/golden/" + name + " " ORANGE_BINARY_DIR "/golden/" + name);
    CHECK(same);
}

}  // namespace orange
