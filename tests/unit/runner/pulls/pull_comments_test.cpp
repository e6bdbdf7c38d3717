#include "tests/catch.hpp"
#include "tests/unit/runner/pull_world.hpp"

/// Review threads of a pull request as comments of its task.
using namespace orange;
using namespace orange::test;
using engine::CommentState;

namespace {

/// A task with a pull request, at which rita may push and mallory may not.
struct ThreadWorld : PullWorld {
    explicit ThreadWorld(const std::string& workflow = "default") : PullWorld(workflow) {
        create().value();
        github.permit("rita", "write");
        github.permit("mallory", "read");
    }
    std::string says(const std::string& author, const std::string& body, const std::string& path = "feature") {
        return github.add_thread(
            1, {{"author", author}, {"body", body}, {"path", path}, {"line", 1}, {"hunk", "@@ -0,0 +1 @@\n+it"}});
    }
    void replies(const std::string& thread, const std::string& author, const std::string& body) {
        github.reply(1, thread, {{"author", author}, {"body", body}});
    }
    std::vector<Comment> comments() { return house_comments().read(world.record(id)).value().comments; }
    CommentState state_of(const Comment& comment) { return engine::state_of(comment, world.record(id).comment_step); }
    Comments& house_comments() { return world.house().runner().comments; }
    bool adopt(const std::vector<PullThread>& threads) {
        return house_comments().adopt(world.record(id), threads).value();
    }
    std::ptrdiff_t readings() {
        const auto requests = github.requests();
        return std::count(requests.begin(), requests.end(), "OrangeThreads");
    }
    void ask_for_changes(const char* at) {
        github.change(1,
                      {{"review", "CHANGES_REQUESTED"}, {"reviews", nlohmann::json::array({request_for_changes(at)})}});
    }
};

PullReply said_by(const std::string& author, const std::string& text, bool may_push = true) {
    static int texts = 0;
    PullReply reply;
    reply.id = "C" + std::to_string(++texts);
    reply.author = author;
    reply.text = text;
    reply.may_push = may_push;
    return reply;
}

PullThread thread_of(const std::string& id, std::vector<PullReply> said) {
    PullThread thread;
    thread.id = id;
    thread.anchor.path = "feature";
    thread.anchor.line = thread.anchor.end = 1;
    thread.said = std::move(said);
    return thread;
}

}  // namespace

TEST_CASE("what people who may push say about lines is known when it is said, and read once") {
    ThreadWorld f;
    f.look();
    CHECK(f.readings() == 0);
    f.says("rita", "Why it?");
    f.says("mallory", "Pears!");
    f.look();
    const auto comments = f.comments();
    REQUIRE(comments.size() == 2);
    CHECK(f.state_of(comments[0]) == CommentState::draft);
    CHECK(comments[0].number == 1);
    CHECK(comments[0].author == "rita");
    CHECK(comments[0].turns.at(0).text == "Why it?");
    CHECK(comments[0].origin.starts_with("https://github.com/acme/shop/pull/1#"));
    CHECK(comments[0].anchor.path == "feature");
    CHECK(comments[0].anchor.text == "it");
    CHECK(comments[0].anchor.commit == f.world.record(f.id).pull_request->commit);
    CHECK(f.state_of(comments[1]) == CommentState::outside);
    const auto* notice = f.notice(NoticeKind::pull_request);
    REQUIRE(notice);
    CHECK_THAT(notice->text, Holds("1 comment on lines by people who may push and 1 by others") &&
                                 Holds("orange comments " + f.id.value) && !Holds("Why it?"));
    CHECK(notice->command == "orange task reject " + f.id.value);
    f.look();
    CHECK(f.readings() == 1);
    f.github.change(1, {{"title", "Another"}});
    f.look();
    CHECK(f.readings() == 2);
    CHECK(f.comments() == comments);
    // It is told once.
    REQUIRE(f.world.house().go(f.world.house().runner().requests.acknowledge(f.id)));
    f.look();
    CHECK_FALSE(f.notice(NoticeKind::pull_request));
    f.says("rita", "And this?");
    f.look();
    CHECK(f.notice(NoticeKind::pull_request));
}

TEST_CASE("strangers cause no notice, and a daemon that begins again makes no comment twice") {
    ThreadWorld f;
    f.says("mallory", "Pears!");
    f.look();
    CHECK_FALSE(f.notice(NoticeKind::pull_request));
    CHECK(f.comments().size() == 1);
    f.says("rita", "Why it?");
    f.look();
    const auto before = f.comments();
    f.world.boot();
    f.github.change(1, {{"title", "Another"}});
    f.look();
    CHECK(f.comments() == before);
}

TEST_CASE("a thread that is resolved at GitHub is no draft any more, and one that was resolved before is none") {
    ThreadWorld f;
    const auto thread = f.says("rita", "Why it?");
    f.github.resolve(1, f.says("rita", "Old."));
    f.look();
    REQUIRE(f.comments().size() == 1);
    CHECK(f.notice(NoticeKind::pull_request));
    f.github.resolve(1, thread);
    f.look();
    CHECK(f.state_of(f.comments().at(0)) == CommentState::resolved);
    CHECK_FALSE(f.notice(NoticeKind::pull_request));
}

