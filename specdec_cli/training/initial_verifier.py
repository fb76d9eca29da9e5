"""The model that the training of a verifier starts from."""

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.config import preset
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.training.depth import changed_depth, check_preset, with_depth
from specdec_cli.training.order import with_order
from specdec_cli.training.recipe import VerifierRecipe
from specdec_cli.training.vocabulary import with_vocabulary


def initial_verifier(plan: VerifierRecipe, first: Bundle | None, tokenizer: Tokenizer) -> Transformer:
    """A new model of the shape in `plan` or, if `first` is given, a copy of its verifier.

    The copy gets the vocabulary of `tokenizer`, the generation order and numbers of layers in `plan`, and random decoder layers if
    `plan` says so. Raises UsageError for a shape that a new model cannot have, if another size in `plan` differs from that of `first`,
    and for an order that the tokenizer does not allow.
    """
    if first is None:
        name = plan.preset or "small"
        try:
            shape = preset(name, len(tokenizer), **plan.model)
        except ModelError as error:
            raise UsageError(f"preset {name} with the recipe's [model]: {error}") from error
        model = Transformer(shape, plan.run.dropout)
    else:
        if plan.preset is not None:
            check_preset(first.verifier.config, plan.preset, plan.model)
        model = with_vocabulary(first, tokenizer, plan.run.dropout)
        model = with_order(model, plan.model.get("order", model.config.order), plan.run.dropout, tokenizer.mask)
        model = with_depth(model, changed_depth(model.config, plan.model), plan.run.dropout)
        if plan.decoder == "random":
            model.layers.load_state_dict(Transformer(model.config).layers.state_dict())
    order = model.config.order
    if order != "left-to-right" and tokenizer.special_tokens.forced is not None:
        raise UsageError(f"order {order}: this tokenizer begins every output with a language token, which needs left-to-right")
    return model
