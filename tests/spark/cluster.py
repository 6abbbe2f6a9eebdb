"""A Spark standalone cluster on loopback: a master and workers as processes of their own, with pyspark's classes."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import psutil

from homes.errors import SeamlineError

STARTUP_SECONDS = 90


@dataclass
class Cluster:
    """`environment` is what a command needs to run on the cluster; the home must lie on this machine."""

    master: str
    workers: list[subprocess.Popen]
    environment: dict[str, str]

    def kill_worker(self, number: int) -> None:
        """SIGKILL worker `number` (from 0), its executors and their Python processes, as a lost machine would."""
        kill_session(self.workers[number])


@contextmanager
def standalone_cluster(workers: int, folder: Path, cores: int = 1, executor_memory: str = "512m") -> Iterator[Cluster]:
    """A master and `workers` workers, each with room for one executor of `cores` cores; stopped at the end of the
    block, however it ends. Logs and working folders lie below `folder`.

    Raises SeamlineError where one of them does not come up.
    """
    folder = folder.resolve()
    port, ui_port = _free_ports(2)
    host, master = "127.0.0.1", f"spark://127.0.0.1:{port}"
    with ExitStack() as running:
        name = "org.apache.spark.deploy.master.Master"
        arguments = ["--host", host, "--port", str(port), "--webui-port", str(ui_port)]
        processes = {"master": running.enter_context(_process("master", folder, name, arguments))}
        # A worker that finds no master tries again only after seconds
        _wait_for(lambda: _alive_workers(ui_port) is not None, processes, folder)
        for number in range(workers):
            name = "org.apache.spark.deploy.worker.Worker"
            arguments = ["--host", host, "--webui-port", "0", "--cores", str(cores), "--memory", executor_memory]
            label = f"worker-{number}"
            processes[label] = running.enter_context(_process(label, folder, name, [*arguments, master]))
        _wait_for(lambda: _alive_workers(ui_port) == workers, processes, folder)
        environment = {
            "SEAMLINE_SPARK_MASTER": master,
            "SPARK_EXECUTOR_MEMORY": executor_memory,
            "SPARK_LOCAL_IP": host,
        }
        yield Cluster(master, [p for label, p in processes.items() if label != "master"], environment)


@contextmanager
def _process(label: str, folder: Path, name: str, arguments: list[str]) -> Iterator[subprocess.Popen]:
    """One daemon, the leader of a session that its executors stay in; its output goes to `<label>.log`."""
    spark = Path(find_spec("pyspark").origin).parent
    for path in (folder / label / "work", folder / label / "local", folder / "conf"):
        path.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        "SPARK_HOME": str(spark),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "SPARK_WORKER_DIR": str(folder / label / "work"),
        "SPARK_LOCAL_DIRS": str(folder / label / "local"),
    }
    with open(folder / f"{label}.log", "w") as log:
        process = subprocess.Popen(
            [spark / "bin" / "spark-class", name, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder / label,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        kill_session(process)


def kill_session(process: subprocess.Popen) -> None:
    """SIGKILL a session leader and all that lives in its session, until nothing is left of it."""
    if process.returncode is not None and psutil.pid_exists(process.pid):
        return  # nothing was left of it, and its number is another's now
    while found := _living(process.pid):
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)
    process.wait()


def _living(leader: int) -> list[int]:
    """The living processes of the session that `leader` started."""
    found = []
    for pid in psutil.pids():
        try:
            if os.getsid(pid) == leader and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except (ProcessLookupError, PermissionError, psutil.Error):
            continue
    return found


def _wait_for(is_up, processes: dict[str, subprocess.Popen], folder: Path) -> None:
    deadline = time.monotonic() + STARTUP_SECONDS
    while not is_up():
        for label, process in processes.items():
            if process.poll() is not None:
                log = folder / f"{label}.log"
                raise SeamlineError(f"the Spark {label} ended at its start: {_last_line(log)} ({log})")
        if time.monotonic() > deadline:
            raise SeamlineError(f"no Spark cluster after {STARTUP_SECONDS} s; the logs lie in {folder}")
        time.sleep(0.1)


def _alive_workers(ui_port: int) -> int | None:
    """How many workers the master knows to live; None where it does not answer yet."""
    try:
        with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{ui_port}/json/", timeout=5) as answer:
            return json.load(answer)["aliveworkers"]
    except (OSError, ValueError):
        return None


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else f"{log} is empty"


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
