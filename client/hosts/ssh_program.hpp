#pragma once

#include <string>
#include <vector>

#include "client/hosts/hosts_file.hpp"

/// The command line and the messages of the program ssh. Only for this folder.
namespace orange::hosts {

/// A file for ssh's own messages, which keeps them apart from those of the remote program.
class Messages {
  public:
    Messages();
    ~Messages();
    Messages(Messages&& other) noexcept;
    Messages& operator=(Messages&&) = delete;

    const std::string& path() const { return path_; }
    std::string text() const;

  private:
    std::string path_;
};

std::vector<std::string> ssh_argv(const Host& host, const std::string& command, bool terminal,
                                  const Messages& messages);
Error cannot_start(const Error& error);

}  // namespace orange::hosts
