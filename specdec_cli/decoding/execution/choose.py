"""Choice of the execution, which computes the rounds of a model."""

import torch

from specdec_cli.decoding.constraints import Constraints
from specdec_cli.decoding.execution.cuda_execution import GraphExecution
from specdec_cli.decoding.execution.cuda_graphs import CudaCapture, CudaEncodeStream
from specdec_cli.decoding.execution.kernels import KernelExecution, round_kernels
from specdec_cli.decoding.execution.operators import OperatorExecution
from specdec_cli.decoding.execution.protocol import Execution
from specdec_cli.model.transformer import Transformer


def choose_execution(model: Transformer, constraints: Constraints, device: torch.device) -> Execution:
    """Return an execution: CUDA graphs on a GPU, compiled kernels for an int8 model that they support, else
    PyTorch's operators.
    """
    operators = OperatorExecution(model.choices, model.config.eos)
    if device.type == "cuda":
        return GraphExecution(operators, CudaCapture(), CudaEncodeStream())
    kernels = round_kernels(model)
    return operators if kernels is None else KernelExecution(operators, model, kernels, constraints)
