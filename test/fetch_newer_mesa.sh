#!/bin/sh
# fetch_newer_mesa.sh DRIVER FOLDER: puts a driver of a newer Mesa into a folder. DRIVER is
#   lavapipe: the software driver, which multiplies matrices (VK_KHR_cooperative_matrix), from Debian 13's backports;
#   radv: the driver for AMD GPUs of Debian 13, which knows newer chips. The Mesa of the backports no longer compiles
#         without a GPU.
# The folder gets all libraries that the driver needs, the C library included, a validation layer and tools for SPIR-V
# that know of matrices, and `run`, which runs a program there. They come from the archive that apt is configured with for
# this system's own release. Needs the network, but not to be root: apt has its lists in the folder too, and the system's
# stay as they are.
set -e
driver=$1 folder=$2
case $driver in
lavapipe) suite=trixie-backports manifest=lvp_icd library=libvulkan_lvp.so ;;
radv) suite=trixie manifest=radeon_icd library=libvulkan_radeon.so ;;
*)
  echo "expected the driver lavapipe or radv, but got '$driver'"
  exit 1
  ;;
esac
packages="mesa-vulkan-drivers/$suite
  libc6 libdisplay-info2 libdrm-amdgpu1 libdrm2 libedit2 libelf1t64 libexpat1 libffi8 libgcc-s1 libbsd0 libllvm19 liblzma5
  libmd0 libpng16-16t64 libstdc++6 libtinfo6 libvulkan1 libwayland-client0 libx11-6 libx11-xcb1 libxau6 libxcb-dri3-0
  libxcb-present0 libxcb-randr0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb1 libxdmcp6 libxml2 libxshmfence1 libz3-4
  libzstd1 spirv-tools vulkan-validationlayers zlib1g"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ "$(dpkg --print-architecture)" != amd64 ]; then
  echo "the newer $driver is available for amd64 only"
  exit 1
fi
if [ "$(cat "$folder/packages" 2>/dev/null)" = "$packages" ]; then
  exit
fi
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
# Debian's archive holds several releases, so the one with this system's release has Debian 13's too. A vendor's archive
# may use the same release name: `update` rejects it, because Debian's keys did not sign it.
sites=$(apt-get indextargets --no-release-info --format '$(RELEASE) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
  sed -n "s/^$codename main //p" | awk '!seen[$0]++')
if [ -z "$codename" ] || [ -z "$sites" ]; then
  echo "apt's configuration names no archive of this system's release, '$codename'"
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/files"
folder=$(cd "$folder" && pwd)
cd "$folder/apt"
apt() {
  apt-get -q -o APT::Sandbox::User= -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=/nowhere \
    -o Dir::State::status=/dev/null -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" \
    -o Acquire::Languages=none "$@"
}
# Reads the lists of Debian 13 from the first archive that has them. apt checks their signatures.
update() {
  for site in $sites; do
    for suite in trixie trixie-backports; do
      echo "deb [signed-by=$keyring] $site $suite main"
    done >sources.list
    if apt -o APT::Update::Error-Mode=any update; then
      return
    fi
  done
  return 1
}
update || {
  echo "no archive in apt's configuration has lists of Debian 13 that apt can read and verify"
  exit 1
}
# apt checks the SHA256 of each package.
# shellcheck disable=SC2086 # a list of words
apt download $packages || {
  echo "Debian 13's packages of Mesa can't be downloaded"
  exit 1
}
for package in *.deb; do
  dpkg-deb -x "$package" "$folder/files"
done
cd ..
rm -rf apt files/usr/share/icons files/usr/share/locale
libraries=$folder/files/usr/lib/x86_64-linux-gnu
sed "s|\"library_path\": *\"[^\"]*\"|\"library_path\": \"$libraries/$library\"|" \
  files/usr/share/vulkan/icd.d/$manifest*.json >$manifest.json
cat >run <<END
#!/bin/sh
# run PROGRAM ARGUMENTS...: runs a program with the driver, the C library and the other libraries of this folder.
program=\$(command -v "\$1") || { echo "run: no program '\$1'" >&2; exit 127; }
shift
export PROGRAM_FOLDER="\${program%/*}"
export VK_DRIVER_FILES=$folder/$manifest.json VK_LAYER_PATH=$folder/files/usr/share/vulkan/explicit_layer.d
exec $libraries/ld-linux-x86-64.so.2 --library-path $libraries "\$program" "\$@"
END
# The system takes the dynamic loader for the program, so a program that starts another one looks for it here.
cat >"$libraries/inlay-compile" <<END
#!/bin/sh
exec $folder/run "\$PROGRAM_FOLDER/inlay-compile" "\$@"
END
chmod +x run "$libraries/inlay-compile"
echo "$packages" >packages # written last, because its presence marks a complete folder
