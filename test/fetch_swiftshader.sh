#!/bin/sh
# Installs SwiftShader, the software driver that Debian ships within Chromium, into a folder: its library, its driver
# file and its license. The script needs apt's lists and the network but not root.
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
for name in chromium-common chromium; do # the version decides which of the two packages has it
  (cd "$work" && apt-get download "$name" && mv "$name"_*.deb package.deb) || continue
  dpkg-deb --fsys-tarfile "$package" | tar -xf - -C "$work" --wildcards './usr/lib/chromium/*vk_swiftshader*' \
    './usr/share/doc/*/copyright' || continue
  [ -e "$work/usr/lib/chromium/vk_swiftshader_icd.json" ] || continue
  mkdir -p "$folder"
  cp "$work/usr/lib/chromium/libvk_swiftshader.so" "$work/usr/share/doc/$name/copyright" "$folder"
  cp "$work/usr/lib/chromium/vk_swiftshader_icd.json" "$folder" # copied last, because its presence marks a complete folder
  exit
done
echo "neither chromium-common nor chromium has SwiftShader, or apt can't download them"
exit 1
