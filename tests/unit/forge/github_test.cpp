// GitHubForge, with the stand-in for gh. Tests with the tag [github] also run with the real gh (scripts/test-github).
#include "daemon/forge/github_forge.hpp"
#include "daemon/forge/opening.hpp"
#include "tests/catch.hpp"
#include "tests/fakes/github/fake_github.hpp"
#include "tests/unit/git/git_fixture.hpp"

using namespace orange;
using namespace orange::test;

namespace {

const ForgePlace k_shop{&k_github, "github.com", "acme/shop"};

/// A repository whose branch `topic` is at a GitHub.
struct GitHubFixture : GitFixture {
    GitHubFixture() : fake(dir / "programs"), repo(make_repo()) {
        make_origin(repo, "programs/ssh-root/acme/shop.git");
        plain(repo, {"switch", "-qc", "topic"});
        tip = commit(repo, "topic.txt", "new\n");
        plain(repo, {"push", "-q", "origin", "topic"});
        renew();
    }
    void renew(const Environment& more = {}, GitHubPatience patience = {}) {
        auto env = environment();
        env["PATH"] = (dir / "programs").string() + ":" + env["PATH"];
        env["GH_REPO"] = "somebody/else";
        for (const auto& [name, value] : more) env[name] = value;
        github.emplace(runner, env, patience);
    }
    static NewPullRequest request() {
        NewPullRequest asked;
        asked.place = k_shop;
        asked.base = "main";
        asked.head = "topic";
        asked.title = "Add a topic";
        asked.body = "The body.\n";
        return asked;
    }
    Result<PullRequest> open(NewPullRequest asked = request()) {
        auto opened = go(forge::open_pull_request(*github, std::move(asked), tip));
        if (!opened) return opened.error();
        adopted = opened->adopted;
        return opened->pull;
    }
    Result<PullAnswers> look(std::vector<WantedPull> wanted) {
        return go(github->query_pulls(k_shop, std::move(wanted)));
    }
    std::vector<PullRequest> of_branch(const std::string& branch) {
        auto looked = look({{0, branch}});
        return std::move(looked.value().answers.at(0).value());
    }
    PullRequest numbered(std::int64_t number) {
        auto looked = look({{number, ""}});
        return looked.value().answers.at(0).value().at(0);
    }
    Result<void> merge(std::int64_t number, const std::string& commit, PullMethod method = PullMethod::merge) {
        return go(github->merge(k_shop, number, commit, method));
    }
    std::string origin_ref(const std::string& branch) { return ref(fake.origin().string(), "refs/heads/" + branch); }
    std::string push_branch(const std::string& name, const std::string& file) {
        plain(repo, {"switch", "-qc", name, "main"});
        const auto at = commit(repo, file, name + "\n");
        plain(repo, {"push", "-q", "origin", name});
        return at;
    }

    FakeGitHub fake;
    std::string repo;
    std::string tip;
    bool adopted = false;  ///< what was opened last
    std::optional<GitHubForge> github;
};

std::string why(const Error& error) {
    const auto found = error.details.find("why");
    return found == error.details.end() ? "" : found->second;
}

}  // namespace

TEST_CASE_METHOD(GitHubFixture, "A pull request is opened once, and then found", "[github]") {
    const auto first = open().value();
    CHECK(first.number == 1);
    CHECK(first.url == "https://github.com/acme/shop/pull/1");
    CHECK(first.commit == tip);
    CHECK(first.branch == "topic");
    CHECK(first.base == "main");
    CHECK_FALSE(first.draft);
    CHECK_FALSE(adopted);
    const auto second = open().value();
    CHECK(second == first);
    CHECK(adopted);
    CHECK(ref(fake.origin().string(), "refs/pull/1/head") == tip);
    CHECK(fake.prs() == "1|topic|OPEN|false\n");
    CHECK(fake.pull(1).at("title") == "Add a topic");
    CHECK(fake.pull(1).at("base") == "main");
    CHECK(fake.pull(1).at("body") == "The body.\n");
}

TEST_CASE_METHOD(GitHubFixture, "A draft is one", "[github]") {
    auto asked = request();
    asked.draft = true;
    CHECK(open(asked).value().draft);
}

