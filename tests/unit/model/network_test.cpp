#include "common/model/network.hpp"

#include <string>

#include "common/model/fields.hpp"
#include "common/model/settings.hpp"
#include "tests/catch.hpp"

using namespace orange;

namespace {

/// Returns the setting as it is kept; "!" for one that is refused.
std::string kept(const Json& value) {
    ProjectSettings settings;
    const auto done = set_setting(settings, "network", value);
    CHECK(done.has_value() == settings.network.has_value());
    return settings.network.value_or("!");
}

NetworkPlace only_place(const std::string& text) {
    const auto network = network_in(text).value();
    REQUIRE(network.places.size() == 1);
    return network.places.front();
}

}  // namespace

TEST_CASE("A network is full, none, or a list of places, as a text or as a list") {
    CHECK(kept("full") == "full");
    CHECK(kept(" none ") == "none");
    CHECK(kept("api.example.org") == "api.example.org");
    CHECK(kept("api.example.org, .Example.NET:8443") == "api.example.org .example.net:8443");
    CHECK(kept({"a.example.org", "10.1.2.0/24", "a.example.org"}) == "a.example.org 10.1.2.0/24");
    CHECK(kept({"[fd00::1]:443", "[fd00::]/8"}) == "[fd00::1]:443 [fd00::]/8");
    CHECK(kept({"none"}) == "none");
    CHECK(effective({}, {}).network == "full");
    CHECK_FALSE(network_in("full")->is_limited());
    CHECK(network_in("none")->is_limited());
    CHECK(network_in("localhost")->is_limited());
}

TEST_CASE("A place of a network is a name or an address, perhaps with a port") {
    CHECK(only_place("api.example.org") == NetworkPlace{"api.example.org", {}, false});
    CHECK(only_place("my_host-1:22") == NetworkPlace{"my_host-1", 22, false});
    CHECK(only_place("127.0.0.1:8080") == NetworkPlace{"127.0.0.1", 8080, true});
    CHECK(only_place("[::1]") == NetworkPlace{"::1", {}, true});
    CHECK(only_place("[fd00::]/8") == NetworkPlace{"fd00::/8", {}, true});
}

TEST_CASE("A network that nobody can mean is refused, and keeps nothing") {
    for (const char* bad : {"",
                            ",",
                            "full none",
                            "api.example.org none",
                            "*.example.org",
                            "https://api.example.org",
                            "a..b",
                            "-a.org",
                            "a-.org",
                            "a/b",
                            "1.2.3",
                            "127.1",
                            "0x7f.1",
                            "2130706433",
                            "10.0.0.0/33",
                            "10.0.0.0/",
                            "host:0",
                            "host:65536",
                            "host:",
                            "host:http",
                            "fd00::1",
                            "[fd00::1",
                            "[]",
                            "[api.example.org]",
                            "[10.1.2.3]",
                            "a b;c",
                            "user@host",
                            "a.example.org.",
                            ".",
                            "..org",
                            "h\nttp_access"}) {
        INFO(bad);
        CHECK(kept(bad) == "!");
    }
    CHECK(kept(Json::array()) == "!");
    CHECK(kept({1, 2}) == "!");
    CHECK(kept(7) == "!");
    CHECK(kept(std::string(64, 'a') + ".org") == "!");
    std::string many;
    for (int i = 0; i < 201; ++i) many += "h" + std::to_string(i) + " ";
    CHECK(kept(many) == "!");
}
