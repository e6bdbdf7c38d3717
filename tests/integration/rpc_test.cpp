#include <set>

#include "tests/golden.hpp"
#include "tests/integration/sandbox.hpp"

/// The socket as programs see it: what it says of itself, and who an agent is to it.
namespace orange::tests {

TEST_CASE("rpc.discover describes every method, from the table that dispatches them") {
    Sandbox orange;
    auto document = orange.call(rpc::RpcDiscover{});
    CHECK(document.at("openrpc").get<std::string>().starts_with("1."));
    std::set<std::string> names;
    for (const auto& method : document.at("methods")) {
        names.insert(method.at("name").get<std::string>());
        CHECK_FALSE(method.at("summary").get<std::string>().empty());
    }
    for (const char* name :
         {"task.create", "task.update", "task.merge", "project.add", "events.subscribe", "rpc.discover"}) {
        CHECK(names.contains(name));
    }
    // docs/protocol.md names each of them.
    const auto docs = read_file(std::filesystem::path(ORANGE_SOURCE_DIR) / "docs" / "protocol.md");
    for (const auto& name : names) {
        INFO(name);
        CHECK_THAT(docs, Tells("`" + name + "`"));
    }
    document.at("info").erase("version");
    check_golden("openrpc.json", document.dump(1) + "\n");
}

TEST_CASE("A worker is known by its shim, and may neither merge nor touch another's task or its own reviewer") {
    Sandbox orange;
    orange.add_project("shop");
    const auto other = orange.create("shop", "Wait demo:clarify");
    orange.wait_for_status(other, "clarification");
    const auto out = orange.root() / "probe.out";
    const auto script = orange.root() / "probe.sh";
    write_file(script, "exec >" + out.string() +
                           " 2>&1\n"
                           "orange task merge $ORANGE_TASK; echo $?\n"
                           "orange task create --project shop x; echo $?\n"
                           "orange task update " +
                           other +
                           " --summary hello; echo $?\n"
                           "orange task update --review-harness demo; echo $?\n"
                           "orange task send hello; echo $?\n"
                           "orange task update --status reviewing; echo $?\n"
                           "orange task update --summary mine; echo $?\n"
                           "echo end\nsleep 600\n");
    std::filesystem::create_directories(orange.home() / "harnesses");
    write_file(
        orange.home() / "harnesses" / "probe.yml",
        "name: probe\nprogram: sh\nmode: persistent\nargv:\n  full: [" + script.string() + ", --, \"{prompt}\"]\n");
    rpc::TaskCreate params;
    params.project = "shop";
    params.summary = "Probe";
    params.harness = params.review_harness = "probe";
    const auto id = orange.call(params).task.fields.id.value;
    orange.eventually("the probe has ended", [&] { return read_file(out).ends_with("end\n"); });
    const auto said = read_file(out);
    INFO(said);
    CHECK_THAT(said, Tells("worker") && Tells(id));
    int refused = 0;
    for (auto at = said.find("\n1\n"); at != std::string::npos; at = said.find("\n1\n", at + 2)) ++refused;
    CHECK(refused == 5);
    CHECK(said.ends_with("0\nend\n"));
    CHECK(orange.fields(id).at("summary") == "mine");
    CHECK(orange.status(id) == "planning");
    CHECK(orange.fields(other).at("summary") == "Wait demo:clarify");
    CHECK(orange.history(id, "status.changed").size() == 1);
}

}  // namespace orange::tests
