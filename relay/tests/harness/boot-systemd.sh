#!/bin/sh
# Boots this machine's own systemd in namespaces, over a throw-away copy of the root. Run by `systemd.rs` under
# unshare, as `boot-systemd.sh DIR`; whatever is in DIR/carry is found at /carry inside.
set -e
mount -t tmpfs none "$1/over"
mkdir "$1/over/upper" "$1/over/work" "$1/over/merged"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/over/upper,workdir=$1/over/work" "$1/over/merged"
cd "$1/over/merged"
mkdir carry
cp "$1"/carry/* carry/
mount -t proc proc proc
mount -t sysfs sysfs sys || true
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount --rbind /dev dev
ip link set lo up
printf '[Unit]\nDescription=Demo\n[Service]\nExecStart=/bin/sh -c "echo hello; exec sleep 1000"\n' > etc/systemd/system/toolgate-demo.service
printf '[Unit]\nDescription=Failing\n[Service]\nExecStart=/bin/false\n' > etc/systemd/system/toolgate-failed.service
exec env -i container=toolgate PATH=/usr/bin:/bin:/usr/sbin:/sbin \
    chroot . /lib/systemd/systemd --system --unit=basic.target
