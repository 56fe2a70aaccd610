"""A real Ray cluster of two nodes on this machine: one is killed with a cell on it, which goes on on the other."""

import sys
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'learnalg[ray]'")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the node of a process in /proc")


@pytest.fixture
def cluster(monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    # The head takes no jobs, the other two nodes one at a time.
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    yield cluster
    cluster.shutdown()


def ancestors(process):
    found = []
    while process:
        found.append(process)
        # 'pid (name) state parent ...', and the name may have spaces
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return found


def test_a_cell_whose_node_is_killed_ends_on_another_as_an_undisturbed_one(cells, undisturbed, cluster):
    nodes = [cluster.add_node(num_cpus=1, wait=False) for _ in range(2)]
    cluster.wait_for_nodes()
    cells.pause(0.3)
    process = cells.start("--launch", f"ray:address={cluster.address}", "--cells", "first")
    cells.wait_for("first", 10, process)
    above = ancestors(cells.job("first", "started.json")["process"])
    (killed,) = (node for node in nodes if node.all_processes["raylet"][0].process.pid in above)
    cluster.remove_node(killed, allow_graceful=False)
    cells.wait_for("first", 0, process, sessions=2)
    cells.pause(0)
    out, error = process.communicate(timeout=300)
    assert (process.returncode, error) == (0, "")
    assert out.count("own/laptop/first: queued on ray") == 2 and "again, its process or its node was lost" in out
    (step,) = cells.resumed_at("first")
    assert 0 < step < 80 and cells.outcome("first") == undisturbed.outcome("first")
