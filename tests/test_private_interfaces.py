"""What is used of other packages although they do not promise it: a version without it fails here, by name."""

import pytest


@pytest.mark.parametrize("module", ["h11_impl.H11Protocol", "httptools_impl.HttpToolsProtocol"])
def test_the_protocols_of_uvicorn_have_what_connections_extend(module: str) -> None:
    protocol = pytest.importorskip(f"uvicorn.protocols.http.{module.partition('.')[0]}")
    kind = getattr(protocol, module.partition(".")[2])
    own = ["on_message_begin", "on_headers_complete"] if module.startswith("httptools") else []
    for name in (
        "connection_made",
        "data_received",
        "connection_lost",
        "pause_writing",
        "resume_writing",
        "shutdown",
        "on_response_complete",
        *own,
    ):
        assert callable(getattr(kind, name, None)), f"{kind.__name__} has no {name}, which server/connections.py extends"
    for name in ("cycle", "loop", "transport"):
        assert name in kind.__init__.__code__.co_names, f"{kind.__name__} sets no {name}, which server/connections.py reads"
    for name in ("more_body", "response_complete"):
        used = protocol.RequestResponseCycle.__init__.__code__.co_names
        assert name in used, f"the cycle of {kind.__name__} sets no {name}, which server/connections.py reads"


def test_ray_has_the_node_of_this_process() -> None:
    worker = pytest.importorskip("ray._private.worker")
    assert hasattr(worker, "_global_node"), "ray._private.worker has no _global_node, which cluster/session.py reads"
    node = pytest.importorskip("ray._private.node")
    assert callable(node.Node.dead_processes), "Node has no dead_processes, which cluster/session.py calls"
