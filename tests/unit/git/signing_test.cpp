#include "daemon/git/signing.hpp"

#include <sys/stat.h>

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

struct SigningFixture : GitFixture {
    /// A program that signs like gpg, and notes that it ran.
    std::string signer(const std::string& name) {
        write_file(dir / name,
                   "#!/bin/sh\ncat >/dev/null\n: >" + path(name + ".ran") +
                       "\nprintf '\\n[GNUPG:] SIG_CREATED D\\n' >&2\n"
                       "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'\n");
        ::chmod(path(name).c_str(), 0755);
        return path(name);
    }
    Result<std::string> make() {
        const auto sign = go(commit_settings(git, repo)).value().sign;
        return go(make_commit(git, repo, {"commit-tree", "HEAD^{tree}", "-F", "-"}, "made\n", sign));
    }
    bool is_signed(const std::string& commit) {
        return plain(repo, {"cat-file", "commit", commit}).find("\ngpgsig") != std::string::npos;
    }
    std::string repo = make_repo();
};

}  // namespace

TEST_CASE_METHOD(SigningFixture, "a commit is signed if the user's git would sign it, with the user's program") {
    CHECK_FALSE(is_signed(make().value()));
    plain(repo, {"config", "--global", "gpg.program", signer("mine")});
    plain(repo, {"config", "gpg.program", signer("theirs")});
    plain(repo, {"config", "gpg.openpgp.program", signer("theirs")});
    CHECK_FALSE(is_signed(make().value()));
    const std::string where = GENERATE("--global", "--local");
    plain(repo, {"config", where, "commit.gpgsign", "true"});
    CHECK(is_signed(make().value()));
    CHECK(std::filesystem::exists(path("mine.ran")));
    CHECK_FALSE(std::filesystem::exists(path("theirs.ran")));
}

TEST_CASE_METHOD(SigningFixture, "a commit that cannot be signed is an error of its own") {
    plain(repo, {"config", "--global", "commit.gpgsign", "true"});
    plain(repo, {"config", "--global", "gpg.program", "/bin/false"});
    const auto made = make();
    REQUIRE_FALSE(made);
    CHECK_FALSE(made.error().details.at("unsigned").empty());
    plain(repo, {"config", "--global", "gpg.format", "ssh"});
    plain(repo, {"config", "--global", "user.signingkey", path("no-key")});
    CHECK(make().error().details.contains("unsigned"));
}
