#!/bin/sh
# Installs Orange into ~/.local or --prefix DIR, without a compiler and root: the programs beside this script (an unpacked
# archive), or of the ARCHIVE that is named, or of ORANGE_URL, the URL of an archive or of its folder. An upgrade leaves the
# daemon and the agents alone. --uninstall removes exactly what was installed. SHA256SUMS, beside the archive, shows a
# broken download; it does not show who made the programs.
set -eu; umask 022
place=  # the folder of the newest release (docs/releasing.md)

say() { printf '==> %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }
# wrong_with PROGRAM OPTION OLDEST: prints a sentence if the program is missing or too old.
wrong_with() {
    { "$1" "$2" 2>/dev/null || :; } | awk -v name="$1" -v oldest="$3" '
        NR == 1 && match($0, /[0-9]+[.][0-9][0-9a-z.]*/) { has = substr($0, RSTART, RLENGTH); split(has, h, ".") }
        END { split(oldest, o, "."); is = has " is too old"; if (!has) is = "is not installed or does not answer"
            if (h[1] * 1000 + h[2] < o[1] * 1000 + o[2]) printf "%s %s: Orange needs %s. ", name, is, oldest }'
}
# remove LIST: removes its files, then those of its folders (with a slash at the end) that are empty.
remove() {
    grep -v '/$' "$1" | while IFS= read -r path; do rm -f "$path"; done
    grep '/$' "$1" | sort -r | while IFS= read -r path; do rmdir "$path" 2>/dev/null || :; done
}

find_tree() {
    machine=$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m | sed 's/arm64/aarch64/') url=${ORANGE_URL:-}
    if [ -z "$archive$url" ]; then
        if [ -x "$here/bin/oranged" ]; then tree=$here; return; fi
        archive=$(ls "$here"/build/package/orange-*-"$machine.tar.gz" 2>/dev/null) || url=$place
        [ -n "$archive$url" ] || fail 'there are no programs here. Name an archive, or set ORANGE_URL; scripts/package makes one'
    fi
    if [ -z "$archive" ]; then
        if command -v curl >/dev/null; then load='curl -fsSLo'; else load='wget -qO'; fi
        case $url in *.tar.gz) name=${url##*/} url=${url%/*} ;; *) name='' ;; esac
        $load "$scratch/SHA256SUMS" "$url/SHA256SUMS" || fail "$url/SHA256SUMS cannot be loaded with ${load% *}"
        name=${name:-$(grep -o "orange-[^ ]*-$machine\.tar\.gz\$" "$scratch/SHA256SUMS")} || fail "$url has no programs for $machine"
        $load "$scratch/$name" "$url/$name" || fail "$url/$name cannot be loaded with ${load% *}"
        archive=$scratch/$name
    fi
    sum=$(awk -v name="${archive##*/}" '$2 == name { print $1 }' "$(dirname "$archive")/SHA256SUMS") || sum=
    [ -n "$sum" ] || fail "there is no SHA256SUMS beside $archive that has its sum"
    [ "$sum  -" = "$(sha256sum <"$archive")" ] || fail "$archive is broken: its sum is not that of SHA256SUMS. Load it again"
    tar -xzf "$archive" -C "$scratch" || fail "$archive cannot be unpacked"
    tree=$scratch/$(basename "$archive" .tar.gz)
}

