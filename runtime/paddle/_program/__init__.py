"""Programs of the later generations: descriptions that people write and change, and what runs them.

A Program here is blocks of operators with Paddle's types, slots and attributes over named variables
(decision 0065). It is lowered to programs of the engine, which compute. Both later faces stand on this room,
and it knows neither of them.
"""
