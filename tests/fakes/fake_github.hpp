#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/os_fixture.hpp"

namespace orange::test {

/// A folder for PATH with the stand-ins for gh and ssh, and what they know: `origin.git` in it is at the same time
/// git@github.com:acme/shop.git.
class FakeGitHub {
  public:
    explicit FakeGitHub(std::filesystem::path folder) : folder_(std::move(folder)) {
        namespace fs = std::filesystem;
        fs::create_directories(folder_ / "gh-state");
        fs::create_directories(folder_ / "ssh-root/acme");
        for (const char* program : {"gh", "ssh"}) {
            fs::copy_file(fs::path(ORANGE_SOURCE_DIR) / "tests/fakes" / program, folder_ / program,
                          fs::copy_options::overwrite_existing);
        }
        write_file(state("origin"), origin().string());
        write_file(state("repository"), "github.com/acme/shop");
        write_file(state("calls"), "");
        write_file(state("prs"), "");
    }
    std::filesystem::path origin() const { return folder_ / "ssh-root/acme/shop.git"; }
    std::filesystem::path state(const std::string& file) const { return folder_ / "gh-state" / file; }
    std::filesystem::path refuse_ssh() const { return folder_ / "ssh-root/refused"; }
    std::string prs() const { return read_file(state("prs")); }
    void remove_gh() const { std::filesystem::remove(folder_ / "gh"); }
    static constexpr const char* k_url = "git@github.com:acme/shop.git";

  private:
    std::filesystem::path folder_;
};

}  // namespace orange::test
