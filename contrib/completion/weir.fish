# SPDX-License-Identifier: BSD-3-Clause
# weir.fish - completion for fish, of all programs, also after mpirun. It asks the program, so it is never out
# of date. make install puts it where fish looks for the completion of a program, which is then loaded at the first Tab;
# to have it after mpirun before that, source this file in config.fish.

function __weir_programs
    string split ' ' '@programs@'
end

# After a launcher, before a program: options as its --help has them, no file where a number follows, else commands
# and files.
function __weir_launcher --argument-names launcher before typed
    if string match -q -- '-*' $typed
        $launcher --help 2>/dev/null | tr -cs '[:alnum:]-' '\n' | grep -E '^--?[[:alpha:]]' | sort -u
    else if not contains -- $before -n -np --n --np -N -c
        complete -C "$typed"
        __fish_complete_path "$typed"
    end
end

# Words, a tab, a sentence: from the program that stands on the line; files where it has none. fish puts no blank after
# a word that ends with '=' or ':'.
function __weir_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l program
    set -l at 0
    for i in (seq (count $words))
        if contains -- (string replace -r '.*/' '' -- $words[$i]) (__weir_programs)
            set program (string replace -r '^~' $HOME -- $words[$i])
            set at $i
            break
        end
    end
    if test -z "$program"
        __weir_launcher $words[1] $words[-1] "$typed"
        return
    end
    set -l before ''
    test (count $words) -eq $at; or set before $words[-1]
    set -l first ''
    test (count $words) -eq $at; or set first $words[(math $at + 1)]
    set -l found ($program --complete "$before" "$typed" "$first" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        set -l head (string match -r '^.*[=:]' -- "$typed")
        string replace -r -- '^' "$head" (__fish_complete_path (string replace -r '^.*[=:]' '' -- "$typed"))
    end
end

for name in (__weir_programs) mpirun mpiexec srun
    complete -c $name -f -a '(__weir_complete)'
end
