"""Programs of the later generations: descriptions that people write and change, and what runs them.

A Program here is blocks of operators with Paddle's types, slots and attributes over named variables
(decision 0065). It is lowered to programs of the engine, which compute. Both later faces stand on this room,
and it knows neither of them. Its rooms, each of which may know those before it:

    description/  programs as data, and as messages
    lowering/     how they become programs of the engine; ops/ has a rule for each operator
    writing/      what appends operators for people: initializers, backward passes, optimizers
    running/      scopes, values, the Executor; moving/ what trains and averages; reading/ what feeds
    files/        values and programs on disk, in the layouts of the original
    carrier.py    the one door to the parameter server
"""
