"""Rules that say which setting is valid with which decoding."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specdec_cli.decoding.acceptance_rules import Exact, Rule
from specdec_cli.decoding.names import (
    CHAINABLE,
    DECODINGS,
    DRAFTING,
    OPTIONS,
    SEARCHES,
    TOLERANT,
    DecodingOption,
    having,
    methods_of,
    parts,
)
from specdec_cli.errors import UsageError
from specdec_cli.pipeline.request import DecodingRequest


@dataclass(frozen=True)
class SettingRule:
    """A setting by its name in error messages, a function that tells whether a request has it, and the decodings
    with which it is valid.

    Without `in_chains`, it is not valid with a chain; with `in_chains`, it is valid with chains that contain at
    least one of these decodings.
    """

    setting: str
    is_given: Callable[[DecodingRequest], bool]
    decodings: Sequence[str]
    in_chains: bool = False

    def allows(self, decoding: str) -> bool:
        """Whether the setting is valid with `decoding`, which may be a chain."""
        return any(part in self.decodings for part in parts(decoding)) if self.in_chains else decoding in self.decodings


def _has(option: DecodingOption) -> Callable[[DecodingRequest], bool]:
    return lambda request: option.name in request.options


SETTING_RULES = (
    SettingRule("top-beta, tolerance and presets", lambda request: request.tolerant, TOLERANT),
    SettingRule("block size", lambda request: isinstance(request.block_size, int), DRAFTING, in_chains=True),
    SettingRule("beam size, length penalty and n-best", lambda request: request.searching, SEARCHES),
    *(SettingRule(option.name.replace("_", " "), _has(option), having(option)) for option in OPTIONS),
)


def check_known(decoding: str) -> None:
    """Raise UsageError if `decoding`, or a part of a chain, is not known, or if a part of a chain is not chainable."""
    for part in parts(decoding):
        if part not in DECODINGS:
            raise UsageError(f"decoding {decoding}: {part!r} is not known; known are {', '.join(DECODINGS)}")
        if part != decoding and part not in CHAINABLE:
            raise UsageError(f"decoding {decoding}: a chain is of {', '.join(CHAINABLE)}, not of {part}")


def check_settings(request: DecodingRequest, decoding: str) -> None:
    """Raise UsageError if `request` has a setting that is not valid with `decoding`, or combines preset "exact" with
    a tolerance.
    """
    for rule in SETTING_RULES:
        if rule.is_given(request) and not rule.allows(decoding):
            raise UsageError(f"{rule.setting}: for decoding {', '.join(rule.decodings)}, not for {decoding}")
    if request.preset == "exact" and (request.top_beta is not None or request.tolerance is not None):
        raise UsageError("preset exact accepts the verifier's first choice alone; top-beta and tolerance contradict it")


def takes_drafts(decoding: str, rule: Rule) -> bool:
    """Whether sentences can come with drafts: the output of `decoding` by `rule` is greedy's."""
    return rule == Exact() and all(method.exact for method in methods_of(decoding))


def check_given(decoding: str, rule: Rule) -> None:
    """Raise UsageError if sentences cannot come with drafts: the output of `decoding` by `rule` is not greedy's."""
    if not takes_drafts(decoding, rule):
        raise UsageError(f"earlier translations are drafts for decodings that give greedy's output, not for {decoding} with these options")
