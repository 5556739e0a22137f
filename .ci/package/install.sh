#!/bin/sh
# sh install.sh [NAME] installs baoco @VERSION@ on Debian or Ubuntu with systemd, as root,
# or brings an older one up to it. With NAME, a domain name that leads to this server,
# baoco gets a certificate for it and serves HTTPS. The package is the one beside this
# script; where there is none it is downloaded from BAOCO_URL, or from where this release lies.
set -eu

# The packages of this release, and no others, are installed.
sums='@SUMS@'
settings=/etc/default/baoco

fail() {
	echo "install.sh: $1" >&2
	exit 1
}

fetch() {
	if command -v curl >/dev/null; then
		curl -fsSL -o "$2" "$1"
	else
		wget -q -O "$2" "$1"
	fi
}

# All is one function: of a script that was cut off, nothing is run.
main() {
	name="${1:-}"
	case "$name" in
	*[!A-Za-z0-9.-]* | -* | .*) fail "NAME is a domain name such as baoco.shop.vn, not '$name'" ;;
	esac
	[ "$(id -u)" = 0 ] || fail "run it as root: sudo sh install.sh"
	for program in dpkg systemctl; do
		command -v $program >/dev/null || fail "this needs Debian or Ubuntu with systemd; elsewhere take the tarball or the image"
	done
	architecture="$(dpkg --print-architecture)"
	package="baoco_@VERSION@_$architecture.deb"
	sum="$(echo "$sums" | grep " $package\$")" || fail "there is no package for the architecture $architecture"

	work="$(mktemp -d)"
	trap 'rm -rf "$work"' EXIT
	here="$(dirname "$0")/$package"
	if [ -e "$here" ]; then
		cp "$here" "$work/$package"
	else
		from="${BAOCO_URL:-@URL@}"
		[ -n "$from" ] || fail "put $package beside this script"
		fetch "$from/$package" "$work/$package" || fail "$from/$package can't be downloaded"
	fi
	(cd "$work" && echo "$sum" | sha256sum --check --quiet -) || fail "$package isn't the package of this release: its checksum differs"

	dpkg --force-confold -i "$work/$package" # the settings stay, and no question is asked
	if [ -n "$name" ] && ! grep -qxF "BAOCO_DOMAIN=$name" "$settings"; then
		echo "BAOCO_DOMAIN=$name" >>"$settings"
		systemctl restart baoco
	fi
	# Exit code 5 says that there are users already.
	runuser -u baoco -- baoco user set-up --db /var/lib/baoco/baoco.db || [ $? = 5 ]
}

main "$@"
