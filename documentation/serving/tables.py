"""The table of the stored measurement of the server."""

from documentation.results import load
from documentation.serving.__main__ import OURS, best_others
from documentation.tables import markdown, sources

NAME = "serving"


def serving() -> str:
    """The Markdown table of the server's speed, beside the best other servers, and of its latencies."""
    stored = load(NAME)
    record = stored.record
    servers = record["servers"]
    fastest, leanest = best_others(servers)
    rates = [servers[name]["requests_per_second"] for name in (OURS, fastest)]
    used = [servers[name]["processor_milliseconds"] for name in (OURS, leanest)]
    clients = f"{record['clients']} clients"
    rows = [
        (f"requests a second, {clients}", f"{rates[0]:,.0f}", fastest, f"{rates[1]:,.0f}", f"{rates[0] / rates[1]:.2f}x"),
        (f"processor time of a request, {clients}", f"{used[0]:.2f} ms", leanest, f"{used[1]:.2f} ms", f"{used[1] / used[0]:.2f}x"),
    ]
    for name, label in (("half", "latency at half of these requests"), ("check", f"`/v2/check` of {record['words']} words")):
        own = record["latencies"][name]
        rows.append((label, f"median {own['median']:.1f} ms, p99 {own['p99']:.1f} ms", "\u2014", "\u2014", "\u2014"))
    columns = ("what", "specdec serve", "against", "its figure", "times as good")
    return markdown(columns, rows, 1) + sources([stored])
