"""The tables of the stored measurements of the server."""

from collections import defaultdict

from tools.results import load
from tools.serving.__main__ import OURS, best_others
from tools.tables import markdown, sources

NAME, SOAK = "serving", "soak"
_ACTIONS = {
    "translate": "a sentence is translated",
    "list": "a list of texts is translated, or HTML",
    "document": "a Markdown file is translated",
    "fetched document": "its translation is fetched",
    "check": "a text is checked",
    "show": "the page shows a text",
    "broken": "a request has no valid fields, or too many bytes",
    "garbage": "what is sent is not HTTP",
    "left": "a client leaves in the middle of a request",
}


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


def soak() -> str:
    """The Markdown table of what clients did in the soak test and what the server answered, with its memory, files and threads."""
    stored = load(SOAK)
    record = stored.record
    answers: dict[str, list[str]] = defaultdict(list)
    totals: dict[str, int] = defaultdict(int)
    for key, count in record["counts"].items():
        name, _, status = key.rpartition(" ") if key[-1].isdigit() else (key, "", "")
        totals[name] += count
        answers[name] += [f"{status}: {count:,}"] if status else []
    rows = [(label, f"{totals[name]:,}", ", ".join(answers[name]) or "\u2014") for name, label in _ACTIONS.items()]
    warm, last = record["warm"], record["last"]
    state = (
        f"{record['minutes']:g} minutes, {record['clients']} clients; wrong answers: {len(record['problems'])}; "
        f"memory after a fifth of the time and at the end: {warm['megabytes']:.0f} and {last['megabytes']:.0f} MB; "
        f"open files: {warm['files']} and {last['files']}; "
        f"threads: {warm['threads']} and {last['threads']}; exit code: {record['exit_code']}"
    )
    return f"{markdown(('what happens', 'times', 'answers by status'), rows, 1)}\n{state}.\n" + sources([stored])
