#include "daemon/workflow/library.hpp"

#include "common/base/sha256.hpp"
#include "common/base/text.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/memory_file_system.hpp"

using namespace orange;
using orange::fakes::MemoryFileSystem;
using workflow::Library;

namespace {

const std::string k_small =
    "name: small\nversion: 1\nstates: {pending: {}, done: {terminal: true}}\n"
    "transitions:\n  - {from: pending, to: done}\n";

std::string with_comment(const std::string& comment) {
    return k_small + "# " + comment + "\n";
}

struct LibraryWorld {
    MemoryFileSystem files;
    Library library{files, "/share/workflows", "/home/workflows"};

    LibraryWorld() { files.files["/share/workflows/small.yml"] = k_small; }
};

}  // namespace

TEST_CASE("a user's workflow wins over the shipped one of that name, and its removal brings that back") {
    LibraryWorld world;
    CHECK((*world.library.find("small"))->hash == sha256(k_small));
    world.files.files["/home/workflows/small.yml"] = with_comment("mine");
    CHECK((*world.library.find("small"))->hash == sha256(with_comment("mine")));
    CHECK(*world.library.text("small") == with_comment("mine"));
    world.files.files.erase("/home/workflows/small.yml");
    CHECK((*world.library.find("small"))->hash == sha256(k_small));
}

TEST_CASE("the same text is not read into a second definition") {
    LibraryWorld world;
    CHECK(*world.library.find("small") == *world.library.find("small"));
}

TEST_CASE("an unknown name lists what there is, and no name leads out of the folders") {
    LibraryWorld world;
    world.files.files["/share/secret.yml"] = k_small;
    CHECK_THAT(world.library.find("smal").error().message, Tells("\"smal\"") && Tells("small"));
    for (const auto* name : {"../secret", "", ".pinned", "a/b", "Small"}) {
        CHECK(world.library.find(name).error().code == ErrorCode::not_found);
    }
}

TEST_CASE("an edit that does not validate leaves the last good one in force, and says so") {
    LibraryWorld world;
    const auto path = Path("/home/workflows/small.yml");
    world.files.files[path] = with_comment("good");
    const auto good = *world.library.find("small");
    world.files.files[path] = "name: small\nversion: 2\n";
    CHECK(*world.library.find("small") == good);
    const auto entries = world.library.list();
    REQUIRE(entries.size() == 1);
    CHECK_FALSE(entries[0].valid);
    CHECK_FALSE(entries[0].shipped);
    CHECK_THAT(entries[0].problem, Catch::StartsWith("/home/workflows/small.yml:1:1: ") && Tells("\"states\""));
    CHECK(*world.library.pin("small") == good->hash);
    CHECK(world.files.files.at("/home/workflows/.pinned/" + good->hash + ".yml") == with_comment("good"));

    Library restarted(world.files, "/share/workflows", "/home/workflows");
    const auto after = restarted.find("small");
    REQUIRE_FALSE(after);
    CHECK(after.error().code == ErrorCode::workflow_invalid);
    CHECK_THAT(after.error().message, Tells("small.yml:2:10: version"));

    world.files.files[path] = with_comment("repaired");
    CHECK((*world.library.find("small"))->hash == sha256(with_comment("repaired")));
    CHECK(world.library.list()[0].valid);
}

TEST_CASE("a file that cannot be read just now does not take the workflow away") {
    LibraryWorld world;
    const auto before = *world.library.find("small");
    world.files.failures["/home/workflows/small.yml"] = {ErrorCode::io, "reading: Input/output error"};
    CHECK(*world.library.find("small") == before);
    CHECK_THAT(world.library.list()[0].problem, Holds("Input/output error"));
    world.files.failures.clear();
    CHECK(*world.library.find("small"));
    CHECK(world.library.list()[0].valid);
}

TEST_CASE("a pinned definition outlives every edit of its file") {
    LibraryWorld world;
    const auto hash = *world.library.pin("small");
    const int writes = world.files.writes;
    CHECK(*world.library.pin("small") == hash);
    CHECK(world.files.writes == writes);
    world.files.files["/share/workflows/small.yml"] = with_comment("new");

    Library restarted(world.files, "/share/workflows", "/home/workflows");
    CHECK((*restarted.pinned("small", hash))->hash == hash);
    CHECK((*restarted.pinned("small", ""))->hash == sha256(with_comment("new")));
    CHECK(restarted.list().size() == 1);
}

TEST_CASE("a definition that an older version pinned is found under its old name, pinned or current") {
    LibraryWorld world;
    const auto old = fast_hash(k_small);
    CHECK((*world.library.pinned("small", old))->hash == sha256(k_small));
    world.files.files["/home/workflows/.pinned/" + old + ".yml"] = k_small;
    world.files.files["/share/workflows/small.yml"] = with_comment("new");
    Library restarted(world.files, "/share/workflows", "/home/workflows");
    CHECK((*restarted.pinned("small", old))->hash == sha256(k_small));
    world.files.files["/home/workflows/.pinned/" + old + ".yml"] += "# by hand\n";
    Library later(world.files, "/share/workflows", "/home/workflows");
    CHECK(later.pinned("small", old).error().code == ErrorCode::workflow_invalid);
}

TEST_CASE("a pinned definition that is gone or was changed is an error that says what to do") {
    LibraryWorld world;
    const auto hash = *world.library.pin("small");
    const Path pin = "/home/workflows/.pinned/" + hash + ".yml";
    world.files.files["/share/workflows/small.yml"] = with_comment("new");
    Library restarted(world.files, "/share/workflows", "/home/workflows");
    world.files.files[pin] += "# by hand\n";
    CHECK(restarted.pinned("small", hash).error().code == ErrorCode::workflow_invalid);
    world.files.files.erase(pin);
    CHECK(restarted.pinned("small", hash).error().code == ErrorCode::not_found);
    CHECK_THAT(restarted.pinned("small", hash).error().message, Tells("orange task update --workflow small"));
    CHECK(restarted.pinned("small", "../../etc/x").error().code == ErrorCode::invalid_argument);
    world.files.files["/share/workflows/small.yml"] = k_small;
    CHECK((*restarted.pinned("small", hash))->hash == hash);
}

TEST_CASE("pinning that cannot be written is an error") {
    LibraryWorld world;
    world.files.failures["/home/workflows/.pinned/" + sha256(k_small) + ".yml"] = {ErrorCode::io, "No space left"};
    CHECK(world.library.pin("small").error().code == ErrorCode::io);
}
