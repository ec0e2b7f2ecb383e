_abistore_completion() {
    local line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS//[^@:=]/} word before='' response type value
    word=${line##*[[:space:]]}
    [[ -z $word ]] && line+="''"
    # Bash begins a new word behind each of these marks, so the answer must not repeat what precedes the last
    [[ -n $breaks ]] && before=${word%"${word##*[$breaks]}"}
    [[ $word == -*=* ]] && before=${before#*=}
    response=$(env COMP_WORDS="$line" COMP_CWORD=-1 _ABISTORE_COMPLETE=bash_complete "$1")
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                printf -v value %q "${value#"$before"}"
                COMPREPLY+=("$value")
                ;;
        esac
    done <<< "$response"
}

complete -o nosort -F _abistore_completion abistore
COMP_WORDBREAKS="${COMP_WORDBREAKS//@/}"