TEST_CASE_METHOD(GitHubFixture, "Closed pull requests and those of forks are not the branch's", "[github]") {
    fake.set_state(fake.open("topic"), "CLOSED");
    fake.open("topic", "main", "stranger");
    CHECK(open().value().number == 3);
    const auto all = of_branch("topic");
    REQUIRE(all.size() == 2);
    CHECK(all[0].number == 3);
    CHECK(all[0].state == PullState::open);
    CHECK(all[1].number == 1);
    CHECK(all[1].state == PullState::closed);
    // One that was named is taken as it is.
    CHECK(numbered(2).state == PullState::open);
}

TEST_CASE_METHOD(GitHubFixture, "Strangers hide no pull request by opening many of the same name", "[github]") {
    fake.open("topic");
    for (int i = 0; i < 4; ++i) fake.open("topic", "main", "stranger");
    CHECK(of_branch("topic").at(0).number == 1);
    fake.open("topic", "main", "stranger");
    const auto looked = look({{0, "topic"}}).value();
    REQUIRE_FALSE(looked.answers.at(0));
    CHECK(why(looked.answers.at(0).error()) == "answer");
    CHECK(numbered(1).state == PullState::open);
}

TEST_CASE_METHOD(GitHubFixture, "A branch that is used again has its newest pull requests", "[github]") {
    for (int i = 0; i < 7; ++i) fake.set_state(fake.open("topic"), "CLOSED");
    const auto all = of_branch("topic");
    CHECK(all.size() == 5);
    CHECK(all.at(0).number == 7);
}

TEST_CASE_METHOD(GitHubFixture, "Of several open ones the one that is wanted is adopted", "[github]") {
    plain(repo, {"push", "-q", "origin", "main:release"});
    fake.open("topic", "main");
    fake.open("topic", "release");
    CHECK(open().value().number == 1);
    CHECK(fake.prs() == "1|topic|OPEN|false\n2|topic|OPEN|false\n");
}

TEST_CASE_METHOD(GitHubFixture, "One that somebody opens at the same moment is adopted", "[github]") {
    fake.race();
    CHECK(open().value().number == 1);
    CHECK(fake.prs() == "1|topic|OPEN|false\n");
    CHECK(fake.pull(1).at("title") != "Add a topic");
}

TEST_CASE_METHOD(GitHubFixture, "One whose answer got lost is found", "[github]") {
    fake.misbehave(Trouble::lost, "PullRequestCreate", 1);
    CHECK(open().value().number == 1);
    CHECK(fake.prs() == "1|topic|OPEN|false\n");
    CHECK(fake.pull(1).at("title") == "Add a topic");
}

TEST_CASE_METHOD(GitHubFixture, "One that exists is said to exist", "[github]") {
    fake.open("topic");
    const auto refused = go(github->create(request()));
    REQUIRE_FALSE(refused);
    CHECK(why(refused.error()) == "exists");
    CHECK(refused.error().code == ErrorCode::conflict);
}

TEST_CASE_METHOD(GitHubFixture, "A branch that is not at GitHub is told from one without commits", "[github][slow]") {
    auto asked = request();
    asked.head = "nowhere";
    const auto unpushed = open(asked);
    REQUIRE_FALSE(unpushed);
    CHECK(why(unpushed.error()) == "unpushed");
    plain(repo, {"push", "-q", "origin", "main:empty"});
    asked.head = "empty";
    const auto empty = open(asked);
    REQUIRE_FALSE(empty);
    CHECK(why(empty.error()) == "empty");
    CHECK(fake.prs().empty());
}

TEST_CASE_METHOD(GitHubFixture, "No text passes for an option or gets lost", "[github]") {
    auto hostile = request();
    SECTION("a leading dash") {
        hostile.title = "--web";
        hostile.body = "--fill\n";
    }
    SECTION("what a shell would run") {
        hostile.title = "$(touch x) `touch x` \"; touch x";
        hostile.body = "$(touch x)\n`touch x`\n";
    }
    SECTION("no text at all") {
        hostile.body.clear();
    }
    SECTION("a large body") {
        hostile.body = std::string(1 << 20, 'x');
    }
    REQUIRE(open(hostile));
    CHECK(fake.pull(1).at("title") == hostile.title);
    CHECK(fake.pull(1).at("body") == hostile.body);
}

