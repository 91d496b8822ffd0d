# SPDX-License-Identifier: BSD-3-Clause
# weir.bash - completion for bash, of all programs, also after mpirun. It asks the program, so it is never out
# of date. make install puts it where bash-completion looks for the completion of a program, which is then loaded at
# the first Tab; to have it after mpirun before that, source this file in ~/.bashrc.
# shellcheck shell=bash

_weir_programs=' @programs@ '

# The words before the cursor as they were typed: bash splits at '=' and ':', too.
_weir_split() {
    local line=${COMP_LINE:0:COMP_POINT}

    read -ra _weir_typed <<<"$line"
    [[ $line != *[[:space:]] ]] || _weir_typed+=('')
}

# Where the program stands on the line: in _weir_at, with its path in _weir_program. Status 1: nowhere.
_weir_find() {
    local i word

    for ((i = 0; i < ${#_weir_typed[@]} - 1; i++)); do
        word=${_weir_typed[i]/#\~/$HOME}
        if [[ $_weir_programs == *" ${word##*/} "* ]]; then
            _weir_at=$i _weir_program=$word
            return 0
        fi
    done
    return 1
}

# After a launcher, before a program: options as its --help has them, no file where a number follows, else commands
# and files.
_weir_launcher() {
    local typed=${_weir_typed[-1]}

    case ${_weir_typed[-2]}:$typed in
    *:-*)
        mapfile -t COMPREPLY < <(compgen -W "$("${_weir_typed[0]}" --help 2>/dev/null |
            tr -cs '[:alnum:]-' '\n' | grep -E '^--?[[:alpha:]]' | sort -u)" -- "$typed")
        ;;
    -n:* | -np:* | --n:* | --np:* | -N:* | -c:*) ;;
    *)
        mapfile -t COMPREPLY < <({ compgen -c -- "$typed"; compgen -f -- "$typed"; } | sort -u)
        compopt -o filenames
        ;;
    esac
}

_weir() {
    local _weir_typed=() _weir_at _weir_program
    local typed before='' first='' head word
    COMPREPLY=()

    _weir_split
    if ! _weir_find; then
        _weir_launcher
        return
    fi
    typed=${_weir_typed[-1]}
    ((${#_weir_typed[@]} - 2 <= _weir_at)) || before=${_weir_typed[-2]}
    ((${#_weir_typed[@]} - 2 <= _weir_at)) || first=${_weir_typed[_weir_at + 1]}
    # readline replaces only what follows the last '=' or ':'
    head=${typed%"${typed##*[=:]}"}
    while IFS=$'\t' read -r word _; do
        COMPREPLY+=("${word#"$head"}")
    done < <("$_weir_program" --complete "$before" "$typed" "$first" 2>/dev/null)
    # A word that ends with '=' or ':' goes on.
    if ((${#COMPREPLY[@]} == 0)); then
        compopt -o default
    elif [[ ${COMPREPLY[0]} == *[=:] || $before == -O || $before == --option ]]; then
        compopt -o nospace
    fi
}

# Has somebody else a completion of this command, which may not have been loaded yet?
_weir_is_taken() {
    local load

    complete -p "$1" >/dev/null 2>&1 && return
    for load in _comp_load __load_completion; do
        ! declare -F $load >/dev/null || $load "$1" >/dev/null 2>&1 || :
    done
    complete -p "$1" >/dev/null 2>&1
}

# shellcheck disable=SC2086 # words
complete -F _weir $_weir_programs
for _weir_word in mpirun mpiexec srun; do
    _weir_is_taken $_weir_word || complete -F _weir $_weir_word
done
unset _weir_word
