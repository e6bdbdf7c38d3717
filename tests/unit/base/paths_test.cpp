#include "common/config/paths.hpp"

#include <cstdlib>

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
    CHECK(paths.error().message.find("absolute") != std::string::npos);
}

TEST_CASE("Without ORANGE_HOME it is ~/orange, by HOME or by the password database") {
    const Variable none("ORANGE_HOME", nullptr);
    {
        const Variable home("HOME", "/home/x");
        CHECK(paths_from_environment()->home == "/home/x/orange");
    }
    const Variable home("HOME", nullptr);
    const auto paths = paths_from_environment();
    REQUIRE(paths);
    CHECK(paths->home.is_absolute());
    CHECK(paths->home.filename() == "orange");
}