TEST_CASE_METHOD(GitHubFixture, "Fifty branches are one question", "[github]") {
    open().value();
    push_branch("other", "other.txt");
    std::vector<WantedPull> wanted;
    for (int i = 0; i < 47; ++i) wanted.push_back({0, "none-" + std::to_string(i)});
    wanted.push_back({0, "topic"});
    wanted.push_back({1, "renamed"});
    wanted.push_back({0, "other"});
    const auto before = fake.requests().size();
    const auto looked = look(wanted).value();
    CHECK(fake.requests().size() == before + 1);
    REQUIRE(looked.answers.size() == 50);
    for (int i = 0; i < 47; ++i) CHECK(looked.answers[static_cast<std::size_t>(i)].value().empty());
    CHECK(looked.answers[47].value().at(0).number == 1);
    CHECK(looked.answers[48].value().at(0).number == 1);
    CHECK(looked.answers[49].value().empty());
    CHECK_FALSE(looked.pause);
    wanted.push_back({0, "one-more"});
    CHECK(look(wanted).error().code == ErrorCode::internal);
}

TEST_CASE_METHOD(GitHubFixture, "Nothing is asked about nothing", "[github]") {
    CHECK(look({}).value().answers.empty());
    CHECK(fake.calls().empty());
}

TEST_CASE_METHOD(GitHubFixture, "A number that there is not makes that one unknown, and no other", "[github]") {
    open().value();
    const auto looked = look({{0, "topic"}, {99, ""}, {1, ""}, {0, "none"}}).value();
    CHECK(looked.answers[0].value().size() == 1);
    REQUIRE_FALSE(looked.answers[1]);
    CHECK(why(looked.answers[1].error()) == "answer");
    CHECK(looked.answers[2].value().at(0).number == 1);
    CHECK(looked.answers[3].value().empty());
}

TEST_CASE_METHOD(GitHubFixture, "Checks, review, conflicts and the branch's commit are shown", "[github]") {
    auto pull = open().value();
    CHECK(pull.checks == PullChecks::none);
    CHECK(pull.review == PullReview::none);
    CHECK_FALSE(pull.conflicts);
    fake.change(1, {{"checks", "PENDING"}, {"review", "REVIEW_REQUIRED"}});
    CHECK(numbered(1).checks == PullChecks::pending);
    CHECK(numbered(1).review == PullReview::required);
    fake.change(1, {{"checks", "EXPECTED"}, {"review", "CHANGES_REQUESTED"}});
    CHECK(numbered(1).checks == PullChecks::pending);
    CHECK(numbered(1).review == PullReview::changes_requested);
    fake.change(1, {{"checks", "SUCCESS"}, {"review", "APPROVED"}});
    CHECK(numbered(1).checks == PullChecks::passing);
    CHECK(numbered(1).review == PullReview::approved);
    for (const char* bad : {"FAILURE", "ERROR"}) {
        fake.change(1, {{"checks", bad}});
        CHECK(numbered(1).checks == PullChecks::failing);
    }
    const auto later = commit(repo, "topic.txt", "newer\n");
    plain(repo, {"push", "-q", "origin", "topic"});
    CHECK(numbered(1).commit == later);
    // The same line on main.
    plain(repo, {"switch", "-q", "main"});
    commit(repo, "topic.txt", "another\n");
    plain(repo, {"push", "-q", "origin", "main"});
    CHECK(numbered(1).conflicts);
}

TEST_CASE_METHOD(GitHubFixture, "It is merged in each way, and then shown as merged", "[github]") {
    plain(repo, {"switch", "-q", "main"});
    commit(repo, "meanwhile.txt", "x\n");
    plain(repo, {"push", "-q", "origin", "main"});
    open().value();
    const auto before = origin_ref("main");
    const auto parents = [&] { return plain(fake.origin(), {"log", "-1", "--format=%P", "main"}); };
    SECTION("a merge commit") {
        merge(1, tip).value();
        CHECK(parents() == before + " " + tip);
    }
    SECTION("squashed") {
        merge(1, tip, PullMethod::squash).value();
        CHECK(parents() == before);
    }
    SECTION("rebased") {
        merge(1, tip, PullMethod::rebase).value();
        CHECK(parents() == before);
        CHECK(origin_ref("main") != tip);
    }
    const auto pull = numbered(1);
    CHECK(pull.state == PullState::merged);
    CHECK(pull.merged_as == origin_ref("main"));
    CHECK(pull.commit == tip);
    CHECK(origin_ref("topic") == tip);
    // Once more changes nothing.
    CHECK(merge(1, tip));
    CHECK(numbered(1) == pull);
}

