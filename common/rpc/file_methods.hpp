#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Files that a caller gives to an agent (docs/protocol.md, "Files"). The client opens them with its own rights and
/// sends their bytes; the daemon opens no path that a caller names. The ids of complete uploads are then named in
/// `files` of task.create, task.send, task.reply or task.reject.
namespace orange::rpc {

/// The largest piece, before it is encoded: its line of the protocol stays below 1 MiB.
inline constexpr std::int64_t k_largest_piece = 512 * 1024;

/// Receives one piece of a file. Pieces come in their order. An upload belongs to the person, or to the agent's run,
/// that began it. One that nothing has used is removed after an hour.
struct FilePut {
    static constexpr const char* k_name = "file.put";
    std::optional<std::string> upload;
    std::optional<std::string> name;
    std::optional<std::string> origin;
    std::optional<std::int64_t> size;
    std::int64_t offset = 0;
    std::string data;
    bool last = false;
    void describe(auto& v) {
        v.optional("upload", upload, "the id that the reply to the first piece has; absent: this is the first piece");
        v.optional("name", name, "with the first piece: the file's name, without folders");
        v.optional("origin", origin, "with the first piece: where it comes from, for people: a path, the clipboard");
        v.optional("size", size, "with the first piece: how large the file will be");
        v.optional("offset", offset, "the number of bytes that were sent before");
        v.required("data", data, "the next bytes in base64, at most 512 KiB of them; empty: none");
        v.optional("last", last, "the file is complete");
    }
    struct Reply {
        std::string upload;
        std::int64_t size = 0;
        void describe(auto& v) {
            v.required("upload", upload, "the id of this upload");
            v.required("size", size, "the number of bytes that are there");
        }
    };
};

}  // namespace orange::rpc
