# SPDX-License-Identifier: BSD-3-Clause
# result.schema.awk - the schema of results: the words of its lists come from the rows of the programs
#
#   awk -f doc/result.schema.awk SOURCE... doc/result.schema.json.in
#
# "@NAME@" in a list of the template becomes the words of NAME, "@NAME - WORD - WORD@" those without these. The words are
# the texts that the sources have from where BEGIN matches to END. A NAME without words, or a WORD that NAME does not have, is an error.

function rows(name, file, begin, end, word) {
    n++
    name_of[n] = name; file_of[n] = file; begin_of[n] = begin; end_of[n] = end
    word_of[n] = word ? word : "\"[^\"]*\""
}

BEGIN {
    rows("program", "/programs/", "WEIR_PROGRAM[(]", ",")
    rows("h5exerciser", "/h5exerciser/", "WEIR_PROGRAM[(]", ",")
    rows("checkpoint", "/checkpoint/ckpt", "WEIR_PROGRAM[(]", ",")
    rows("checkpoint parts", "/checkpoint/parts", "WEIR_PROGRAM[(]", ",")
    rows("operation", "/programs/", "(ROW|PHASE|STAGE)[(]", "[,)]")
    rows("operation", "/programs/", "struct weir_phase [a-z_]+ = [{][^.]*[.]key = ", "[,}]")
    rows("operation", "/ior/", "[[][A-Z_ +]*WEIR_DIR_[A-Z]*[]] = [{] ", ",")
    rows("ior operation", "/ior/", "[[][A-Z_ +]*WEIR_DIR_[A-Z]*[]] = [{] ", ",")
    rows("operation", "/md-workbench/", "STAGE[(]MDW_[A-Z]*, ", ",")
    rows("md-workbench phase", "/md-workbench/", "STAGE[(]MDW_[A-Z]*, ", ",")
    rows("mdtest operation", "/mdtest/", "ROW[(]\"[a-z ]*\", ", ",")
    rows("mdtest call", "/mdtest/", "ROW[(]\"[a-z ]*\", \"[A-Z][a-z ]*\", ", ",")
    rows("mdtest call", "/mdtest/", "define CALL[(]", "[}]")
    rows("mdtest call", "/engine/", "[*]call_name[(]", "\n[}]")
    rows("buffers", "/checkpoint", "\"buffers\",", ";")
    rows("verified", "/checkpoint/", "[*]ckpt_verified[(]", "\n[}]")
    rows("access", "/ior/", "_FOR_ALL, \"access\",", ";")
    rows("type", "/ior/", "_FOR_ALL, \"type\",", ";")
    rows("order in a file", "/ior/", "_FOR_ALL, \"ordering in a file\",", ";")
    rows("order of files", "/ior/", "_FOR_ALL, \"ordering inter file\",", ";")
    rows("packet", "/ior/", "ior_packets[[][]] = ", ";", "\"[a-z]")
    rows("statistic", "/h5exerciser/", "five_names[[]H5EX_FIVES[]] = ", ";")
    rows("divisor", "/engine/", "\"deviationDivisor\",", ";")
    rows("status", "/base/", "enum weir_code [{]", "[}];", "= [0-9]+")
    rows("placement", "/engine/", "[*]const names[[][]] = [{][ \n]*[[]WEIR_PLACED", "[}];")
    rows("ended", "/engine/", "[*]name_end[(]", "\n[}]")
    rows("until ended", "/engine/", "ends[[]ENDS[]] = ", ";")
    rows("arrivals", "/engine/", "weir_arrivals[[][]] = ", ";")
    rows("io500 mode", "/weir-io500/", "io500_modes[[][]] = ", ";")
    rows("io500 kind", "/weir-io500/", "[*]kind_of[(]", "\n[}]")
    rows("io500 group", "/weir-io500/", "groups[[][]] = ", ";")
    rows("io500 reason", "/weir-io500/", "kinds[[][]] = ", ";")
    rows("io500 length", "/weir-io500/", "lengths[[][]] = ", ";")
    rows("io500 room", "/weir-io500/", "[*]fit_of[(]", "\n[}]")
    rows("io500 yes", "/weir-io500/", "[*]yes[(]", "\n[}]")
    rows("mix end", "/weir-mix/", "mix_ends[[][]] = ", ";")
    rows("steady", "/engine/", "[.]steady = v->steady", ",")
    rows("sweep", "/engine/", "weir_sweep_units[[][]] = ", ";")
    rows("sweep outcome", "/engine/", "[*]outcome_of[(]const struct weir_sweep", "\n[}]")
    rows("unit", "/engine/", "[.]unit = s->moves_bytes", ",")
    rows("steady", "/engine/", "[.]steady = v->steady", ",")
    rows("part", "/engine/", "part_names[[][A-Z]*[]] = ", ";")
    rows("rules", "/engine/", "weir_rule_sets[[][]] = ", ";")
    rows("outcome", "/engine/", "outcomes[[][]] = ", ";")
    rows("severity", "/engine/", "[*]weir_severity_name[(]", "\n[}]")
    rows("verdict", "/engine/", "[*]weir_verdict_name[(]", "\n[}]")
}

function fail(text) {
    print "result.schema.awk: " text | "cat >&2"
    failed = 1
    exit 1
}

function keep(name, word) {
    gsub(/^(= |['"])|['"]$/, "", word)
    if (!((name, word) in known)) {
        known[name, word] = 1
        words[name] = words[name] "\n" (name == "status" ? word : "\"" word "\"")
    }
}

# The words of rows i in the text of a source
function take(i, text,    part) {
    while (match(text, begin_of[i])) {
        text = substr(text, RSTART + RLENGTH)
        part = match(text, end_of[i]) ? substr(text, 1, RSTART) : text
        while (match(part, word_of[i])) {
            keep(name_of[i], substr(part, RSTART, RLENGTH))
            part = substr(part, RSTART + RLENGTH)
        }
    }
}

function end_source(    i) {
    for (i = 1; i <= n; i++)
        if (source ~ file_of[i])
            take(i, text)
    text = ""
}

# What stands for "@NAME - WORD@"
function list(what,    part, names, all, out, i, k) {
    k = split(what, part, " - ")
    if (!(part[1] in words))
        fail("no source has words of '" part[1] "'")
    names = words[part[1]] "\n"
    for (i = 2; i <= k; i++) {
        all = part[1] == "status" ? part[i] : "\"" part[i] "\""
        if (!index(names, "\n" all "\n"))
            fail("'" part[1] "' has no word '" part[i] "' to leave out")
        names = substr(names, 1, index(names, "\n" all "\n")) substr(names, index(names, "\n" all "\n") + length(all) + 2)
    }
    out = substr(names, 2, length(names) - 2)
    gsub(/\n/, ", ", out)
    return out
}

FNR == 1 {
    end_source()
    source = "/" FILENAME
}

source ~ /[.]in$/ {
    while (match($0, /"@[^"@]*@"/))
        $0 = substr($0, 1, RSTART - 1) list(substr($0, RSTART + 2, RLENGTH - 4)) substr($0, RSTART + RLENGTH)
    print
    next
}

{ text = text $0 "\n" }

END {
    if (failed)
        exit 1
}
