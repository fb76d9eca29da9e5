"""Choice of the execution, which computes the rounds of a model."""

from specdec_cli.decoding.execution.cuda_execution import GraphExecution
from specdec_cli.decoding.execution.cuda_graphs import CudaCapture, CudaEncodeStream
from specdec_cli.decoding.execution.operators import OperatorExecution
from specdec_cli.decoding.execution.protocol import Execution
from specdec_cli.model.network import Network


def choose_execution(network: Network) -> Execution:
    """Return an execution: CUDA graphs on a GPU, else PyTorch's operators."""
    operators = OperatorExecution(network.choices, network.config.eos)
    return GraphExecution(operators, CudaCapture(), CudaEncodeStream()) if network.device.type == "cuda" else operators