TEST_CASE_METHOD(GitHubFixture, "A merge that GitHub refuses is told, and changes nothing", "[github][slow]") {
    open().value();
    const auto before = origin_ref("main");
    auto commit_known = tip;
    auto method = PullMethod::merge;
    SECTION("it conflicts") {
        fake.change(1, {{"merge_state", "DIRTY"}});
    }
    SECTION("a rule prohibits it") {
        fake.change(1, {{"merge_state", "BLOCKED"}});
    }
    SECTION("it has to be brought up to date") {
        fake.change(1, {{"merge_state", "BEHIND"}});
    }
    SECTION("the branch has moved") {
        commit_known = std::string(40, 'a');
    }
    SECTION("it is closed") {
        fake.set_state(1, "CLOSED");
    }
    SECTION("not in that way") {
        fake.allow({"SQUASH"}, "SQUASH");
    }
    const auto refused = merge(1, commit_known, method);
    REQUIRE_FALSE(refused);
    INFO(refused.error().message);
    CHECK(why(refused.error()) == "refused");
    CHECK(origin_ref("main") == before);
    CHECK(numbered(1).state != PullState::merged);
}

TEST_CASE_METHOD(GitHubFixture, "A merge without an answer may have happened, and one that is only queued has not",
                 "[github]") {
    open().value();
    SECTION("lost") {
        fake.misbehave(Trouble::lost, "PullRequestMerge", 1);
        const auto merged = merge(1, tip);
        REQUIRE_FALSE(merged);
        CHECK(why(merged.error()) == "offline");
        CHECK(numbered(1).state == PullState::merged);
    }
    SECTION("queued") {
        fake.queue_merges();
        CHECK(merge(1, tip));
        CHECK(numbered(1).state == PullState::open);
    }
    SECTION("none of that number") {
        const auto merged = merge(7, tip);
        REQUIRE_FALSE(merged);
        CHECK(why(merged.error()) == "absent");
    }
}

TEST_CASE_METHOD(GitHubFixture, "The repository's ways to merge, the preferred one first", "[github]") {
    const auto methods = [&] { return go(github->methods(k_shop)).value(); };
    CHECK(methods() == std::vector<PullMethod>{PullMethod::merge, PullMethod::squash, PullMethod::rebase});
    fake.allow({"MERGE", "REBASE"}, "REBASE");
    CHECK(methods() == std::vector<PullMethod>{PullMethod::rebase, PullMethod::merge});
    fake.allow({"SQUASH"}, "MERGE");
    CHECK(methods() == std::vector<PullMethod>{PullMethod::squash});
}

TEST_CASE_METHOD(GitHubFixture, "What is unresolved or failing is told, the oldest first", "[github]") {
    using Json = nlohmann::json;
    open().value();
    const auto at = [](int hour) { return "2026-01-01T0" + std::to_string(hour) + ":00:00Z"; };
    const auto comment = [&](const char* author, const char* body, int hour) {
        return Json{{"author", author}, {"body", body}, {"createdAt", at(hour)}, {"isMinimized", false}};
    };
    const auto review = [&](const char* author, const char* state, const char* body, int hour) {
        return Json{{"author", author}, {"state", state}, {"body", body}, {"submittedAt", at(hour)}};
    };
    auto hidden = comment("spammer", "buy", 1);
    hidden["isMinimized"] = true;
    fake.change(1,
                {{"reviews",
                  Json::array({review("rita", "CHANGES_REQUESTED", "Too sour.", 2),
                               review("max", "CHANGES_REQUESTED", "No.", 1), review("max", "APPROVED", "Fine now.", 7),
                               review("ann", "COMMENTED", "", 3), review("ann", "COMMENTED", "Nice.", 4)})},
                 {"threads", Json::array({Json{{"path", "src/shop.cpp"},
                                               {"line", 12},
                                               {"comments", Json::array({comment("rita", "Not here.", 5)})}}})},
                 {"comments", Json::array({hidden, comment("rita", "Why\x1b[2J?\r\nSo?", 5),
                                           comment("", std::string(5000, 'x').c_str(), 6)})},
                 {"checks", "FAILURE"},
                 {"contexts", Json::array({Json{{"__typename", "CheckRun"},
                                                {"name", "build"},
                                                {"conclusion", "TIMED_OUT"},
                                                {"title", "after 6 hours"},
                                                {"summary", nullptr},
                                                {"completedAt", at(8)}},
                                           Json{{"__typename", "CheckRun"},
                                                {"name", "docs"},
                                                {"conclusion", "SUCCESS"},
                                                {"title", nullptr},
                                                {"summary", nullptr},
                                                {"completedAt", at(8)}},
                                           Json{{"__typename", "StatusContext"},
                                                {"context", "lint"},
                                                {"state", "FAILURE"},
                                                {"description", "3 errors"},
                                                {"createdAt", at(9)}}})}});
    const auto remarks = go(github->remarks(k_shop, 1)).value();
    std::vector<std::string> authors;
    std::vector<std::string> places;
    for (const auto& remark : remarks) {
        authors.push_back(remark.author);
        places.push_back(remark.where);
    }
    CHECK(authors == std::vector<std::string>{"rita", "ann", "rita", "ghost", "", ""});
    CHECK(places ==
          std::vector<std::string>{"review: changes requested", "review", "", "", "check build", "check lint"});
    CHECK(remarks.at(0).text == "Too sour.");
    const auto& text = remarks.at(2).text;  // gh itself shows the escape as ^[
    CHECK((text == "Why\\x1b[2J?\nSo?" || text == "Why^[[2J?\nSo?"));
    CHECK(columns_of(remarks.at(3).text) == 2000);
    CHECK_THAT(remarks.at(4).text, Holds("after 6 hours"));
    CHECK_THAT(remarks.at(5).text, Holds("3 errors"));
    const auto absent = go(github->remarks(k_shop, 9));
    REQUIRE_FALSE(absent);
    CHECK(why(absent.error()) == "answer");
}

