# Sourced by scripts that have gone to the project's root: makes .venv if there is none, installs what the project needs
# into it (again only after pyproject.toml changed) and sets $python. $extras names the extras to install.

# What is started with & has interrupts ignored, which a shell cannot change for itself; any Python can.
hear_interrupts() {
    case $(grep SigIgn "/proc/$$/status" 2>/dev/null) in *[2367abef]) ;; *) return 0 ;; esac
    case $0 in /*) script=$0 ;; *) script=${OLDPWD:-.}/$0 ;; esac # it came to the root from where it was started
    for any in .venv/bin/python ${PYTHON:-} python3 python; do
        [ -f "$script" ] && command -v "$any" >/dev/null || continue
        exec "$any" -I -S -c 'import os, signal, sys
for number in signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ: signal.signal(number, signal.SIG_DFL)
os.execv("/bin/sh", ["sh"] + sys.argv[1:])' "$script" "$@"
    done
}

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

find_python() {
    for candidate in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
        case $(command -v "$candidate") in "$PWD"/.venv/*) continue ;; esac # it is to be made by another
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$candidate"
            return
        fi
    done
}

# Runs what takes long. A signal ends it at once, with all it started, and then this shell.
slowly() {
    "$base" -I -S runtime/paddle/_launch/agent "$@" &
    trap "end_slowly $! 130" INT
    trap "end_slowly $! 143" TERM
    trap "end_slowly $! 129" HUP
    ended=0
    wait $! || ended=$?
    trap - INT TERM HUP
    return $ended
}

end_slowly() {
    trap '' INT TERM HUP
    kill "$1" 2>/dev/null || :
    wait "$1" || :
    echo "stopped; no job was started" >&2
    exit "$2"
}

make_venv() {
    "$base" -c 'import ensurepip, venv' 2>/dev/null || fail "$base has no venv module." \
        "On Debian and Ubuntu: apt-get install python3-venv; on Fedora: dnf install python3-libs. Then: sh $0"
    echo "making .venv with $("$base" --version)"
    rm -rf .venv && mkdir .venv && echo $$ >.venv/unfinished && slowly "$base" -m venv .venv || fail \
        "$base could not make .venv in $(pwd); is this folder writable and not full?"
}

install_project() {
    echo "installing into .venv (once; the packages are in pyproject.toml)"
    echo $$ >.venv/unfinished
    failed=
    slowly $python -m pip install --quiet --quiet --no-input --disable-pip-version-check -e ".[$extras]" || failed=yes
    rm .venv/unfinished # what pip gives up it takes back
    [ -z "$failed" ] || fail \
        "pip could not install the packages named in pyproject.toml into .venv; its reason is above." \
        "Without access to a package registry: put wheels in a folder and set PIP_FIND_LINKS to it. Then: sh $0"
    for extra in $(printf '%s' "$extras" | tr , ' '); do echo "$extra $stamp" >>.venv/installed; done
    slowly $python -m compileall -q runtime || : # this and the next are only faster
    slowly $python -m paddle._warm >/dev/null 2>&1 || :
}

is_installed() {
    for extra in $(printf '%s' "$extras" | tr , ' '); do
        grep -qx "$extra $stamp" .venv/installed 2>/dev/null || return
    done
}

# Of a folder that was moved or copied whoever activates .venv has the commands of another place.
tell_if_moved() {
    [ -f .venv/bin/activate ] || return 0
    made=$(set +eu && . .venv/bin/activate >/dev/null 2>&1 && printf '%s' "$VIRTUAL_ENV") || made=
    [ -z "$made" ] || [ "$made" -ef .venv ] || printf '%s\n' \
        "warning: .venv was made as $made, so after \`. .venv/bin/activate\` fab and paddle are those of that place." \
        "To have this folder's: rm -r .venv; sh $0" >&2
}

hear_interrupts "$@" # first of all: until here they are lost
python=.venv/bin/python
stamp=$(cksum <pyproject.toml)
base=$python
maker=$(cat .venv/unfinished 2>/dev/null) || maker=
[ -z "$maker" ] || [ ! -d "/proc/$maker" ] || fail \
    "Process $maker is making .venv in $(pwd). Wait for its end; if it is not at that, remove .venv. Then: sh $0"
[ ! -e .venv/unfinished ] && $python -c 'import pip' 2>/dev/null || base=$(find_python)
[ -n "$base" ] || fail "No Python >= 3.11 was found (tried \$PYTHON, python3.13 ... python3)." \
    "Install one, or name yours: PYTHON=/path/to/python3.11 sh $0"
[ "$base" = $python ] || make_venv
is_installed || install_project
tell_if_moved
