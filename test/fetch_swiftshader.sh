#!/bin/sh
# Puts SwiftShader, the software driver that Debian ships within Chromium, into a folder: its library, its driver file
# and its licence. Needs apt's lists and the network, but not to be root.
set -e
folder=$1
if [ -e /usr/lib/chromium/vk_swiftshader_icd.json ]; then
  mkdir -p "$folder"
  cp /usr/lib/chromium/libvk_swiftshader.so /usr/lib/chromium/vk_swiftshader_icd.json "$folder"
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$work/package.deb
for name in chromium-common chromium; do # which of them has it depends on the version
  (cd "$work" && apt-get download "$name" && mv "$name"_*.deb package.deb) || continue
  dpkg-deb --fsys-tarfile "$package" | tar -xf - -C "$work" --wildcards './usr/lib/chromium/*vk_swiftshader*' \
    './usr/share/doc/*/copyright' || continue
  [ -e "$work/usr/lib/chromium/vk_swiftshader_icd.json" ] || continue
  mkdir -p "$folder"
  cp "$work/usr/lib/chromium/libvk_swiftshader.so" "$work/usr/share/doc/$name/copyright" "$folder"
  cp "$work/usr/lib/chromium/vk_swiftshader_icd.json" "$folder" # last: it says that all is there
  exit
done
echo "neither chromium-common nor chromium could be downloaded with it"
exit 1
