#include "daemon/git/clash.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tests/catch.hpp"
#include "tests/unit/git/git_fixture.hpp"
#include "tests/unit/git/random_histories.hpp"

using namespace orange;
using namespace orange::git;
using namespace orange::test;

namespace {

/// The state in which `git merge --no-commit` leaves a checkout.
struct RealMerge {
    int status = -1;
    std::map<std::string, std::int64_t> files;  ///< those that are not merged, and the places marked in them
};

/// Two commits, or three, that a test has names for.
struct ClashFixture : GitFixture {
    ClashFixture() : repo(make_repo()), checkout(path("checkout")) {
        // The user's own files have other attributes than the branches.
        write_file(repo + "/.gitattributes", "* merge=union\n");
    }

    void import(const std::string& stream) {
        write_file(dir / "stream", stream);
        shell(repo, "git fast-import --quiet <\"$1\"", {path("stream")});
        plain(repo, {"worktree", "add", "-q", "--detach", checkout, "main"});
    }

    Completed shell(const std::string& where, const std::string& script, std::vector<std::string> words) {
        Command command;
        command.argv = {"sh", "-euc", script, "sh"};
        command.argv.insert(command.argv.end(), words.begin(), words.end());
        command.cwd = where;
        command.env = environment();
        return go(runner.run(std::move(command))).value();
    }

    /// Merges as a person does, in a checkout of `ours`.
    RealMerge merge(const std::string& ours, const std::string& theirs) {
        const auto done = shell(checkout,
                                R"(rm -f "$(git rev-parse --git-dir)/index.lock"
                                   git reset -q --hard "$1"
                                   git clean -ffdxq
                                   status=0
                                   git merge -q --no-commit --no-ff "$2" >/dev/null 2>&1 || status=$?
                                   printf '%s\0' $status
                                   git ls-files -u -z)",
                                {ours, theirs});
        RealMerge real;
        if (!done.ok()) throw std::runtime_error(done.err);
        for (const auto entry : split(done.out, '\0')) {
            if (real.status < 0) {
                real.status = std::stoi(std::string(entry));
            } else if (const auto tab = entry.find('\t'); tab != entry.npos) {
                const std::string file(entry.substr(tab + 1));
                real.files[own_path(file, {"HEAD", theirs})] = marks_in(std::filesystem::path(checkout) / file);
            }
        }
        return real;
    }

    /// A file that is in the way of a folder is put beside it, with the name of its side.
    static std::string own_path(const std::string& file, const std::vector<std::string>& sides) {
        for (const auto& side : sides) {
            if (const auto end = file.rfind("~" + side); end != std::string::npos) return file.substr(0, end);
        }
        return file;
    }

    static std::int64_t marks_in(const std::filesystem::path& file) {
        if (std::filesystem::symlink_status(file).type() != std::filesystem::file_type::regular) return 0;
        return std::ranges::count_if(split_lines(read_file(file)),
                                     [](std::string_view line) { return line.starts_with("<<<<<<<"); });
    }

    Result<std::vector<ClashFile>> forecast(const std::string& ours, const std::string& theirs) {
        MergeRequest place;
        place.repo = repo;
        place.scratch = path("scratch");
        Trials trials(git, place);
        go(trials.begin(ours)).value();
        return go(trials.clash(ours, theirs));
    }

    ChangedPaths since(const std::string& from, const std::string& to) {
        return go(changed_paths(git, repo, from, to)).value();
    }
    bool may_meet_since(const std::string& from, const std::string& ours, const std::string& theirs) {
        return may_meet(since(from, ours), since(from, theirs));
    }

    /// Compares a forecast with what git does then. Returns the result of git.
    RealMerge compare(const std::string& ours, const std::string& theirs) {
        auto real = merge(ours, theirs);
        const auto known = forecast(ours, theirs);
        CAPTURE(real.status);
        if (real.status > 1) return real;  // an assertion of git's own has failed
        REQUIRE(known);
        CHECK((real.status == 1) == !known->empty());
        std::map<std::string, std::int64_t> said;
        for (const auto& file : *known) said[file.path] = file.hunks;
        // Git refuses some merges without a file that is not merged.
        if (real.files.empty()) return real;
        for (auto& [file, marks] : real.files) {
            if (file.find('\n') != std::string::npos) marks = said[file] = 0;  // not counted
        }
        CHECK(said == real.files);
        return real;
    }

