"""A Transformer computed by kernels: encoder, decoder passes over a cache, and the choice of tokens."""

import torch
from torch import Tensor, nn

from specdec_cli.decoding.constraints import EXCLUDED, forms_tensor
from specdec_cli.decoding.options import Constraints, Exact, Margin, Rule, Sampled, Tolerant
from specdec_cli.decoding.state import Draft, State, Verdict, Written
from specdec_cli.kernels.accept import accept, with_margin
from specdec_cli.kernels.advance import append, pass_inputs
from specdec_cli.kernels.attention import Relative, attend
from specdec_cli.kernels.copies import forbidden, repeats
from specdec_cli.kernels.embedding import embed
from specdec_cli.kernels.linear import gate, linear
from specdec_cli.kernels.norm import AnyNorm, norm
from specdec_cli.kernels.sample import sample
from specdec_cli.kernels.support import DESCRIPTION, MOST_CONTINUATIONS, best_of, fits, judges, supported
from specdec_cli.kernels.vocabulary import Best, best_tokens
from specdec_cli.model.attention import Attention, PrefixMask, RelativeBias
from specdec_cli.model.cache import Cache, LayerCache, steps
from specdec_cli.model.choices import suppressed
from specdec_cli.model.layers import DecoderLayer, EncoderLayer, FeedForward, Sublayer
from specdec_cli.model.network import fingerprint_of
from specdec_cli.model.transformer import Memory, Transformer


