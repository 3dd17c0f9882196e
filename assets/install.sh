# Installs packages into a set. `$0` is pip or npm, then the folder of the set, a folder to work in, and what is wanted.
packages=$1
work=$2
shift 2
export HOME="$work" TMPDIR="$work/tmp" XDG_CACHE_HOME="$work/cache"
mkdir -p "$TMPDIR" || exit

# What the image has already is not installed again. One requirement a line; none of them holds a line break.
only_missing() {
    case $installer in
    pip) python3 -c '
import sys
from importlib import metadata
from pip._vendor.packaging.requirements import Requirement
def is_there(text):
    try:
        wanted = Requirement(text)
        if wanted.marker and not wanted.marker.evaluate():
            return True
        if wanted.url or wanted.extras:
            return False
        return wanted.specifier.contains(metadata.version(wanted.name), prereleases=True)
    except Exception:
        return False
print("\n".join(text for text in sys.argv[1:] if not is_there(text)))
' "$@" 2>/dev/null ;;
    npm) node -e '
const missing = process.argv.slice(1).filter((name) => {
    try { require.resolve(name, { paths: ["/"] }); return false; } catch { return true; }
});
console.log(missing.join("\n"));
' -- "$@" 2>/dev/null ;;
    esac
}

installer=$0
# What an image has for `require` is not found by `import`, and what one program had installed serves both: so all or nothing.
if [ -z "$SANDTOP_FOR_IMPORT" ] && missing=$(only_missing "$@"); then
    if [ "$installer" = pip ] || [ -z "$missing" ]; then
        set -f
        IFS='
'
        set -- $missing
        unset IFS
        set +f
    fi
fi
[ $# -gt 0 ] || exit 0
case $installer in
pip)
    exec python3 -m pip install --no-input --disable-pip-version-check --no-cache-dir --no-color \
        --progress-bar off --no-warn-script-location --target "$packages" -- "$@"
    ;;
npm)
    # In a folder of its own first: npm likes to move node_modules itself, which a mount cannot be.
    mkdir -p "$work/build" && echo '{"private": true}' >"$work/build/package.json" && cd "$work/build" || exit
    npm install --no-audit --no-fund --no-update-notifier --no-progress --no-color --loglevel=warn \
        --cache "$work/cache/npm" -- "$@" || exit
    rm -f node_modules/.package-lock.json
    cp -a node_modules/. "$packages/"
    ;;
esac
