#!/usr/bin/env bash
# A SLURM cluster on this machine: two emulated nodes of one core, on loopback, without systemd, in a folder of its own.
#
#   tests/launch/slurm.sh start FOLDER    then: export SLURM_CONF=FOLDER/slurm.conf
#   tests/launch/slurm.sh stop FOLDER
#
# Debian: apt-get install slurmctld slurmd slurm-client munge. As root, or as any user, whose cluster it then is.
set -euo pipefail
usage="usage: $0 start|stop FOLDER"
command=${1:?$usage} folder=$(realpath -m "${2:?$usage}")
export PATH=$PATH:/usr/sbin SLURM_CONF=$folder/slurm.conf
nodes="node1 node2"

stop() {
    scancel --me 2>/dev/null || true
    pids=()
    for name in $(for node in $nodes; do echo "slurmd-$node"; done) slurmctld munged; do
        if pid=$(cat "$folder/$name.pid" 2>/dev/null) && kill "$pid" 2>/dev/null; then pids+=("$pid"); fi
    done
    for _ in $(seq 100); do kill -0 "${pids[@]}" 2>/dev/null || return 0; sleep 0.1; done
    kill -9 "${pids[@]}" 2>/dev/null || true
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start() {
    mkdir -p "$folder"/{state,spool-node1,spool-node2}
    chmod 755 "$folder"
    mkdir -m 755 -p "$folder/munge"
    (umask 077 && head -c 128 /dev/urandom > "$folder/munge/key")
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
    # A requeued job waits for as long as its old credential is valid: two minutes, if nothing is said.
    cat > "$SLURM_CONF" <<CONF
ClusterName=learnalg
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
SlurmctldPort=$(free_port)
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=100000
ReturnToService=1
KillWait=10
MpiDefault=none
$(for node in $nodes; do echo "NodeName=$node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$(free_port) CPUs=1"; done)
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverTimeLimit=0 State=UP
CONF
    slurmctld
    for node in $nodes; do slurmd -N "$node"; done
    for _ in $(seq 150); do
        [ "$(sinfo -h -N -t idle 2>/dev/null | wc -l)" = 2 ] && return
        sleep 0.2
    done
    tail -n 5 "$folder"/*.log >&2
    stop
    echo "no SLURM nodes after 30 s; the logs are in $folder" >&2
    exit 1
}

case $command in start) start ;; stop) stop ;; *) echo "$usage" >&2; exit 2 ;; esac