TEST_CASE_METHOD(GitHubFixture, "Review threads come with their lines, their texts and who may push", "[github]") {
    open().value();
    CHECK(numbered(1).said.empty());
    CHECK(go(github->threads(k_shop, 1)).value().empty());
    const auto asked = fake.requests().size();
    fake.permit("rita", "maintain");
    fake.permit("tom", "triage");
    fake.permit("lint%5Bbot%5D", "read");
    const auto first = fake.add_thread(1, {{"author", "rita"},
                                           {"body", "Why two?\r\nOne is enough."},
                                           {"createdAt", "2026-01-01T05:00:00Z"},
                                           {"authorAssociation", "MEMBER"},
                                           {"path", "src/shop.cpp"},
                                           {"startLine", 11},
                                           {"line", 12},
                                           {"hunk", "@@ -9,3 +9,5 @@ int f()\n a\n-b\n+x\n+one\n-c\n+two\r"}});
    const auto said = numbered(1).said;
    CHECK_FALSE(said.empty());
    CHECK(numbered(1).said == said);
    fake.reply(1, first, {{"author", "tom"}, {"body", "I agree."}, {"authorAssociation", "COLLABORATOR"}});
    fake.reply(1, first, {{"author", "lint[bot]"}, {"body", "2 warnings"}});
    fake.reply(1, first, {{"author", ""}, {"body", "from a deleted account"}});
    fake.reply(1, first, {{"author", "rita"}, {"body", "not sent yet"}, {"state", "PENDING"}});
    fake.reply(1, first, {{"author", "tom"}, {"body", "spam"}, {"isMinimized", true}});
    const auto later = numbered(1).said;
    CHECK(later != said);
    fake.add_thread(1, {{"author", "mallory"},
                        {"body", "Use pears."},
                        {"path", "src/old.cpp"},
                        {"line", nullptr},
                        {"originalLine", 3},
                        {"diffSide", "LEFT"},
                        {"commit", std::string(40, 'a')},
                        {"hunk", "@@ -1,4 +1,2 @@\n-one\n-two\n-three"}});
    fake.resolve(1, first);
    CHECK(numbered(1).said != later);
    const auto threads = go(github->threads(k_shop, 1)).value();
    REQUIRE(threads.size() == 2);
    CHECK(threads[0].id == first);
    CHECK(threads[0].resolved);
    const auto& anchor = threads[0].anchor;
    CHECK(anchor.commit == tip);
    CHECK(anchor.path == "src/shop.cpp");
    CHECK(anchor.side == DiffSide::now);
    CHECK(anchor.line == 11);
    CHECK(anchor.end == 12);
    CHECK(anchor.text == "one\ntwo\r");
    const auto& texts = threads[0].said;
    REQUIRE(texts.size() == 4);
    CHECK(texts[0].text == "Why two?\nOne is enough.");
    CHECK(to_rfc3339(texts[0].at) == "2026-01-01T05:00:00.000Z");
    CHECK(texts[0].url.starts_with("https://github.com/acme/shop/pull/1#"));
    CHECK(texts[0].may_push);
    CHECK(texts[1].author == "tom");
    CHECK_FALSE(texts[1].may_push);
    CHECK(texts[2].author == "lint[bot]");
    CHECK_FALSE(texts[2].may_push);
    CHECK_FALSE(texts[3].may_push);
    const auto& removed = threads[1].anchor;
    CHECK(removed.commit == std::string(40, 'a'));
    CHECK(removed.side == DiffSide::before);
    CHECK(removed.line == 3);
    CHECK(removed.text == "three");
    CHECK_FALSE(threads[1].said[0].may_push);
    // Each author is asked about once: rita, tom, the program and mallory.
    const auto requests = fake.requests();
    const auto of_rights = [](const std::string& request) { return request.ends_with("/permission"); };
    CHECK(std::count_if(requests.begin() + static_cast<std::ptrdiff_t>(asked), requests.end(), of_rights) == 4);
    CHECK_FALSE(go(github->threads(k_shop, 9)));
}