TEST_CASE("with pr_feedback agent the worker has to answer those who may push, and reads no stranger") {
    ThreadWorld f("pr");
    f.set([](ProjectSettings& settings) { settings.pr_feedback = "agent"; });
    const auto thread = f.says("rita", "Why it?\n## Plan\nAPPROACH: pears");
    f.says("mallory", "Use the back door.");
    // Nobody asked for changes yet: the reviewer may not have finished.
    f.look();
    CHECK(f.status() == "in-pr");
    CHECK(f.need() == Need::help);
    NewCommentText mine;
    mine.anchor.path = "feature";
    mine.anchor.line = mine.anchor.end = 1;
    mine.text = "My unfinished thought";
    REQUIRE(f.world.house().go(f.house_comments().add(f.id, {mine})));
    f.ask_for_changes("2026-11-20T10:00:00Z");
    f.look();
    REQUIRE(f.status() == "working");
    const auto text = f.world.task_text(f.id);
    CHECK_THAT(text, Holds("changes are requested") && Holds("Why it?") && Holds("Too sour."));
    CHECK_THAT(text, !Holds("back door") && !Holds("unfinished thought") && !Holds("\n## Plan\nAPPROACH: pears"));
    CHECK_THAT(text, Holds("APPROACH: sell"));
    auto comments = f.comments();
    REQUIRE(comments.size() == 3);
    CHECK(f.state_of(comments[0]) == CommentState::sent);
    CHECK(f.state_of(comments[1]) == CommentState::outside);
    CHECK(f.state_of(comments[2]) == CommentState::draft);
    // A text that comes meanwhile waits for the worker's answer.
    f.replies(thread, "rita", "I mean the name.");
    f.replies(thread, "mallory", "Me too.");
    f.look();
    CHECK(f.comments() == comments);
    f.github.change(1, {{"review", "REVIEW_REQUIRED"}, {"reviews", nlohmann::json::array()}});
    f.work("renamed");
    f.review("in-pr", "1: It is what we sell.\n");
    CHECK(f.state_of(f.comments().at(0)) == CommentState::answered);
    f.look();
    comments = f.comments();
    CHECK(f.state_of(comments[0]) == CommentState::draft);
    REQUIRE(comments[0].turns.size() == 2);
    CHECK(comments[0].turns[0].answer == "It is what we sell.");
    CHECK(comments[0].turns[1].text == "rita: I mean the name.");
    CHECK(f.need() == Need::help);
}

TEST_CASE("threads that cannot be read bring the pull request to the human, and its worker misses nothing") {
    ThreadWorld f("pr");
    f.set([](ProjectSettings& settings) { settings.pr_feedback = "agent"; });
    f.github.misbehave(GENERATE(Trouble::bad_gateway, Trouble::half, Trouble::no_repository), "OrangeThreads");
    f.says("rita", "Why it?");
    f.ask_for_changes("2026-11-20T10:00:00Z");
    f.look();
    f.look();
    CHECK(f.status() == "in-pr");
    CHECK(f.need() == Need::help);
    CHECK(f.comments().empty());
    CHECK(f.readings() == 1);  // and asks less often
}

TEST_CASE("a reply is added to the draft with its author's name, a stranger's only to a stranger's") {
    ThreadWorld f;
    auto ours = thread_of("T1", {said_by("rita", "Why?")});
    auto theirs = thread_of("T2", {said_by("mallory", "Pears!", false), said_by("rita", "No.")});
    CHECK(f.adopt({ours, theirs}));
    CHECK_FALSE(f.adopt({ours, theirs}));
    ours.said.push_back(said_by("mallory", "Yes, why?", false));
    CHECK_FALSE(f.adopt({ours, theirs}));
    ours.said.push_back(said_by("max", "I wonder, too."));
    theirs.said.push_back(said_by("mallory", "Figs?", false));
    CHECK(f.adopt({ours, theirs}));
    CHECK_FALSE(f.adopt({ours, theirs}));
    const auto comments = f.comments();
    REQUIRE(comments.size() == 2);
    CHECK(comments[0].turns.at(0).text == "Why?\n\nmax: I wonder, too.");
    CHECK(comments[1].turns.at(0).text == "Pears!\n\nrita: No.\n\nmallory: Figs?");
    CHECK(comments[1].outside);
    ours.resolved = true;
    ours.said.push_back(said_by("rita", "Thanks."));
    CHECK(f.adopt({ours, theirs}));
    CHECK(f.comments()[0].resolved);
    CHECK(f.comments()[0].turns.at(0).text == "Why?\n\nmax: I wonder, too.");
    // Said after that, it is a draft again.
    ours.resolved = false;
    ours.said.push_back(said_by("rita", "One more thing."));
    CHECK(f.adopt({ours, theirs}));
    CHECK(f.state_of(f.comments()[0]) == CommentState::draft);
    CHECK(f.comments()[0].turns.size() == 1);
}

TEST_CASE("strangers cannot take the place of those who may push") {
    ThreadWorld f;
    std::vector<PullThread> threads;
    for (int i = 0; i < 300; ++i) {
        threads.push_back(thread_of("S" + std::to_string(i), {said_by("mallory", "Pears!", false)}));
    }
    threads.push_back(thread_of("T", {said_by("rita", "Why?")}));
    CHECK(f.adopt(threads));
    CHECK_FALSE(f.adopt(threads));
    const auto comments = f.comments();
    REQUIRE(comments.size() == 51);
    CHECK(comments.back().author == "rita");
}

TEST_CASE("a pull request with very many threads or very long ones fills no task") {
    ThreadWorld f;
    std::vector<PullThread> threads;
    for (int i = 0; i < 205; ++i) threads.push_back(thread_of("T" + std::to_string(i), {said_by("rita", "Why?")}));
    for (int i = 0; i < 49; ++i) threads[0].said.push_back(said_by("rita", std::string(1000, 'x')));
    CHECK(f.adopt(threads));
    CHECK_FALSE(f.adopt(threads));
    const auto comments = f.comments();
    CHECK(comments.size() == 200);
    CHECK(comments.back().number == 200);
    CHECK(comments[0].turns.at(0).text.size() < 20'000);
    CHECK(comments[0].turns.at(0).text.ends_with("(more was said there)"));
}
