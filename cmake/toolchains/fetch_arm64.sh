#!/bin/sh
# Installs Debian's arm64 builds of the libraries that the runtime and its tests link, with their headers and the C and
# C++ runtime libraries, into a folder. The script needs the network but not root: apt keeps its lists in the folder, and
# the lists of the system do not change.
set -e
packages="libfmt-dev libfmt9 libsodium-dev libsodium23 libxxhash-dev libvulkan-dev libvulkan1 libvulkan-volk-dev
  libdnnl-dev libdnnl2 libcli11-dev nlohmann-json3-dev libzip-dev libzip4 zlib1g-dev zlib1g libbz2-1.0 libssl3 libgtest-dev
  spirv-tools libc6 libgcc-s1 libgomp1 libstdc++6"
folder=$1
if [ "$(cat "$folder/packages" 2>/dev/null)" = "$packages" ]; then
  exit
fi
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
folder=$(cd "$folder" && pwd)
cd "$folder/apt"
apt() {
  apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= -o Dir::State::status=/dev/null \
    -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" "$@"
}
apt update
# shellcheck disable=SC2086 # a list of words
apt download $packages
for package in *.deb; do
  dpkg-deb -x "$package" "$folder"
done
cd ..
rm -rf apt
echo "$packages" >packages # written last, because its presence marks a complete folder
