"""Debian's Slurm on loopback: munged, a controller and, where wanted, a daemon for each node."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from cluster import LIMIT_S, Failed, wait_for  # noqa: E402
from ports import free_ports  # noqa: E402

PATH = os.environ["PATH"] + ":/usr/sbin:/usr/bin"
SKIP = 77


def need(*tools):
    """Ends the test as skipped where something is not there."""
    if os.geteuid() != 0:
        print("skipped: Slurm's daemons and their users need root")
        sys.exit(SKIP)
    for tool in tools or ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(tool, path=PATH):
            print(f"skipped: {tool} is not installed (scripts/deps test)")
            sys.exit(SKIP)


class Slurm:
    """'cloud': nodes without daemons, which are allocated and never come up.

    'settings' are lines of slurm.conf in place of those here; 'size' is what a node has beside its
    GPUs: cores, sockets, MB. 'accounts': words for sacctmgr, each a list, put into a slurmdbd with
    a MariaDB of its own.
    """

    def __init__(self, folder, nodes, gpus=2, cloud=False, more="", node_more="", leaf=16,
                 prefix="n", digits=3, partition="", settings=None, size=None,
                 accounts=None):
        self.folder = pathlib.Path(folder)
        self.settings, self.size = settings or {}, size or (4 * gpus, 1, 8000 * gpus)
        self.count, self.gpus, self.cloud, self.leaf = nodes, gpus, cloud, leaf
        self.more, self.node_more, self.partition = more, node_more, partition
        self.digits, self.prefix = digits, prefix
        self.names = [f"{prefix}{i:0{digits}}" for i in range(nodes)]
        self.list = f"{prefix}[{0:0{digits}}-{nodes - 1:0{digits}}]"
        self.conf = self.folder / "etc/slurm.conf"
        self.env = dict(os.environ, SLURM_CONF=str(self.conf), PATH=PATH)
        self.munged = self.controller = None
        self.daemons = {}
        self.accounts = accounts

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.controller:
            subprocess.run(["scancel", "--state=running,pending", "--user=root"], env=self.env,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60,
                           check=False)
        processes = [*self.daemons.values(), self.controller, self.munged]
        for process in processes:
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in processes:
            if process and process.poll() is None:
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.kill_steps()

    def kill_steps(self):
        """Step daemons have groups of their own; they are known by our folder in their words."""
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
                ours = b"slurmstepd" in words and str(self.folder).encode() in (
                    entry / "environ").read_bytes()
                if ours:
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                pass

    def start(self):
        for part in ("etc", "state", "spool", "log", "dev"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self.write_config()
        self.start_munge()
        if self.accounts:
            self.start_accounts()
        self.start_controller()
        for words in self.accounts or ():  # what a GPU is, slurmdbd learns from the controller
            self.account(*words)
        if not self.cloud:
            for name in self.names:
                self.start_node(name)
            self.wait_idle()

    def wait_idle(self):
        """Where that does not come about: which node, and the last words of its daemon."""
        try:
            wait_for("all nodes idle", lambda: set(self.states()) == {"idle"})
        except Failed as fault:
            said = [f"{fault}: {self.ask('sinfo', '-h', '-N', '-o', '%N %T %E', check=False)}"]
            for name in self.names:
                log = self.folder / "log" / f"{name}.log"
                said.append(f"{name} (ended: {self.daemons[name].poll()}): "
                            + (log.read_text()[-300:] if log.exists() else "said nothing"))
            raise Failed("\n".join(said)) from fault

    def start_munge(self, key=None):
        at = self.folder
        path = at / "munge.key"
        path.write_bytes(key or os.urandom(128))
        path.chmod(0o600)
        self.munged = subprocess.Popen(
            ["munged", "--foreground", "--force", f"--socket={at}/munge.sock",
             f"--key-file={path}", f"--pid-file={at}/munged.pid", f"--log-file={at}/munged.log",
             f"--seed-file={at}/munge.seed"], env=self.env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        wait_for("munged", lambda: (at / "munge.sock").exists())

    def own_conf(self):
        """The same Slurm, asked with a credential of whoever 'own.sock' is."""
        folder = self.folder / "own"
        folder.mkdir()
        for name in ("gres.conf", "slurm.conf"):
            text = (self.folder / "etc" / name).read_text()
            (folder / name).write_text(text.replace(f"{self.folder}/munge.sock",
                                                    f"{self.folder}/own.sock"))
        self.use_munge("munge.sock")
        return folder / "slurm.conf"

    def start_stranger(self):
        """A munged with another key; the name of its socket."""
        at = self.folder / "stranger"
        at.mkdir(mode=0o755)
        (at / "key").write_bytes(os.urandom(128))
        (at / "key").chmod(0o600)
        self.daemons["stranger"] = subprocess.Popen(
            ["munged", "--foreground", "--force", f"--socket={at}/sock", f"--key-file={at}/key",
             f"--pid-file={at}/pid", f"--log-file={at}/log", f"--seed-file={at}/seed"],
            env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("a second munged", lambda: (at / "sock").exists())
        return "stranger/sock"

    def use_munge(self, name):
        link = self.folder / "own.sock"
        link.unlink(missing_ok=True)
        link.symlink_to(self.folder / name)

    def hold_credentials(self, seconds):
        """For how long those with which it is asked are good; 0: as long as they are by default."""
        conf, own = self.folder / "own/slurm.conf", f"{self.folder}/own.sock"
        text = re.sub(re.escape(own) + r"(,ttl=\d+)?", own + (f",ttl={seconds}" if seconds else ""),
                      conf.read_text())
        (self.folder / "own/new").write_text(text)
        os.replace(self.folder / "own/new", conf)

    def start_accounts(self):
        """MariaDB and slurmdbd, known to slurm.conf, with the accounts that were wanted."""
        at, port = self.folder, self.account_ports
        log = open(at / "mariadb.log", "ab")
        common = ("--no-defaults", f"--datadir={at}/db", "--user=root")
        subprocess.run(["mariadb-install-db", *common, "--skip-test-db",
                        "--auth-root-authentication-method=normal"], env=self.env, stdout=log,
                       stderr=log, check=True)
        (at / "init.sql").write_text("CREATE USER 'slurm'@'127.0.0.1' IDENTIFIED BY 'lab';\n"
                                     "GRANT ALL ON slurm.* TO 'slurm'@'127.0.0.1';\n")
        self.daemons["mariadb"] = subprocess.Popen(
            ["mariadbd", *common, f"--socket={at}/db.sock", f"--port={port}",
             "--bind-address=127.0.0.1", f"--pid-file={at}/db.pid", f"--init-file={at}/init.sql",
             "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0"],
            env=self.env, stdout=log, stderr=log)
        conf = at / "etc/slurmdbd.conf"
        conf.write_text(f"AuthType=auth/munge\nAuthInfo=socket={at}/munge.sock\n"
                        f"DbdHost={socket.gethostname()}\nDbdAddr=127.0.0.1\nDbdPort={port + 1}\n"
                        f"SlurmUser=root\nLogFile={at}/slurmdbd.log\nPidFile={at}/slurmdbd.pid\n"
                        "StorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\n"
                        f"StoragePort={port}\nStorageUser=slurm\nStoragePass=lab\n"
                        "StorageLoc=slurm\n")
        conf.chmod(0o600)
        with open(self.conf, "a", encoding="utf-8") as more:
            more.write("AccountingStorageType=accounting_storage/slurmdbd\n"
                       "AccountingStorageHost=127.0.0.1\n"
                       f"AccountingStoragePass={at}/munge.sock\n"
                       f"AccountingStoragePort={port + 1}\nAccountingStorageTRES=gres/gpu\n"
                       "AccountingStorageEnforce=associations,limits\n")
        wait_for("MariaDB", lambda: (at / "db.sock").exists())
        self.daemons["slurmdbd"] = subprocess.Popen(
            ["slurmdbd", "-D"], env={**self.env, "SLURM_CONF": str(conf)}, stdout=log, stderr=log)
        log.close()
        self.account("add", "cluster", "lab")

    def account(self, *words):
        """sacctmgr, once slurmdbd answers."""
        wait_for(f"sacctmgr {words}", lambda: subprocess.run(
            ["sacctmgr", "-i", *words], env=self.env, capture_output=True, check=False,
            timeout=60).returncode == 0)

    def start_controller(self):
        self.controller = subprocess.Popen(["slurmctld", "-D", "-f", self.conf], env=self.env,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("slurmctld", lambda: "UP" in self.ask("scontrol", "ping", check=False))

    def start_node(self, name):
        self.daemons[name] = subprocess.Popen(
            ["slurmd", "-D", "-N", name, "-f", self.conf], env=self.env,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def write_config(self):
        at, host = self.folder, socket.gethostname()
        nodes = 0 if self.cloud else self.count
        port = free_ports(nodes + 3)
        self.account_ports = port + nodes + 1
        cores, sockets, memory = self.size
        size = (f"CPUs={cores} Sockets={sockets} CoresPerSocket={cores // sockets} "
                f"ThreadsPerCore=1 RealMemory={memory} Gres=gpu:h100:{self.gpus} "
                f"{self.node_more}")
        if self.cloud:
            nodes = f"NodeName={self.list} NodeAddr=127.0.0.1 {size} State=CLOUD"
            extra = {"ResumeProgram": "/bin/true", "SuspendProgram": "/bin/true", "ResumeRate": 0,
                     "SuspendRate": 0, "ResumeTimeout": 65000, "SuspendTimeout": 1,
                     "SuspendTime": 100000000, "PrivateData": "cloud",
                     "SlurmctldParameters": "cloud_dns", "SlurmdTimeout": 0}
        else:
            nodes = (f"NodeName={self.list} NodeHostname=localhost NodeAddr=127.0.0.1 "
                     f"Port=[{port + 1}-{port + self.count}] {size} State=UNKNOWN")
            extra = {"SlurmdTimeout": 300, "SlurmdParameters": "config_overrides"}
            for name in self.names:
                (at / "spool" / name).mkdir(exist_ok=True)
            for gpu in range(self.gpus):
                path = at / "dev" / f"gpu{gpu}"
                if not path.exists():
                    os.mknod(path, 0o666 | 0o020000, os.makedev(1, 3))
        last = self.gpus - 1
        (at / "etc/gres.conf").write_text(
            f"NodeName={self.list} Name=gpu Type=h100 File={at}/dev/gpu"
            + (f"[0-{last}]\n" if last else "0\n") if not self.cloud else
            f"NodeName={self.list} Name=gpu Type=h100 File=/dev/nvidia[0-{last}]\n")
        lines = {
            "ClusterName": "lab", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmctldPort": port,
            "SlurmUser": "root", "AuthInfo": f"socket={at}/munge.sock",
            "StateSaveLocation": f"{at}/state", "SlurmctldLogFile": f"{at}/slurmctld.log",
            "SlurmctldPidFile": f"{at}/slurmctld.pid", "SlurmctldDebug": "info",
            "SlurmdSpoolDir": f"{at}/spool/%n", "SlurmdPidFile": f"{at}/slurmd.%n.pid",
            "SlurmdLogFile": f"{at}/log/%n.log", "LogTimeFormat": "iso8601_ms",
            "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core_Memory",
            "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "GresTypes": "gpu",
            "ReturnToService": 1, "KillWait": 5, "MessageTimeout": 30, "MinJobAge": 60,
            "SchedulerParameters":
                "batch_sched_delay=0,sched_min_interval=1000,sched_interval=2",
            **extra, **self.settings}
        self.conf.write_text(
            "".join(f"{key}={value}\n" for key, value in lines.items())
            + f"{self.more}\n{nodes}\n{self.partition}\n"
            + f"PartitionName=all Nodes={self.list} Default=YES MaxTime=INFINITE "
            + "OverSubscribe=NO State=UP\n")

    def ask(self, *command, check=True, limit_s=LIMIT_S):
        result = subprocess.run([str(word) for word in command], env=self.env, text=True,
                                capture_output=True, check=False, timeout=limit_s)
        if check and result.returncode != 0:
            raise Failed(f"{command[0]}: {result.stderr.strip()}")
        return result.stdout

    def states(self):
        return self.ask("sinfo", "-h", "-N", "-o", "%T", check=False).split()

    def state(self, node):
        return self.ask("sinfo", "-h", "-n", node, "-o", "%T|%E", check=False).strip()

    def jobs(self, *more):
        """Lines of squeue: id, state, nodes, name."""
        lines = self.ask("squeue", "-h", "-t", "all", "-o", "%i|%T|%N|%j", *more, check=False)
        return [line.split("|") for line in lines.splitlines()]

    def rpcs(self):
        """How many requests the controller has had so far, by type; those of sdiag left out."""
        pattern = r"^\s*((?:REQUEST|MESSAGE)\w+)\s*\(\s*\d+\)\s*count:(\d+)"
        found = dict(re.findall(pattern, self.ask("sdiag", check=False), re.M))
        return {name: int(count) for name, count in found.items() if "STATS" not in name}
