# Puts a program into its file and becomes its interpreter, all in one exec. `$0` is the file, the rest is the command.
file=$0
folder=${file%/*}
[ -w "$folder" ] || file=/tmp/${file##*/}
for tool in $SANDTOP_NEEDS; do
    command -v "$tool" >/dev/null 2>&1 && found=$tool && break
done
if [ -n "$SANDTOP_NEEDS" ] && [ -z "$found" ]; then
    echo "sandtop: this image cannot run $SANDTOP_LANGUAGE: it has no $SANDTOP_NEEDS" >&2
    exit 127
fi
# The same text may lie there already under the name that people gave it: then that file runs, and errors name it.
hidden=$file
if [ -f "$SANDTOP_SAME" ] && {
    if [ -n "${SANDTOP_CODE+set}" ]; then printf %s "$SANDTOP_CODE" | cmp -s - "$SANDTOP_SAME"
    else cmp -s "$file" "$SANDTOP_SAME"; fi
} 2>/dev/null; then
    file=$SANDTOP_SAME
    unset SANDTOP_CODE
fi
umask 077
if [ -n "${SANDTOP_CODE+set}" ]; then
    # In two steps, because another run of the same program may be reading the file.
    printf %s "$SANDTOP_CODE" >"$file.$$" && mv -f "$file.$$" "$file" || exit 126
fi
if [ -n "${SANDTOP_CONTEXT_JSON+set}" ]; then
    export SANDTOP_CONTEXT="$hidden.json"
    printf %s "$SANDTOP_CONTEXT_JSON" >"$SANDTOP_CONTEXT" || exit 126
fi
if [ "$file" != "$0" ]; then
    for word; do
        shift
        [ "$word" = "$0" ] && word=$file
        set -- "$@" "$word"
    done
fi
umask 022
if [ -n "$SANDTOP_PACKAGES" ]; then
    if [ ! -e "$SANDTOP_PACKAGES/.sandtop-complete" ]; then
        echo "sandtop: the packages of this run were removed meanwhile; run it again" >&2
        exit 125
    fi
    case $SANDTOP_INSTALLER in
    pip) export PYTHONPATH="$SANDTOP_PACKAGES${PYTHONPATH:+:$PYTHONPATH}" PATH="$PATH:$SANDTOP_PACKAGES/bin" ;;
    npm)
        export NODE_PATH="$SANDTOP_PACKAGES${NODE_PATH:+:$NODE_PATH}" PATH="$PATH:$SANDTOP_PACKAGES/.bin"
        # Modules do not look at NODE_PATH, only for this name beside them and above. A folder of the user's own stays.
        if [ "$SANDTOP_PACKAGES" != /node_modules ]; then
            case $(readlink "$folder/node_modules" || ls -d "$folder/node_modules") in
            '' | "$folder"/.sandtop-packages/*) ln -sfn "$SANDTOP_PACKAGES" "$folder/node_modules" ;;
            esac 2>/dev/null
        fi
        ;;
    esac
fi
unset SANDTOP_CODE SANDTOP_SAME SANDTOP_CONTEXT_JSON SANDTOP_NEEDS SANDTOP_LANGUAGE SANDTOP_PACKAGES SANDTOP_INSTALLER
exec "$@"