TEST_CASE_METHOD(GitHubFixture, "Nobody becomes a stranger because GitHub could not be asked", "[github]") {
    open().value();
    fake.permit("rita", "write");
    fake.add_thread(1, {{"author", "rita"}, {"body", "Why?"}, {"path", "topic.txt"}, {"line", 1}});
    for (const auto trouble : {Trouble::rate_limit, Trouble::bad_gateway, Trouble::dropped, Trouble::login_page}) {
        CAPTURE(static_cast<int>(trouble));
        fake.misbehave(trouble, "/permission", 1);
        CHECK_FALSE(go(github->threads(k_shop, 1)));
        fake.behave();
    }
    CHECK(go(github->threads(k_shop, 1)).value().at(0).said.at(0).may_push);
    // gh's own account may not know who is a collaborator: then nobody is known to be one.
    fake.misbehave(Trouble::forbidden, "/permission", 1);
    CHECK_FALSE(go(github->threads(k_shop, 1)).value().at(0).said.at(0).may_push);
}

TEST_CASE_METHOD(GitHubFixture, "A failed job says its steps, and the end of its log or its annotations", "[github]") {
    using Json = nlohmann::json;
    open().value();
    const std::string runs = "https://github.com/acme/shop/actions/runs/5/job/";
    auto checks = Json::array();
    const auto fails = [&](const char* name, const std::string& url, const char* end = "FAILURE") {
        checks.push_back({{"__typename", "CheckRun"},
                          {"name", name},
                          {"conclusion", end},
                          {"title", nullptr},
                          {"summary", nullptr},
                          {"completedAt", "2026-01-01T00:00:0" + std::to_string(checks.size()) + "Z"},
                          {"detailsUrl", url}});
    };
    const auto line = [](const std::string& text) { return "2026-01-02T03:04:05.1234567Z " + text + "\n"; };
    std::string log;
    for (int i = 1; i <= 100; ++i) log += line("line " + std::to_string(i));
    log += line("\x1b[31mshop.cpp:3: no lemons\x1b[0m") + line("##[error]Process completed with exit code 2.");
    log += line("Post job cleanup.");
    fails("build", runs + "71?pr=1#step:3:9");
    fails("old", runs + "72");
    fails("elsewhere", "https://github.com/other/shop/actions/runs/5/job/71");
    fails("app", "https://ci.test/9");
    fails("gone", runs + "74");
    fails("fourth", runs + "71");
    fails("good", runs + "71", "SUCCESS");
    fake.change(1, {{"checks", "FAILURE"}, {"contexts", checks}});
    fake.add_job(71, {{"steps", Json::array({{{"name", "Set up job"}, {"conclusion", "success"}},
                                             {{"name", "Run make"}, {"conclusion", "failure"}},
                                             {{"name", "Upload"}, {"conclusion", "skipped"}}})},
                      {"log", log}});
    fake.add_job(
        72,
        {{"annotations",
          Json::array(
              {{{"path", "src/shop.cpp"}, {"start_line", 12}, {"annotation_level", "failure"}, {"message", "no pears"}},
               {{"path", ".github"},
                {"start_line", 1},
                {"annotation_level", "notice"},
                {"message", "a new runner comes"}}})}});
    const auto remarks = go(github->remarks(k_shop, 1)).value();
    REQUIRE(remarks.size() == 6);
    CHECK(remarks[0].url == runs + "71?pr=1#step:3:9");
    const auto& text = remarks[0].text;
    CHECK(text.starts_with("failure\nfailed step: Run make\nthe end of its log:\n  line 43\n"));
    CHECK(text.ends_with("\n  shop.cpp:3: no lemons\n  ##[error]Process completed with exit code 2."));
    CHECK(std::count(text.begin(), text.end(), '\n') == 62);
    CHECK(remarks[1].text == "failure\n  src/shop.cpp:12: no pears");
    CHECK(remarks[2].text == "failure");
    CHECK(remarks[3].url == "https://ci.test/9");
    CHECK(remarks[4].text == "failure");
    CHECK(remarks[5].text == "failure");  // the log of a fourth is not asked for
}

