#include "daemon/store/comment_file.hpp"

#include <algorithm>
#include <utility>

#include "common/base/try.hpp"
#include "common/model/fields.hpp"
#include "common/model/json.hpp"

namespace orange::store {
namespace {

constexpr const char* k_comments_file = "comments.json";

Error unreadable_comments(const Path& path, const Error& why) {
    return {ErrorCode::io, "the comments of this task cannot be read: " + why.message +
                               "\nOrange leaves the file as it is. Put a whole one in its place, or move it away:\n  " +
                               path.string()};
}

Result<CommentList> parsed_comments(const std::string& text) {
    TRY(auto json, parse_json(text));
    TRY(check_schema(json));
    json.erase("schema");
    TRY(auto list, read_as<CommentList>(json, "", UnknownKeys::ignore));
    std::int64_t last = 0;
    for (const auto& comment : list.comments) {
        if (comment.turns.empty())
            return Error(ErrorCode::io, "comment " + std::to_string(comment.number) + " is empty");
        last = std::max(last, comment.number);
    }
    list.next = std::max(list.next, last + 1);
    return list;
}

}  // namespace

Result<CommentList> read_comments(FileSystem& files, const Path& folder, std::int64_t step) {
    const auto path = folder / k_comments_file;
    auto text = files.read(path);
    if (!text && text.error().code == ErrorCode::not_found && step == 0) return CommentList();
    if (!text) return unreadable_comments(path, text.error());
    auto list = parsed_comments(*text);
    if (!list) return unreadable_comments(path, list.error());
    return list;
}

Result<void> write_comments(FileSystem& files, const Path& folder, const CommentList& list) {
    auto json = written(list);
    json["schema"] = k_schema;
    return files.replace(folder / k_comments_file, dump(json) + "\n");
}

}  // namespace orange::store
