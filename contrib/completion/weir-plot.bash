# SPDX-License-Identifier: BSD-3-Clause
# weir-plot.bash - completion for bash. It asks the program, so it is never out of date: source this file.
# shellcheck shell=bash

# The commands, or the options of one. $1: the program, $2: a command, or nothing
_weir_plot_words() {
    if [ -z "$2" ]; then
        "$1" --help 2>/dev/null | sed -n 's/^    \([a-z][a-z]*\)  .*/\1/p'
    else
        "$1" "$2" --help 2>/dev/null | sed -n 'h; s/^  \(-[^ ,]*\).*/\1/p; g; s/^  -[a-z][^,]*, \(--[a-z-]*\).*/\1/p'
    fi
}

# The values that an option allows. $1: the program, $2: the command, $3: the option
_weir_plot_values() {
    "$1" "$2" --help 2>/dev/null | sed -n "s/^  $3 {\\([^}]*\\)}.*/\\1/p" | tr , ' '
}

_weir_plot() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local program=${COMP_WORDS[0]} command='' words=''

    program=${program/#\~/$HOME}
    [ "$COMP_CWORD" -lt 2 ] || command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ -z "$command" ]; then
        words=$(_weir_plot_words "$program" "")
    elif [[ $prev == --* ]]; then
        words=$(_weir_plot_values "$program" "$command" "$prev")
    fi
    [[ $cur != -* ]] || words=$(_weir_plot_words "$program" "$command")
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    else
        compopt -o default
    fi
}

complete -F _weir_plot weir-plot