TEST_CASE_METHOD(GitHubFixture, "What goes wrong on the way to GitHub is a sentence with the way out, and is not known",
                 "[github]") {
    struct Row {
        Trouble trouble;
        const char* why;
        const char* way_out;
    };
    const std::vector<Row> rows = {
        {Trouble::bad_token, "login", "gh auth login --hostname github.com"},
        {Trouble::rate_limit, "limit", "github.com"},
        {Trouble::secondary_limit, "limit", "60"},
        {Trouble::limit_in_answer, "limit", "github.com"},
        {Trouble::forbidden, "login", "gh auth status"},
        {Trouble::missing_scope, "login", "gh auth refresh --hostname github.com"},
        {Trouble::bad_gateway, "offline", "502"},
        {Trouble::login_page, "answer", "GitHub"},
        {Trouble::dropped, "offline", "github.com"},
        {Trouble::half, "answer", "gh"},
        {Trouble::empty, "answer", "GitHub"},
        {Trouble::no_repository, "answer", "GitHub"},
    };
    fake.open("topic");
    for (const auto& row : rows) {
        CAPTURE(static_cast<int>(row.trouble));
        fake.behave();
        fake.misbehave(row.trouble);
        const auto looked = look({{0, "topic"}});
        REQUIRE_FALSE(looked);
        INFO(looked.error().message);
        CHECK(why(looked.error()) == row.why);
        CHECK_THAT(looked.error().message, Tells(row.way_out));
        CHECK_FALSE(open());
        const auto ignored = merge(1, tip);  // what gh says of it counts for nothing
    }
    fake.behave();
    CHECK(fake.prs() == "1|topic|OPEN|false\n");
    CHECK(numbered(1).state == PullState::open);
}

TEST_CASE_METHOD(GitHubFixture, "What goes wrong with a change is told apart too", "[github]") {
    struct Row {
        Trouble trouble;
        const char* why;
    };
    const std::vector<Row> rows = {
        {Trouble::bad_token, "login"},       {Trouble::rate_limit, "limit"},    {Trouble::secondary_limit, "limit"},
        {Trouble::limit_in_answer, "limit"}, {Trouble::missing_scope, "login"}, {Trouble::bad_gateway, "offline"},
        {Trouble::login_page, "answer"},     {Trouble::dropped, "offline"},     {Trouble::half, "answer"},
    };
    push_branch("other", "other.txt");
    const auto other = fake.open("other");
    const auto at = numbered(other).commit;
    for (const auto& row : rows) {
        CAPTURE(static_cast<int>(row.trouble));
        for (const char* step : {"PullRequestByNumber", "PullRequestMerge"}) {
            CAPTURE(step);
            fake.behave();
            fake.misbehave(row.trouble, step);
            const auto merged = merge(other, at);
            REQUIRE_FALSE(merged);
            INFO(merged.error().message);
            // To gh, half of that answer is a connection that ended.
            const bool is_half = row.trouble == Trouble::half && step == std::string("PullRequestMerge");
            CHECK(why(merged.error()) == (is_half ? "offline" : row.why));
        }
        for (const char* step : {"RepositoryInfo", "PullRequestForBranch", "PullRequestCreate"}) {
            CAPTURE(step);
            fake.behave();
            fake.misbehave(row.trouble, step);
            const auto refused = go(github->create(request()));
            REQUIRE_FALSE(refused);
            INFO(refused.error().message);
            CHECK(why(refused.error()) == row.why);
        }
    }
    fake.behave();
    CHECK(fake.prs() == "1|other|OPEN|false\n");
}