put() {
    wrong=$(wrong_with git --version 2.38; wrong_with tmux -V 3.2)
    [ -z "$wrong" ] || fail "${wrong}Nothing was installed"
    find_tree
    (cd "$tree" && sha256sum -c SHA256SUMS >/dev/null) || fail "files in $tree are missing or broken. Unpack the archive again"
    # Lists its files, and the folders that it makes or an earlier installation made.
    { awk -v prefix="$prefix" '{ print prefix "/" $2 }' "$tree/SHA256SUMS"; echo "$list"; } >"$scratch/files"
    foreign=$(grep -vxF -f "$scratch/old" "$scratch/files" | while IFS= read -r file; do [ ! -e "$file" ] || echo "$file"; done)
    [ -z "$foreign" ] || fail "these files are there, and not of this script. Move them away, or use another --prefix: $foreign"
    awk -F / '{ path = ""; for (i = 2; i < NF; i++) print path = path "/" $i }' "$scratch/files" | sort -u |
        while IFS= read -r dir; do if [ ! -d "$dir" ] || grep -qxF "$dir/" "$scratch/old"; then echo "$dir/"; fi; done >"$scratch/dirs"
    # Beside their place first: they have to start there before anything is replaced.
    mkdir -p "$prefix"; stage=$(mktemp -d "$prefix/.orange-XXXXXX"); cp -R "$tree/bin" "$tree/share" "$stage/"
    bin=$(printf '%s' "$prefix/bin/" | sed 's/%/%%/g; s/\$/$$/g; s/[\\&|]/\\&/g')  # as systemd and sed read it
    sed "s|/usr/local/bin/|$bin|" "$tree/share/systemd/user/oranged.service" >"$stage/share/systemd/user/oranged.service"
    version=$("$stage/bin/orange" --version) || fail 'the programs do not start on this machine. Nothing was installed'
    cat "$scratch/files" "$scratch/dirs" >"$stage/share/orange/installed.txt"
    while IFS= read -r dir; do mkdir -p "$dir"; done <"$scratch/dirs"
    cat "$stage/share/orange/installed.txt" "$scratch/old" >"$list"  # first, in case that the rest is cut off
    while IFS= read -r file; do mv -f "$stage${file#"$prefix"}" "$file"; done <"$scratch/files"
    grep -vxF -f "$list" "$scratch/old" >"$scratch/gone" || :
    remove "$scratch/gone"
    "$orange" doctor >"$scratch/doctor" 2>&1 || { cat "$scratch/doctor"; fail "$version is in $prefix, but see above what has to be mended"; }
    say "installed $version in $prefix. To begin: orange demo. To remove it: sh \"$prefix/share/orange/install.sh\" --uninstall"
    if "$orange" daemon status >/dev/null 2>&1; then say 'the old daemon still runs. To replace it while your agents go on: orange daemon restart'; fi
    [ "$(command -v orange)" = "$orange" ] || printf "==> add this line to ~/.profile:\n    PATH=\"%s/bin:\$PATH\"\n" "$prefix"
}

# In a function, so that sh has read all of it before it begins: it may be cut off, or removed meanwhile.
main() {
    here='' archive='' stage='' uninstall='' prefix=${HOME:?is not set}/.local
    scratch=$(mktemp -d); touch "$scratch/dirs"
    trap 'rm -rf "$stage"; remove "$scratch/dirs"; rm -rf "$scratch"' EXIT
    trap 'exit 130' HUP INT TERM
    case $0 in */install.sh | install.sh) here=$(cd "$(dirname "$0")" && pwd) ;; esac
    case $here in */share/orange) prefix=${here%/share/orange} ;; esac
    while [ $# -gt 0 ]; do
        case "$1 ${2:-}" in
            '--prefix /'*) prefix=${2%/}; shift ;;
            --prefix=/*) prefix=${1#--prefix=} prefix=${prefix%/} ;;
            '--uninstall '*) uninstall=1 ;;
            -*) fail 'usage: install.sh [--prefix ABSOLUTE_FOLDER] [ARCHIVE | --uninstall]' ;;
            *) archive=$1 ;;
        esac
        shift
    done
    orange=$prefix/bin/orange list=$prefix/share/orange/installed.txt
    cat "$list" >"$scratch/old" 2>/dev/null || :
    if [ -z "$uninstall" ]; then put; exit; fi
    [ -s "$scratch/old" ] || fail "nothing was installed in $prefix"
    [ ! -x "$orange" ] || { "$orange" service uninstall && "$orange" uninstall; } || fail 'nothing was removed, see above'
    "$orange" daemon stop || say 'the daemon did not stop'; remove "$scratch/old"
    say "removed Orange from $prefix. Your tasks are still in ~/orange, and agents that run go on"
}
main "$@"
