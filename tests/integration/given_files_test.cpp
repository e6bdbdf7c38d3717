#include <sstream>

#include "common/base/base64.hpp"
#include "common/rpc/errors.hpp"
#include "common/rpc/file_methods.hpp"
#include "tests/integration/puppets.hpp"

/// Files that people and agents give to agents, with the real daemon.
namespace orange::tests {
namespace {

namespace fs = std::filesystem;

rpc::FilePut first_piece(const std::string& name, const std::string& bytes, bool last = true) {
    rpc::FilePut piece;
    piece.name = name;
    piece.origin = "~/" + name;
    piece.data = to_base64(bytes);
    piece.last = last;
    return piece;
}

rpc::FilePut next_piece(const std::string& upload, std::int64_t offset, const std::string& bytes, bool last) {
    rpc::FilePut piece;
    piece.upload = upload;
    piece.offset = offset;
    piece.data = to_base64(bytes);
    piece.last = last;
    return piece;
}

rpc::TaskCreate task_with(const std::vector<std::string>& files) {
    rpc::TaskCreate create;
    create.project = "shop";
    create.summary = "Look at it";
    create.harness = create.review_harness = "puppet";
    create.no_spawn = true;
    create.files = files;
    return create;
}

ErrorCode refusal_of(const auto& result) {
    REQUIRE_FALSE(result);
    return result.error().code;
}

/// Lets the worker send requests, one a line, through the socket of its run; the replies by their ids.
std::map<std::string, Json> ask_as_worker(PuppetStage& stage, const std::string& id, const std::string& lines) {
    const auto requests = stage.next("requests"), replies = stage.next("replies");
    write_file(requests, lines);
    stage.play(id, "worker",
               (fs::path(ORANGE_BINARY_DIR) / "tests/support/orange-wire").string() + " \"$ORANGE_SOCKET\" " +
                   requests.string() + " " + replies.string());
    std::map<std::string, Json> found;
    std::istringstream all(read_file(replies));
    for (std::string line; std::getline(all, line);) {
        auto reply = Json::parse(line);
        const auto key = reply.at("id").get<std::string>();
        found[key] = std::move(reply);
    }
    return found;
}

std::string wire_request(const std::string& id, const std::string& method, const Json& params) {
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + "\n";
}

}  // namespace

TEST_CASE("A file comes in pieces, and is the task's from its first TASK.md on") {
    PuppetStage stage;
    auto& orange = stage.orange;
    std::string bytes;
    while (bytes.size() < 1'200'000) bytes += std::to_string(bytes.size()) + std::string("\0\xff\n", 3);
    const auto most = static_cast<std::size_t>(rpc::k_largest_piece);
    const auto begun = orange.call(first_piece("../a log.txt", bytes.substr(0, most), false));
    CHECK(begun.size == rpc::k_largest_piece);
    const auto late = next_piece(begun.upload, 2 * rpc::k_largest_piece, bytes.substr(2 * most), true);
    CHECK(refusal_of(orange.try_call(late)) == ErrorCode::invalid_argument);
    CHECK(refusal_of(orange.try_call(task_with({begun.upload}))) == ErrorCode::conflict);
    orange.call(next_piece(begun.upload, rpc::k_largest_piece, bytes.substr(most, most), false));
    CHECK(orange.call(late).size == static_cast<std::int64_t>(bytes.size()));
    auto larger = first_piece("x", std::string(most + 1, 'x'));
    CHECK(refusal_of(orange.try_call(larger)) == ErrorCode::invalid_argument);
    larger.data = "no base64";
    CHECK(refusal_of(orange.try_call(larger)) == ErrorCode::invalid_argument);

    auto refused = task_with({begun.upload});
    refused.workflow = "nosuch";
    CHECK(refusal_of(orange.try_call(refused)) == ErrorCode::not_found);
    const auto id = orange.call(task_with({begun.upload})).task.fields.id.value;
    const auto file = orange.folder(id) / "files/a log.txt";
    CHECK(read_file(file) == bytes);
    CHECK_THAT(orange.body(id), Holds("## Files\n\n- `" + file.string() + "` (from ~/../a log.txt, 1.1 MiB, "));
    CHECK(refusal_of(orange.try_call(task_with({begun.upload}))) == ErrorCode::not_found);

    rpc::TaskCancel cancel;
    cancel.id = id;
    orange.call(cancel);
    rpc::TaskDelete remove;
    remove.id = id;
    orange.call(remove);
    CHECK_FALSE(fs::exists(file));
}

TEST_CASE("A message has files, and a daemon that starts removes what was not used") {
    PuppetStage stage;
    auto& orange = stage.orange;
    const auto id = stage.create();
    orange.wait_for_status(id, "planning");
    rpc::TaskSend send;
    send.id = id;
    send.text = "Look at both";
    send.files = {orange.call(first_piece("shot.png", "one")).upload,
                  orange.call(first_piece("shot.png", "two")).upload};
    orange.call(send);
    const auto files = orange.folder(id) / "files";
    CHECK(read_file(files / "shot.png") == "one");
    CHECK(read_file(files / "shot-2.png") == "two");
    CHECK_THAT(orange.body(id), Holds((files / "shot-2.png").string()));

    const auto left = orange.call(first_piece("left.txt", "x")).upload;
    REQUIRE(fs::exists(orange.home() / "uploads" / left));
    orange.kill_daemon();
    orange.start_daemon();
    orange.eventually("it is removed", [&] { return !fs::exists(orange.home() / "uploads" / left); });
    send.files = {left};
    CHECK(refusal_of(orange.try_call(send)) == ErrorCode::not_found);
    CHECK(read_file(files / "shot.png") == "one");
}

TEST_CASE("An agent gives files to its own sub-tasks alone, and only what it has sent itself") {
    PuppetStage stage;
    auto& orange = stage.orange;
    const auto id = stage.create(), other = stage.create();
    orange.wait_for_status(id, "planning");
    orange.wait_for_status(other, "planning");
    const auto humans = orange.call(first_piece("mine.txt", "of the human")).upload;
    const Json piece = {{"name", "found.txt"}, {"data", to_base64("of the agent")}, {"last", true}};
    const auto put = ask_as_worker(stage, id, wire_request("put", "file.put", piece)).at("put");
    const auto agents = put.at("result").at("upload").get<std::string>();

    const auto part = [](const std::string& upload) {
        return Json{{"summary", "A part"}, {"base", "main"}, {"files", Json::array({upload})}};
    };
    auto replies = ask_as_worker(
        stage, id,
        wire_request("foreign", "task.create", part(humans)) +
            wire_request("send", "task.send", {{"id", other}, {"text", "x"}, {"files", Json::array({agents})}}));
    CHECK(replies.at("foreign").at("error").at("code") == rpc::number_of(ErrorCode::not_found));
    CHECK(replies.at("send").at("error").at("code") == rpc::number_of(ErrorCode::forbidden));
    replies = ask_as_worker(stage, other, wire_request("foreign", "task.create", part(agents)));
    CHECK(replies.at("foreign").at("error").at("code") == rpc::number_of(ErrorCode::not_found));
    CHECK(refusal_of(orange.try_call(task_with({agents}))) == ErrorCode::not_found);

    replies = ask_as_worker(stage, id, wire_request("own", "task.create", part(agents)));
    REQUIRE(replies.at("own").contains("result"));
    const auto child = replies.at("own").at("result").at("task").at("fields").at("id").get<std::string>();
    CHECK(read_file(orange.folder(child) / "files/found.txt") == "of the agent");
    CHECK(orange.call(task_with({humans})).task.fields.status == "pending");
}

}  // namespace orange::tests