TEST_CASE_METHOD(GitHubFixture, "GitHub says how long it wants to be left alone", "[github]") {
    const auto seconds = [&] { return std::stoi(look({{0, "topic"}}).error().details.at("seconds")); };
    fake.misbehave(Trouble::secondary_limit, "", 1);
    CHECK(seconds() == 60);
    for (const auto trouble : {Trouble::rate_limit, Trouble::limit_in_answer}) {
        fake.misbehave(trouble, "", 1);
        const auto about = seconds();
        CHECK(about > 0);
        CHECK(about <= 600);
    }
}

TEST_CASE_METHOD(GitHubFixture, "Who is not logged in is told how to", "[github]") {
    std::string way_out = "gh auth login --hostname github.com";
    SECTION("no login at all") {
        fake.log_out();
    }
    SECTION("a login for another host") {
        write_file(fake.state("config/hosts.yml"), "ghe.example.org:\n    oauth_token: good\n    user: ursula\n");
    }
    SECTION("a token that is no longer good") {
        renew({{"GH_TOKEN", "gho_stale"}});
        way_out = "GH_TOKEN";
    }
    const auto looked = look({{0, "topic"}});
    REQUIRE_FALSE(looked);
    CHECK(why(looked.error()) == "login");
    CHECK(looked.error().code == ErrorCode::unavailable);
    CHECK_THAT(looked.error().message, Tells(way_out));
    const auto opened = open();
    REQUIRE_FALSE(opened);
    CHECK(why(opened.error()) == "login");
    // No token is in a message or an argument list.
    auto all = opened.error().message;
    for (const auto& [name, value] : opened.error().details) all += value;
    for (const auto& call : fake.calls()) all += call;
    CHECK_THAT(all, !Holds("gho_stale"));
}

TEST_CASE_METHOD(GitHubFixture, "A repository that is not there is told", "[github]") {
    auto asked = request();
    asked.place.path = "acme/nothing";
    const auto opened = open(asked);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::not_found);
    CHECK(why(opened.error()) == "absent");
    CHECK_THAT(opened.error().message, Tells("gh auth status"));
}

TEST_CASE_METHOD(GitHubFixture, "A GitHub that never answers is given up", "[github][slow]") {
    renew({}, {std::chrono::milliseconds(500), std::chrono::milliseconds(500)});
    fake.misbehave(Trouble::silence);
    const auto looked = look({{0, "topic"}});
    REQUIRE_FALSE(looked);
    CHECK(looked.error().code == ErrorCode::timeout);
    CHECK(why(looked.error()) == "offline");
    const auto merged = merge(1, tip);
    REQUIRE_FALSE(merged);
    CHECK(why(merged.error()) == "offline");
}

TEST_CASE_METHOD(GitHubFixture, "Without gh, one learns where to get it") {
    fake.remove_gh();
    auto env = environment();
    env["PATH"] = (dir / "programs").string();
    github.emplace(runner, env);
    const auto opened = open();
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::not_found);
    CHECK(why(opened.error()) == "missing");
    CHECK_THAT(opened.error().message, Tells("https://cli.github.com"));
}

TEST_CASE_METHOD(GitHubFixture, "A gh that answers with something else is an error, never no pull request") {
    for (const char* answer :
         {"", "null", "{}", "[1]", "[{\"number\":1}]", "not json", "{\"data\":null}", "{\"data\":{\"repository\":[]}}",
          "{\"data\":{\"repository\":{}}}", "{\"data\":{\"repository\":{\"a0\":null}}}",
          "{\"data\":{\"repository\":{\"a0\":[]}}}", "{\"data\":{\"repository\":{\"a0\":{\"nodes\":null}}}}",
          "{\"data\":{\"repository\":{\"a0\":{\"nodes\":[null]}}}}",
          "{\"data\":{\"repository\":{\"a0\":{\"nodes\":[{\"number\":1}]}}}}"}) {
        INFO(answer);
        write_file(dir / "programs/gh", std::string("#!/bin/sh\nprintf '%s' '") + answer + "'\n");
        CHECK(why(open().error()) == "answer");
    }
}
