#include "daemon/forge/forge.hpp"
#include "tests/catch.hpp"
#include "tests/facts.hpp"

using namespace orange;
using namespace orange::test;

TEST_CASE("A remote's URL in any of git's forms names the repository at GitHub") {
    for (const char* url : {"git@github.com:acme/shop.git", "git@github.com:acme/shop", "github.com:acme/shop.git",
                            "https://github.com/acme/shop", "https://github.com/acme/shop.git/",
                            "https://user:token@github.com/acme/shop", "ssh://git@github.com/acme/shop.git",
                            "ssh://git@ssh.github.com:443/acme/shop.git", "git://github.com/acme/shop.git",
                            "https://GitHub.com:443/acme/shop\n", "https://www.github.com/acme/shop"}) {
        INFO(url);
        const auto place = place_of_remote(url).value();
        CHECK(place.forge == &k_github);
        CHECK(place.text() == "github.com/acme/shop");
    }
    CHECK(place_of_remote("git@octo.ghe.com:a_b/c.d.git").value().text() == "octo.ghe.com/a_b/c.d");
}

TEST_CASE("Another host is GitHub only if the project says so") {
    for (const char* url : {"git@git.example.org:a_b/c.d.git", "https://git.example.org/a_b/c.d"}) {
        CHECK(place_of_remote(url).value().forge == nullptr);
        const auto told = place_of_remote(url, &k_github).value();
        CHECK(told.forge == &k_github);
        CHECK(told.text() == "git.example.org/a_b/c.d");
    }
    CHECK(place_of_remote("https://ghe/a/b", &k_github).value().text() == "ghe/a/b");
}

TEST_CASE("What is at no GitHub is another place, whatever it looks like") {
    for (const char* url : {"", "/srv/git/shop.git", "../shop", "file:///srv/git/shop.git", "git@work:acme/shop.git",
                            "git@-oProxyCommand=x:a/b", "C:/a/b/c", "https://github.com.example.org/a/b",
                            "https://notgithub.com/a/b", "https://ghe.com/a/b"}) {
        INFO(url);
        const auto place = place_of_remote(url).value();
        CHECK(place.forge == nullptr);
        CHECK((place.host + place.path).empty());
    }
}

TEST_CASE("A URL at GitHub that names no repository is refused, and no password is repeated") {
    for (const char* url : {"https://github.com/shop", "https://secret@github.com/a/b/c", "git@github.com:-x/shop",
                            "git@github.com:../shop", "https://github.com/a/b c"}) {
        INFO(url);
        const auto refused = place_of_remote(url);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.error().message, Tells("git remote set-url origin"));
        CHECK_THAT(refused.error().message, !Holds("secret"));
    }
    const auto alias = place_of_remote("git@work:acme/shop.git", &k_github);
    REQUIRE_FALSE(alias);
    CHECK_THAT(alias.error().message, Tells("ssh"));
}
