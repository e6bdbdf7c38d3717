#include "common/base/orange_command.hpp"

#include "tests/catch.hpp"

using namespace orange;

TEST_CASE("A command is its verb, what it is about and the rest, and its text is what people type") {
    CHECK(task_command("update", "4f2a", " --status reviewing").text() == "orange task update 4f2a --status reviewing");
    CHECK(task_command("show").text() == "orange task show");
    CHECK(OrangeCommand{"doctor"}.text() == "orange doctor");
    CHECK(OrangeCommand{}.empty());
    CHECK(OrangeCommand{}.text().empty());
}

TEST_CASE("A text is read back as the command that it was made of") {
    const auto command =
        GENERATE(task_command("respawn", "4f2aBcDeFgHiJkLmNoPqR"), task_command("show"),
                 task_command("update", {}, "--status reviewing"), task_command("reply", "7JJC", "\"...\""),
                 task_command("respawn", {}, "--all"), OrangeCommand{"doctor"},
                 OrangeCommand{"project update", "shop", "--set limits.reviewer=3"},
                 OrangeCommand{"workspace gc", {}, "--project shop"}, OrangeCommand{"doctor", {}, "--json"},
                 OrangeCommand{"run", {}, "\"Fix it\""}, OrangeCommand{});
    CHECK(OrangeCommand::from_text(command.text()) == command);
}

TEST_CASE("Whatever a text is, reading changes nothing of it") {
    const std::string text =
        GENERATE("git -C /w/1 switch -c b && orange task update 4f2a --branch b", "oranges are not commands",
                 "orange task  show 4f2a", "orange task merge 4f2a\n  orange project update shop", "orange", "");
    CHECK(OrangeCommand::from_text(text).text() == text);
    CHECK(OrangeCommand::from_text("git status").verb.empty());
    CHECK_FALSE(OrangeCommand::from_text("git status").empty());
}
