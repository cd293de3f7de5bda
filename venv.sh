# Sourced by run.sh and test.sh from the project's root: makes .venv if there is none, installs what the project needs
# into it (again only after pyproject.toml changed) and sets $python. $extras names the extras to install.

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

find_python() {
    for candidate in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s' "$candidate"
            return
        fi
    done
}

make_venv() {
    base=$(find_python)
    [ -n "$base" ] || fail "No Python >= 3.11 was found (tried \$PYTHON, python3.13 ... python3)." \
        "Install one, or name yours: PYTHON=/path/to/python3.11 sh $0"
    "$base" -c 'import ensurepip, venv' 2>/dev/null || fail "$base has no venv module." \
        "On Debian and Ubuntu: apt-get install python3-venv; on Fedora: dnf install python3-libs. Then: sh $0"
    echo "making .venv with $("$base" --version)"
    rm -rf .venv
    "$base" -m venv .venv || fail "$base could not make .venv in $(pwd); is this folder writable and not full?"
}

install_project() {
    stamp=$(cksum <pyproject.toml)
    for extra in $(printf '%s' "$extras" | tr , ' '); do
        grep -qx "$extra $stamp" .venv/installed 2>/dev/null || missing=yes
    done
    [ "${missing:-no}" = yes ] || return 0
    $python -m pip --version >/dev/null 2>&1 || make_venv # an earlier attempt was interrupted
    echo "installing into .venv (once; the packages are in pyproject.toml)"
    $python -m pip install --quiet --quiet --disable-pip-version-check -e ".[$extras]" || fail \
        "pip could not install the packages named in pyproject.toml into .venv; its reason is above." \
        "Without access to a package registry: put wheels in a folder and set PIP_FIND_LINKS to it. Then: sh $0"
    for extra in $(printf '%s' "$extras" | tr , ' '); do echo "$extra $stamp" >>.venv/installed; done
    $python -m compileall -q runtime
}

python=.venv/bin/python
$python -c '' 2>/dev/null || make_venv
install_project
