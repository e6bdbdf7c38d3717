#include "common/config/paths.hpp"

#include <cstdlib>

#include "common/config/home_check.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

/// Sets a variable for a test's length.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old, had_ = true;
        if (value) {
            ::setenv(name, value, 1);
        } else {
            ::unsetenv(name);
        }
    }
    ~Variable() {
        if (had_) {
            ::setenv(name_, old_.c_str(), 1);
        } else {
            ::unsetenv(name_);
        }
    }

  private:
    const char* name_;
    std::string old_;
    bool had_ = false;
};

}  // namespace

TEST_CASE("ORANGE_HOME says where everything is") {
    const Variable home("ORANGE_HOME", "/srv/x/../orange");
    const auto paths = paths_from_environment();
    REQUIRE(paths);
    CHECK(paths->home == "/srv/orange");
    CHECK(paths->socket() == "/srv/orange/orange.sock");
    CHECK(paths->tasks() == "/srv/orange/tasks");
}

TEST_CASE("A relative ORANGE_HOME is refused, since every command would mean another one") {
    const Variable home("ORANGE_HOME", "here");
    const auto paths = paths_from_environment();
    REQUIRE_FALSE(paths);
    CHECK_THAT(paths.error().message, Tells("absolute"));
}

TEST_CASE("Without ORANGE_HOME it is ~/orange, by HOME alone") {
    const Variable none("ORANGE_HOME", nullptr);
    {
        const Variable home("HOME", "/home/x");
        CHECK(paths_from_environment()->home == "/home/x/orange");
    }
    const Variable home("HOME", nullptr);
    const auto paths = paths_from_environment();
    REQUIRE_FALSE(paths);
    CHECK_THAT(paths.error().message, Tells("HOME") && Tells("ORANGE_HOME"));
}

TEST_CASE("A slash at the end of ORANGE_HOME is not part of it") {
    for (const char* given : {"/srv/orange/", "/srv/orange//", "/srv/orange/."}) {
        const Variable home("ORANGE_HOME", given);
        CHECK(paths_from_environment()->home == "/srv/orange");
    }
}

TEST_CASE("The socket of tmux moves where its path would be too long, to the same place each time") {
    const Paths near{"/srv/orange"};
    CHECK(near.tmux_socket() == "/srv/orange/tmux.sock");
    const Paths far{"/srv/" + std::string(120, 'x')}, other{"/srv/" + std::string(121, 'x')};
    CHECK(far.tmux_socket().string().starts_with("/tmp/orange-"));
    CHECK(far.tmux_socket().string().size() < 100);
    CHECK(far.tmux_socket() == Paths{far.home}.tmux_socket());
    CHECK(far.tmux_socket() != other.tmux_socket());
    const Paths just{"/" + std::string(107 - 1 - 10, 'x')};
    CHECK(just.tmux_socket().string().size() == 107);
}

TEST_CASE("a home whose path has a line break is refused before it is made") {
    const auto refused = make_home("/tmp/orange-no\nhome");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::invalid_argument);
    CHECK_FALSE(std::filesystem::exists("/tmp/orange-no\nhome"));
}