    void compare_histories(std::uint64_t seed, int count) {
        RandomHistories histories(seed);
        for (int i = 0; i < count; ++i) histories.add(i);
        import(histories.stream());
        std::map<std::string, std::string> commits;
        const auto refs = plain(repo, {"for-each-ref", "--format=%(refname:short) %(objectname)"});
        for (const auto line : split_lines(refs)) {
            const auto words = split(line, ' ');
            commits.emplace(words.front(), words.back());
        }
        for (int i = 0; i < count; ++i) {
            const auto name = std::to_string(i) + "/";
            const auto ours = commits.at(name + "ours"), theirs = commits.at(name + "theirs");
            const auto target = commits.at(name + "target");
            const auto base = plain(repo, {"merge-base", "--octopus", ours, theirs, target});
            for (const auto& [into, from] : {std::pair(ours, theirs), std::pair(target, ours)}) {
                CAPTURE(seed, i, into == target);
                const auto real = compare(into, from);
                const bool meet = may_meet_since(base, into, from);
                if (real.status == 1) CHECK(meet);
                conflicts += real.status == 1 ? 1 : 0;
                merged += real.status == 0 ? 1 : 0;
                left_out += meet ? 0 : 1;
            }
        }
        CHECK_FALSE(std::filesystem::exists(path("scratch")));
    }

    std::string repo, checkout;
    int conflicts = 0, merged = 0, left_out = 0;
};

}  // namespace

TEST_CASE_METHOD(ClashFixture, "A forecast is what git merge then does, in a few random histories") {
    compare_histories(1, 12);
    CHECK(conflicts > 2);
    CHECK(merged > 2);
}

TEST_CASE_METHOD(ClashFixture, "A forecast is what git merge then does, in 200 random histories", "[slow]") {
    compare_histories(2, 200);
    CHECK(conflicts > 60);
    CHECK(merged > 100);
    CHECK(left_out > 40);
}

TEST_CASE_METHOD(ClashFixture, "A forecast follows what the repository says of merges", "[slow]") {
    const auto settings = GENERATE(
        std::vector<std::string>{"merge.directoryRenames", "true"},
        std::vector<std::string>{"merge.directoryRenames", "false"}, std::vector<std::string>{"merge.renames", "false"},
        std::vector<std::string>{"merge.conflictStyle", "zdiff3"}, std::vector<std::string>{"color.grep", "always"},
        std::vector<std::string>{"grep.patternType", "fixed"}, std::vector<std::string>{"submodule.recurse", "true"});
    plain(repo, {"config", settings[0], settings[1]});
    CAPTURE(settings[0], settings[1]);
    compare_histories(3, 12);
}

TEST_CASE_METHOD(ClashFixture, "What is tried for a forecast leaves nothing in the repository") {
    commit(repo, "file", "1\n2\n3\n");
    plain(repo, {"branch", "other"});
    const auto ours = commit(repo, "file", "1\nours\n3\n");
    plain(repo, {"checkout", "-q", "other"});
    const auto theirs = commit(repo, "file", "1\ntheirs\n3\n");
    const auto before = everything(repo);
    const auto files = forecast(ours, theirs).value();
    REQUIRE(files.size() == 1);
    CHECK(files[0].path == "file");
    CHECK(files[0].hunks == 1);
    CHECK(everything(repo) == before);
}

TEST_CASE_METHOD(ClashFixture, "A merge is tried in a repository whose path has signs that git gives a meaning") {
    repo = make_repo("a:b \"c\" \\d");
    commit(repo, "file", "1\n2\n3\n");
    plain(repo, {"branch", "other"});
    const auto ours = commit(repo, "file", "1\nours\n3\n");
    plain(repo, {"checkout", "-q", "other"});
    const auto theirs = commit(repo, "file", "1\ntheirs\n3\n");
    CHECK(forecast(ours, theirs).value() == std::vector<ClashFile>{{"file", 1}});
}

TEST_CASE_METHOD(ClashFixture, "A file that is added to a folder whose folders were moved is a clash") {
    commit(repo, "lib/core/file", "1\n2\n3\n4\n");
    plain(repo, {"branch", "other"});
    plain(repo, {"mv", "lib", "moved"});
    plain(repo, {"commit", "-qm", "move"});
    const auto ours = plain(repo, {"rev-parse", "HEAD"});
    plain(repo, {"checkout", "-q", "other"});
    const auto theirs = commit(repo, "lib/added", "it\n");
    plain(repo, {"worktree", "add", "-q", "--detach", checkout, "main"});
    CHECK(compare(ours, theirs).status == 1);
    CHECK(may_meet_since("other~", ours, theirs));
    CHECK(may_meet_since("other~", theirs, ours));
}