class TritonNetwork:
    """The Network of `model`, computed by Triton kernels.

    It is batch-invariant by construction: every sum is over one row, in an order that depends on the model's widths only. So the bits of a
    row's states and logits change neither with the other rows nor with the number of queries, the padded width of sources or the
    capacity of the cache. They are not those of PyTorch's operators, which add up in other orders.

    The model must be on the current device. Raises ValueError for a model that `supported` rejects.
    """

    row_multiple = 1
    batch_invariant = True

    def __init__(self, model: Transformer) -> None:
        weight = model.embedding.tokens.weight
        if problem := supported(model.config, weight.device, weight.dtype):
            raise ValueError(problem)
        self.model, self.config, self.device = model.eval(), model.config, weight.device
        self._known_forms: dict[Constraints, tuple[Tensor, Tensor]] = {}
        self._layers = [layer for layer in model.layers if isinstance(layer, DecoderLayer)]
        self.value_bytes, self.choices, self.length_head = weight.element_size(), model.choices, model.length_head

    @property
    def description(self) -> str:
        return DESCRIPTION

    @property
    def fingerprint(self) -> tuple[str, ...]:
        """Texts that name the arithmetic and the weights, for keys of measurements."""
        return "kernels", str(self.model.embedding.tokens.weight.dtype), fingerprint_of(self.model)

    @torch.no_grad()
    def encode(self, source: Tensor, *, for_decoder: bool = True) -> Memory:
        """Encode `source` ids (B, S), padded on the right; with `for_decoder` also keys and values for each decoder layer."""
        config, encoder = self.config, self.model.encoder
        positions = torch.arange(source.shape[1], device=source.device).expand_as(source)
        ends = ((source != config.padding) * (positions + 1)).amax(1, keepdim=True)
        x = embed(source, positions, encoder.embedding)
        store = x.new_empty(*source.shape, 2, config.heads, config.head_width)
        relative = _relative(encoder.bias, positions, len(encoder.layers))
        for layer, own in zip(encoder.layers, relative, strict=True):
            assert isinstance(layer, EncoderLayer)
            x = _attention(x, layer.attention, layer.attention_residual, LayerCache(store, positions), ends, own)
            x = _feed_forward(x, layer.feed_forward)
        states = final_norm(x, encoder.norm)
        keys_values = [project_memory(states, layer) for layer in self._layers] if for_decoder else []
        return Memory(states, PrefixMask(ends, source.shape[1], states.dtype), keys_values)

    def new_cache(self, memory: Memory, capacity: int) -> Cache:
        """A cache of `capacity` positions for the rows of `memory`. It is not initialised: positions that no query sees are not read."""
        config, rows = self.config, len(memory.states)
        return Cache.empty(config.decoder_layers, rows, capacity, config.heads, config.head_width, memory.states, masked=False)

    @torch.no_grad()
    def decode(self, ids: Tensor, positions: Tensor, ends: Tensor, memory: Memory, cache: Cache) -> Tensor:
        """Top states (B, Q, W) of `ids` (B, Q) at `positions` (B, Q), whose keys and values are written to `cache`; each query sees the
        first `ends` (B, Q) positions of its row.
        """
        x, places = embed(ids, positions, self.model.embedding), cache.places(positions)
        relative = _relative(self.model.bias, positions, len(self._layers))
        for layer, store, keys_values, own in zip(self._layers, cache.whole.unbind(2), memory.keys_values, relative, strict=True):
            x = decoder_layer(x, layer, LayerCache(store, places, cache.orders), ends, keys_values, memory.mask.ends, own)
        return final_norm(x, self.model.norm)

    def teach(self, memory: Memory, target: Tensor) -> Tensor:
        """Top states (B, T, W) of `target` ids (B, T), without a cache; see `Transformer.teach`."""
        config, length = self.config, target.shape[1]
        positions = torch.arange(length, device=target.device).expand_as(target)
        to_step = ((positions // config.step + 1) * config.step).clamp_max(length)
        ends = (target != config.padding).sum(1, keepdim=True) if config.order == "masked" else to_step
        return self.decode(target, positions, ends, memory, self.new_cache(memory, length))

    def project(self, states: Tensor) -> Tensor:
        """Logits (..., V) of top states (..., W), in float32."""
        logits = self.best(states, logits=True).logits
        assert logits is not None
        return logits.view(*states.shape[:-1], -1)

    def can_judge(self, rule: Rule, constraints: Constraints) -> bool:
        """Whether `judge` knows the rule and the constraints; see `judges`."""
        return judges(self.config, rule, constraints)

    @torch.no_grad()
    def judge(self, state: State, draft: Draft, rule: Rule, constraints: Constraints, *, with_scores: bool = False) -> Verdict:
        """The tokens that the rule accepts after one pass over the last accepted token and the draft; `with_scores` also their log
        probabilities.
        """
        ids, positions, ends = pass_inputs(state, draft.ids)
        states = self.decode(ids, positions, ends, state.memory, state.cache)
        forms, banned = self._forbidden(constraints, state.tokens, state.lengths, draft.ids, state.repeats)
        judged = None
        if with_scores or isinstance(rule, Tolerant | Margin):
            judged = torch.cat([draft.ids, torch.full_like(ids[:, :1], -1)], dim=1)
        best = best_tokens(
            *(states.contiguous().flatten(0, 1), self.model.output),
            best=best_of(rule, self.config.vocabulary_size),
            forms=forms,
            forbidden=banned,
            chosen=None if judged is None else judged.flatten(),
            totals=with_scores,
            logits=isinstance(rule, Sampled),
        )
        tokens, values = best.ids.view(*ids.shape, -1), best.values.view(*ids.shape, -1)
        drafted = None if best.chosen is None else best.chosen.view_as(ids)
        chosen, logits, compared = tokens[..., 0], None, rule
        if isinstance(rule, Margin):
            assert drafted is not None
            chosen, compared = with_margin(draft, tokens, values, drafted, rule), Exact()
        elif isinstance(rule, Sampled):
            assert best.logits is not None
            logits = best.logits.view(*ids.shape, -1)
            (chosen, _), compared = sample(logits, rule, state.streams, state.lengths), Exact()
        accepted, ended = accept(draft, chosen, compared, state, self.config.eos, constraints, values=values, drafted=drafted)
        if judged is None or drafted is None or best.totals is None:
            return Verdict(accepted, ended, states, None)
        if logits is not None:
            predicted = logits.gather(2, accepted.ids[..., None])[..., 0]
        else:
            predicted = torch.where(accepted.ids == tokens[..., 0], values[..., 0], values[..., -1])
            predicted = torch.where(accepted.ids == judged, drafted, predicted)
        scores = predicted - best.totals.view_as(ids)
        if constraints.forced is not None or constraints.forced_end:
            forced = _forced(constraints, state, ids.shape[1], self.config.eos)
            certain = torch.where(accepted.ids == forced, 0.0, EXCLUDED)
            scores = torch.where(forced >= 0, certain, scores)
        return Verdict(accepted, ended, states, scores)

    def can_search(self, count: int, constraints: Constraints) -> bool:
        """Whether `continuations` finds `count` tokens. The kernel leaves suppressed tokens out of its sums; in float32, in which the
        operators count them, and for constraints other than `most_copies`, all logits are needed.
        """
        is_known = constraints == Constraints(most_copies=constraints.most_copies, forms=constraints.forms)
        fitting = count <= MOST_CONTINUATIONS and fits(self.config.vocabulary_size, count)
        return is_known and fitting and self.value_bytes == 2 and self.config.step == 1

    @torch.no_grad()
    def continuations(self, states: Tensor, count: int, constraints: Constraints, written: Written) -> tuple[Tensor, Tensor]:
        """The `count` best tokens (N, `count`) after each of the top states (N, W), and their log probabilities in float32; `written` are
        the tokens before them.
        """
        forms, banned = self._forbidden(constraints, written.tokens, written.lengths, written.tokens[:, :0], written.repeats)
        best = best_tokens(states.contiguous(), self.model.output, best=count, forms=forms, forbidden=banned, totals="all")
        assert best.totals is not None
        return best.ids, best.values.masked_fill(suppressed(best.values), -torch.inf) - best.totals[:, None]

    def append(self, state: State, verdict: Verdict) -> None:
        """Append the accepted tokens of a verdict to `state` in place."""
        append(state, verdict)

    def repeats(self, source: Tensor, constraints: Constraints) -> Tensor | None:
        """`State.repeats` of `source` ids (B, S), if the constraints need them."""
        if not constraints.most_copies:
            return None
        return repeats(source, self._forms(constraints)[1], constraints.most_copies)

    def _forbidden(
        self, constraints: Constraints, tokens: Tensor, lengths: Tensor, draft: Tensor, repeats: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        """The forms (V,) of tokens, and those that may not follow (B * (k + 1), F); None if the constraints allow all. See `forbidden` for
        the arguments.
        """
        if not constraints.most_copies:
            return None, None
        assert repeats is not None
        forms, _ = self._forms(constraints)
        return forms, forbidden(tokens, lengths, draft, forms, repeats, constraints.most_copies).flatten(0, 1)

    def _forms(self, constraints: Constraints) -> tuple[Tensor, Tensor]:
        """The forms (V,) of target and of source tokens in int32; that of padding is 0 in the source."""
        if constraints not in self._known_forms:
            target, source = (forms_tensor(each, self.device).int() for each in constraints.forms)
            source[self.config.padding] = 0
            self._known_forms[constraints] = target, source
        return self._known_forms[constraints]

    @torch.no_grad()
    def best(self, states: Tensor, *, logits: bool = False) -> Best:
        """The best token after each of the top states (..., W), which are N in all; with `logits` also all logits (N, V)."""
        return best_tokens(states.contiguous().view(-1, states.shape[-1]), self.model.output, logits=logits)


def _forced(constraints: Constraints, state: State, slots: int, eos: int) -> Tensor:
    """The tokens (B, `slots`) to which the outputs are forced in the slots after the accepted tokens; -1 for none."""
    lengths = state.lengths[:, None] + steps(slots, state.lengths.device)
    forced = torch.where(lengths == 1, -1 if constraints.forced is None else constraints.forced, -1)
    return torch.where(lengths >= state.limits[:, None] - 1, eos, forced) if constraints.forced_end else forced


def _relative(bias: RelativeBias | None, positions: Tensor, layers: int) -> list[Relative | None]:
    """Return, for each layer of a stack, what `attend` adds to its scores for queries at `positions` (B, Q): None for each layer if the
    model has no relative positions.
    """
    if bias is None:
        return [None] * layers
    tables, positions = bias.weight.view(-1, bias.heads, bias.last + 1), positions.contiguous()
    return [Relative(tables[layer % len(tables)], bias.reach, positions) for layer in range(layers)]


def decoder_layer(
    x: Tensor,
    layer: DecoderLayer,
    cache: LayerCache,
    ends: Tensor,
    keys_values: Tensor,
    memory_ends: Tensor,
    relative: Relative | None = None,
) -> Tensor:
    """States (B, Q, W) of the next layer from `x` (B, Q, W), whose keys and values are written to the store of `cache` at its slots
    (B, Q). A query sees the first `ends` (B, Q) keys of the store, and the first `memory_ends` (B, 1) of `keys_values` (B, M, 2, H, D).
    """
    x = _attention(x, layer.attention, layer.attention_residual, cache, ends, relative)
    cross, residual = layer.cross_attention, layer.cross_attention_residual
    queries = linear(x, cross.query, norm=_entry(residual))
    x = _leave(attend(queries, keys_values, memory_ends, scale=cross.scale), cross.output, x, residual)
    return _feed_forward(x, layer.feed_forward)


def project_memory(states: Tensor, layer: DecoderLayer) -> Tensor:
    """Keys and values (B, S, 2, H, D) of the encoder's states (B, S, W) for the cross-attention of a decoder layer."""
    cross = layer.cross_attention
    return linear(states, cross.key_value).view(*states.shape[:2], 2, cross.heads, cross.head_width)


def final_norm(x: Tensor, layer: nn.Module) -> Tensor:
    """The rows of `x`, normalised if `layer` is a norm."""
    return norm(x, layer) if isinstance(layer, AnyNorm) else x


def _attention(
    x: Tensor, attention: Attention, residual: Sublayer, cache: LayerCache, ends: Tensor, relative: Relative | None = None
) -> Tensor:
    """The sublayer of self-attention, over the keys in the store of `cache`, to which those of `x` are written at its slots (B, Q)."""
    kept = attention.heads * attention.head_width
    queries = linear(x, attention.query_key_value, norm=_entry(residual), store=cache.store, positions=cache.slots, kept=kept)
    mixed = attend(queries, cache.store, ends, cache.orders, scale=attention.scale, relative=relative)
    return _leave(mixed, attention.output, x, residual)


def _feed_forward(x: Tensor, layer: FeedForward) -> Tensor:
    units = linear(x, layer.inner, norm=_entry(layer.residual), activation=None if layer.gated else layer.activation_name)
    inner = gate(units, layer.activation_name) if layer.gated else units
    return _leave(inner, layer.outer, x, layer.residual)


def _leave(x: Tensor, layer: nn.Linear, before: Tensor, residual: Sublayer) -> Tensor:
    """The output of a sublayer that ends with `layer` and was entered with `before`."""
    total = linear(x, layer, residual=before)
    return total if residual.pre else norm(total, residual.norm)


def _entry(residual: Sublayer) -> AnyNorm | None:
    """The norm at the entry of a sublayer; None with post-norm."""
    return residual.norm if residual.pre else None
