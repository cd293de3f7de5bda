"""The job in PyTorch: two processes of DistributedDataParallel over gloo, a sparse gradient for the table.

There is no server: every process has all parameters, the table too, and gradients are averaged.
"""

import os

import clicks
import torch
import torch.distributed as dist
from orders import Orders
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    """The table, the layers and the line beside them."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(clicks.TABLE, clicks.WIDTH, sparse=True)
        nn.init.uniform_(self.table.weight, -0.01, 0.01)
        layers = [nn.Linear(*values.shape) for values in clicks.first_values()]
        for each, values in zip(layers, clicks.first_values()):
            each.weight.data, each.bias.data = torch.from_numpy(values.T.copy()), torch.zeros(values.shape[1])
        *deep, last, self.wide = layers
        self.deep = nn.Sequential(*(part for each in deep for part in (each, nn.ReLU())), last)

    def forward(self, ids, numbers):
        """Scores."""
        rows = self.table(ids).flatten(1)
        return self.deep(torch.cat([rows, numbers], 1)) + self.wide(numbers)


def main():
    """Train as one of two until there are no more orders."""
    rank = int(os.environ["RANK"])
    orders = Orders("worker")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    net = DistributedDataParallel(Net())
    optimizer = torch.optim.SGD(net.parameters(), clicks.RATE)
    feeds = clicks.batches(rank)

    def step(number):
        ids, numbers, labels = map(torch.from_numpy, feeds[number % len(feeds)])
        optimizer.zero_grad(set_to_none=True)
        cost = binary_cross_entropy_with_logits(net(ids, numbers), labels)
        cost.backward()
        optimizer.step()
        return cost.item()

    def steps():
        return [step(number) for number in range(clicks.BLOCK)][-1]

    orders.tell(first=step(0), facts=clicks.facts(torch=torch.__version__))
    steps()
    orders.tell(ready=step(0))
    orders.obey(steps)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
