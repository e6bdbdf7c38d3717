#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/connection/given_file.hpp"
#include "client/dashboard/answer.hpp"
#include "client/dashboard/state.hpp"

namespace orange::dashboard {

/// Sends the files of requests, piece by piece beside all other requests, and each request behind its files.
class FileSender {
  public:
    using Send = std::function<void(const Request& request)>;
    /// Called instead, with the error as the request's reply.
    using Refuse = std::function<void(const Request& request, Error error)>;

    FileSender(std::filesystem::path home, Send send, Refuse refuse)
        : home_(std::move(home)), send_(std::move(send)), refuse_(std::move(refuse)) {}

    /// Opens the request's files and sends the first piece. If a file cannot be used, nothing is sent.
    void begin(Request request);
    /// Takes the reply to a request of Purpose::upload.
    void on_reply(const Request& piece, const Result<Answer>& reply);
    /// Forgets what was on its way to a host, as in Row::host, whose connection has ended.
    void drop(std::size_t host);

  private:
    struct Sending {
        Request request;
        std::vector<connection::GivenFile> files;
        std::vector<std::string> uploads;  ///< of the files that are complete
        std::string upload;                ///< of the next file; empty: its first piece is not sent
        std::int64_t offset = 0;
    };
    Result<std::vector<connection::GivenFile>> open(const std::vector<AgentFile>& files) const;
    void send_piece(const std::string& key);
    void give_up(const std::string& key, Error error);

    const std::filesystem::path home_;
    const Send send_;
    const Refuse refuse_;
    std::map<std::string, Sending> all_;
    std::size_t begun_ = 0;
};

}  // namespace orange::dashboard