TEST_CASE_METHOD(ClashFixture, "A file that is added to a folder that was split is a clash that names it") {
    for (const auto* file : {"d/1", "d/2", "d/3", "d/4"}) commit(repo, file, std::string(file) + "\nb\nc\nd\ne\n");
    plain(repo, {"branch", "other"});
    for (const auto* half : {"x", "y"}) std::filesystem::create_directory(repo + "/" + half);
    plain(repo, {"mv", "d/1", "d/2", "x/"});
    plain(repo, {"mv", "d/3", "d/4", "y/"});
    plain(repo, {"commit", "-qm", "split"});
    const auto ours = plain(repo, {"rev-parse", "HEAD"});
    plain(repo, {"checkout", "-q", "other"});
    const auto theirs = commit(repo, "d/added", "it\n");
    plain(repo, {"worktree", "add", "-q", "--detach", checkout, "main"});
    const auto real = compare(ours, theirs);
    CHECK(real.status == 1);
    CHECK(real.files.empty());
    const auto files = forecast(ours, theirs).value();
    REQUIRE(files.size() == 1);
    CHECK(files[0] == ClashFile{"d", 0});
    CHECK(may_meet_since("other~", ours, theirs));
}

TEST_CASE_METHOD(ClashFixture, "A file that is in the way of a folder is named by its path") {
    commit(repo, "lib/file", "1\n2\n3\n4\n");
    plain(repo, {"branch", "other"});
    plain(repo, {"rm", "-q", "-r", "lib"});
    const auto ours = commit(repo, "lib", "a file\n");
    plain(repo, {"checkout", "-q", "other"});
    const auto theirs = commit(repo, "lib/file", "1\n2\nchanged\n4\n");
    plain(repo, {"worktree", "add", "-q", "--detach", checkout, "main"});
    CHECK(compare(ours, theirs).files == std::map<std::string, std::int64_t>{{"lib", 0}, {"lib/file", 0}});
    CHECK(compare(theirs, ours).files == std::map<std::string, std::int64_t>{{"lib", 0}, {"lib/file", 0}});
}

TEST_CASE_METHOD(ClashFixture, "Branches that have no path in common do not meet") {
    commit(repo, "src/a", "1\n");
    plain(repo, {"branch", "other"});
    plain(repo, {"rm", "-q", "README"});
    const auto ours = commit(repo, "src/a", "2\n");
    plain(repo, {"checkout", "-q", "other"});
    commit(repo, "added", "in the same folder as README\n");
    const auto theirs = commit(repo, "src/b", "beside a\n");
    CHECK_FALSE(may_meet_since("other~2", ours, theirs));
    CHECK(forecast(ours, theirs).value().empty());
    CHECK(may_meet_since("other~2", ours, ours));
}

TEST_CASE_METHOD(ClashFixture, "A branch with too many changes may meet every other one") {
    const auto from = plain(repo, {"rev-parse", "HEAD"});
    for (std::size_t i = 0; i <= k_most_changed_paths; ++i) write_file(dir / "repo/many" / std::to_string(i), "x");
    plain(repo, {"add", "many"});
    plain(repo, {"commit", "-qm", "many"});
    const auto many = since(from, "HEAD");
    CHECK(many.all);
    CHECK(many.paths.empty());
    CHECK(may_meet(many, ChangedPaths()));
    CHECK(common_paths(many, many).empty());
}

TEST_CASE_METHOD(ClashFixture, "The paths of a worktree that are not committed have those that git does not know yet") {
    commit(repo, "changed", "1\n");
    commit(repo, "removed", "1\n");
    plain(repo, {"worktree", "add", "-q", "--detach", checkout, "main"});
    write_file(std::filesystem::path(checkout) / "changed", "2\n");
    write_file(std::filesystem::path(checkout) / "new/in a folder", "1\n");
    write_file(std::filesystem::path(checkout) / "added", "1\n");
    plain(checkout, {"add", "added"});
    std::filesystem::remove(std::filesystem::path(checkout) / "removed");
    const auto paths = go(uncommitted_paths(git, at(checkout))).value().paths;
    CHECK(paths == std::vector<std::string>{"added", "changed", "new/in a folder", "removed"});
}
