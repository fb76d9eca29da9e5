"""Choice of the execution, which computes the rounds of a model."""

import torch

from specdec_cli.decoding.execution.cuda_execution import GraphExecution
from specdec_cli.decoding.execution.cuda_graphs import CudaCapture, CudaEncodeStream
from specdec_cli.decoding.execution.operators import OperatorExecution
from specdec_cli.decoding.execution.protocol import Execution
from specdec_cli.model.transformer import Transformer


def choose_execution(model: Transformer, device: torch.device) -> Execution:
    """Return an execution: CUDA graphs on a GPU, else PyTorch's operators."""
    operators = OperatorExecution(model.choices, model.config.eos)
    return GraphExecution(operators, CudaCapture(), CudaEncodeStream()) if device.type == "cuda" else operators
