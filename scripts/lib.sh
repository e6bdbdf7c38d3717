# Functions for the scripts beside it: install what the build needs, and build. POSIX sh. Source it with $root set to
# the source tree.
# shellcheck shell=sh disable=SC2154,SC2034 # $root comes from, and $scratch_home goes to, the script that sources this

say() { printf '==> %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

debian_packages='g++ mold cmake ninja-build libasio-dev nlohmann-json3-dev libyaml-cpp-dev libcli11-dev libspdlog-dev libncurses-dev tmux git ca-certificates'
# What only tests need: their libraries, each shell for which completion is tested, each language of the examples in
# docs/protocol.md, the ssh of the tests of hosts, and the sandbox of the tests of executors. What tests/bench/run
# compares with.
debian_test_packages='catch2 zsh fish netcat-openbsd python3 nodejs openssh-client openssh-server bubblewrap squid'
# What scripts/lint needs, and --quick of it.
debian_lint_quick_packages='git clang-format shellcheck'
debian_lint_packages='git clang-format shellcheck cppcheck clang-tidy'
debian_bench_packages='python3 strace task-spooler'
brew_packages='asio nlohmann-json yaml-cpp cli11 spdlog tmux cmake ninja git'

# missing_packages: prints the packages of the list that are not installed. A script may add to the list.
missing_packages() {
    for package in $debian_packages; do
        # shellcheck disable=SC2016 # dpkg-query's format, not the shell's
        state=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null) || state=
        case $state in
            installed\ * | *' installed '*) ;;
            *) printf '%s ' "$package" ;;
        esac
    done
}

# offered_badly PACKAGE…: prints, for each package that apt has not, or only in a version with which Orange cannot be
# built or cannot work, a phrase.
offered_badly() {
    for package; do
        case $package in
            g++) oldest=4:12 ;;
            cmake) oldest=3.25 ;;
            git) oldest=1:2.38 ;;
            *) oldest= ;;
        esac
        offered=$(LC_ALL=C apt-cache policy "$package" | sed -n 's/^  Candidate: //p')
        case $offered in
            '' | '(none)') printf ', no %s' "$package" ;;
            *)
                if [ -n "$oldest" ] && dpkg --compare-versions "$offered" lt "$oldest"; then
                    printf ', %s %s instead of %s' "$package" "${offered#*:}" "${oldest#*:}"
                fi
                ;;
        esac
    done
}

# install_packages PACKAGE…: installs them, as root. Installs nothing if this distribution is too old for Orange.
install_packages() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q update </dev/null || say 'apt-get update failed; trying with the existing package lists'
    bad=$(offered_badly "$@")
    if [ -n "$bad" ]; then
        fail "nothing was installed, because the packages of this system do not suffice:${bad#,}. Orange needs Debian 12, \
Ubuntu 24.04 or newer, or the packages that README.md names under Install"
    fi
    apt-get -q install -y --no-install-recommends "$@" </dev/null || fail 'installing the packages failed, see above'
}

# Lists the missing packages and installs them, without asking. If none is missing, it does nothing and needs no
# network.
install_dependencies() {
    if [ "$(uname -s)" = Darwin ]; then
        say "macOS: not tested yet. What is needed: brew install $brew_packages"
        return
    fi
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        say 'no apt-get here, so nothing is installed. README.md, Install, names the packages for Fedora and Arch'
        return
    fi
    missing=$(missing_packages)
    missing=${missing% }
    if [ -z "$missing" ]; then say 'every package that Orange needs is installed'; return; fi

    say "these Debian packages are missing: $missing"
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        as_root=sudo
    else
        printf '    apt-get update && apt-get install --no-install-recommends %s\n' "$missing"
        fail 'run the line above as root, then this script again'
    fi
    say "installing them with:${as_root:+ $as_root} apt-get install --no-install-recommends"
    # One command, so that sudo asks at most once.
    # shellcheck disable=SC2016,SC2086 # the inner shell's variables; a list of words
    $as_root sh -c '. "$0"; install_packages "$@"' "$root/scripts/lib.sh" $missing || exit 1
}

cores() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }

# build PRESET [TARGET…]: configures if needed, and builds these targets, or all.
build() {
    preset=$1
    shift
    case $preset in
        release* | portable) what='7 minutes of one core, 200 MB of disk' ;;
        *) what='some 5 minutes of one core and 1.5 GB of disk; with sanitizers three times that' ;;
    esac
    if [ -d "$root/build/$preset" ]; then what='what has changed'; else what="the first time it takes $what"; fi
    say "building ($preset): $what"
    # CMake refuses a build folder that is incomplete or was made in another place.
    cache=$root/build/$preset/CMakeCache.txt
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
        say "build/$preset belongs to another source tree; removing it and building again"
        rm -rf "${root:?}/build/$preset"
    fi
    if command -v ccache >/dev/null; then
        CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
        CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
        export CMAKE_CXX_COMPILER_LAUNCHER CCACHE_SLOPPINESS
    fi
    mkdir -p "$root/build"
    log=$root/build/configure-$preset.log
    (cd "$root" && cmake --preset "$preset" >"$log" 2>&1) || {
        cat "$log" >&2
        fail 'cmake could not configure the build'
    }
    if [ $# -gt 0 ]; then
        cmake --build "$root/build/$preset" -j "$(cores)" --target "$@"
    else
        cmake --build "$root/build/$preset" -j "$(cores)"
    fi || fail 'the build failed, see above'
}

# stage PRESET FOLDER: makes FOLDER, with what is installed and install.sh, as archives have it. The files of the install
# have their sums, by which install.sh knows them.
stage() {
    DESTDIR=$2.part cmake --install "$root/build/$1" --strip --prefix /usr/local >"$root/build/install-$1.log" || fail 'packing failed'
    mv "$2.part/usr/local" "$2"
    rm -r "$2.part"
    cp "$root/install.sh" "$2/"
    cp "$root/install.sh" "$2/share/orange/"
    (cd "$2" && find bin share -type f | LC_ALL=C sort | xargs sha256sum >sums && mv sums SHA256SUMS)
}

# what_cannot_be_tried: prints the labels of the tests that this machine cannot run, each with what it lacks. A container
# often has no user namespaces, and a /dev/pts whose terminals belong to no group tty, which sshd needs unless it is root's.
what_cannot_be_tried() {
    bwrap --unshare-user --unshare-pid --cap-drop ALL --ro-bind / / --proc /proc true >/dev/null 2>&1 ||
        echo 'needs-user-namespaces user namespaces'
    [ "$(id -u)" -eq 0 ] || [ "$(script -qc 'stat -L -c %G /dev/stdin' /dev/null </dev/null 2>/dev/null | tr -d '\r')" = tty ] ||
        echo 'needs-terminals-of-sshd terminals of the group tty'
}

# A service or a container may have no HOME, which git and login shells need.
need_home() {
    if [ -z "${HOME:-}" ] || [ ! -d "${HOME:-}" ]; then
        HOME=$(mktemp -d)
        export HOME
        scratch_home=$HOME
    fi
}

# Free space below folder $1, in MiB; 0 if there is no such folder.
free_mib() {
    if [ -d "$1" ] && [ -w "$1" ]; then df -Pm "$1" | awk 'NR == 2 { print $4 }'; else echo 0; fi
}

# Succeeds if programs below folder $1 may be executed.
runs_programs() {
    program=$(mktemp "$1/orange-XXXXXX") || return 1
    printf '#!/bin/sh\nexit 0\n' >"$program"
    chmod 700 "$program"
    answer=0
    "$program" 2>/dev/null || answer=$?
    rm -f "$program"
    return "$answer"
}
