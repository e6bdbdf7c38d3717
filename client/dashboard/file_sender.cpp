#include "client/dashboard/file_sender.hpp"

#include <cstdlib>
#include <utility>

#include "client/dashboard/calls.hpp"
#include "common/base/shown_path.hpp"
#include "common/base/try.hpp"

namespace orange::dashboard {
namespace {

/// A slow link to a host has to stay free for its answers, without which it counts as broken.
constexpr std::int64_t k_piece_for_host = 64 * 1024;

/// The form opens again at the field that has the files.
Error at_files(Error error) {
    error.details["field"] = "files";
    return error;
}

/// Returns the path with the home in place of "~", as a shell would.
std::string with_home(const std::string& path) {
    const char* home = std::getenv("HOME");
    return home != nullptr && path.starts_with("~/") ? home + path.substr(1) : path;
}

}  // namespace

Result<std::vector<connection::GivenFile>> FileSender::open(const std::vector<AgentFile>& files) const {
    const auto limit = connection::file_limit(home_);
    std::vector<connection::GivenFile> opened;
    for (const auto& file : files) {
        if (file.picture) {
            connection::GivenFile picture;
            picture.name = file.path;
            picture.origin = "clipboard";
            picture.size = static_cast<std::int64_t>(file.picture->size());
            picture.bytes = file.picture;
            opened.push_back(std::move(picture));
        } else {
            TRY(auto one, connection::open_given({with_home(file.path)}, limit));
            opened.push_back(std::move(one.front()));
        }
    }
    TRY(connection::check_given(opened, limit));
    return opened;
}

void FileSender::begin(Request request) {
    auto opened = open(request.files);
    request.files.clear();
    if (!opened) return refuse_(request, at_files(opened.error()));
    const auto key = std::to_string(++begun_);
    all_[key] = {std::move(request), std::move(*opened), {}, {}, 0};
    send_piece(key);
}

void FileSender::send_piece(const std::string& key) {
    const auto& sending = all_.at(key);
    const auto& file = sending.files[sending.uploads.size()];
    const auto host = sending.request.host;
    const auto most = host == 0 ? rpc::k_largest_piece : k_piece_for_host;
    const auto piece = connection::piece_of(file, sending.upload, sending.offset, most);
    if (!piece) return give_up(key, piece.error());
    auto request = request_of(*piece, Purpose::upload, key);
    request.host = host;
    send_(request);
}

void FileSender::on_reply(const Request& piece, const Result<Answer>& reply) {
    const auto& key = piece.task;
    const auto found = all_.find(key);
    if (found == all_.end()) return;
    auto& sending = found->second;
    const auto& file = sending.files[sending.uploads.size()];
    if (!reply) return give_up(key, in_context(shown_path(file.name), reply.error()));
    const auto put = typed<rpc::FilePut::Reply>(reply->json);
    if (!put || put->size <= sending.offset - (file.size == 0 ? 1 : 0)) {
        return give_up(key, {ErrorCode::internal, shown_path(file.name) + " was not taken; orange daemon restart"});
    }
    sending.upload = put->upload;
    sending.offset = put->size;
    if (sending.offset >= file.size) {
        sending.uploads.push_back(std::exchange(sending.upload, {}));
        sending.offset = 0;
    }
    if (sending.uploads.size() < sending.files.size()) return send_piece(key);
    auto request = std::move(sending.request);
    request.params["files"] = sending.uploads;
    all_.erase(found);
    send_(request);
}

void FileSender::give_up(const std::string& key, Error error) {
    const auto request = std::move(all_.at(key).request);
    all_.erase(key);
    refuse_(request, at_files(std::move(error)));
}

void FileSender::drop(std::size_t host) {
    std::erase_if(all_, [&](const auto& each) { return each.second.request.host == host; });
}

}  // namespace orange::dashboard
