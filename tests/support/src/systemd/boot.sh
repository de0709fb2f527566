# boot MACHINE BINARY: becomes systemd on a throw-away root. Runs in namespaces of its own; see systemd.rs.
set -e
machine=$1
mkdir -p "$machine"
mount -t tmpfs tmpfs "$machine"
mkdir "$machine/upper" "$machine/work" "$machine/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$machine/upper,workdir=$machine/work" "$machine/root"
root=$machine/root
mkdir -p "$root/usr/local/bin"
cp "$2" "$root/usr/local/bin/toolgate"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
: >"$root/etc/machine-id"
mkdir -p "$root/run/systemd/system"
cat >"$root/run/systemd/system/demo.service" <<'UNIT'
[Unit]
Description=A service that runs
[Service]
ExecStart=/bin/sleep 1000000
UNIT
cat >"$root/run/systemd/system/broken.service" <<'UNIT'
[Unit]
Description=A service that fails
[Service]
ExecStart=/bin/false
UNIT
exec chroot "$root" env -i container=toolgate-test PATH=/usr/bin:/bin:/usr/sbin:/sbin \
  /lib/systemd/systemd --system --unit=basic.target
