#!/bin/sh
# Installs the software driver of a newer Mesa, which supports VK_KHR_cooperative_matrix, into a folder. The folder also
# gets all libraries that the driver needs, the C library included, a validation layer and SPIR-V tools that support the
# extension, and `run`, which runs a program with them. The packages are from Debian 13, the driver from its backports,
# both from the mirror that this system uses. The script needs the network but not root: apt keeps its lists in the
# folder, and the lists of the system do not change.
set -e
packages="mesa-vulkan-drivers/trixie-backports
  libc6 libdisplay-info2 libdrm-amdgpu1 libdrm2 libedit2 libelf1t64 libexpat1 libffi8 libgcc-s1 libbsd0 libllvm19 liblzma5
  libmd0 libpng16-16t64 libstdc++6 libtinfo6 libvulkan1 libwayland-client0 libx11-6 libx11-xcb1 libxau6 libxcb-dri3-0
  libxcb-present0 libxcb-randr0 libxcb-shm0 libxcb-sync1 libxcb-xfixes0 libxcb1 libxdmcp6 libxml2 libxshmfence1 libz3-4
  libzstd1 spirv-tools vulkan-validationlayers zlib1g"
folder=$1
if [ "$(dpkg --print-architecture)" != amd64 ]; then
  echo "the newer lavapipe is available for amd64 only"
  exit 1
fi
if [ "$(cat "$folder/packages" 2>/dev/null)" = "$packages" ]; then
  exit
fi
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/files"
folder=$(cd "$folder" && pwd)
cd "$folder/apt"
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE)' 'Identifier: Packages' |
  awk -v release="$release" '$2 == release {print $1; exit}')
if [ -z "$mirror" ]; then
  echo "apt has no source for Debian's release '$release', whose mirror would also have Debian 13"
  exit 1
fi
for suite in trixie trixie-backports; do
  echo "deb $mirror $suite main" >>sources.list
done
apt() {
  apt-get -q -o APT::Sandbox::User= -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=/nowhere \
    -o Dir::State::status=/dev/null -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" \
    -o Acquire::Languages=none "$@"
}
# apt checks signatures and the SHA256 of each package.
apt -o APT::Update::Error-Mode=any update || {
  echo "apt can't read the package lists of Debian 13 from $mirror"
  exit 1
}
# shellcheck disable=SC2086 # a list of words
apt download $packages || {
  echo "apt can't download the packages of Debian 13 from $mirror"
  exit 1
}
for package in *.deb; do
  dpkg-deb -x "$package" "$folder/files"
done
cd ..
rm -rf apt files/usr/share/icons files/usr/share/locale
libraries=$folder/files/usr/lib/x86_64-linux-gnu
sed "s|\"library_path\": *\"[^\"]*\"|\"library_path\": \"$libraries/libvulkan_lvp.so\"|" \
  files/usr/share/vulkan/icd.d/lvp_icd*.json >lvp_icd.json
cat >run <<END
#!/bin/sh
# run PROGRAM ARGUMENTS...: runs a program with the driver, the C library and the other libraries of this folder.
program=\$(command -v "\$1") || { echo "run: no program '\$1'" >&2; exit 127; }
shift
export PROGRAM_FOLDER="\${program%/*}"
export VK_DRIVER_FILES=$folder/lvp_icd.json VK_LAYER_PATH=$folder/files/usr/share/vulkan/explicit_layer.d
exec $libraries/ld-linux-x86-64.so.2 --library-path $libraries "\$program" "\$@"
END
# The system takes the dynamic loader for the program, so a program that starts another one looks for it here.
cat >"$libraries/inlay-compile" <<END
#!/bin/sh
exec $folder/run "\$PROGRAM_FOLDER/inlay-compile" "\$@"
END
chmod +x run "$libraries/inlay-compile"
echo "$packages" >packages # written last, because its presence marks a complete folder
