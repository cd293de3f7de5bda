"""What the user does with nodes between jobs: look whether they will do, and have their host keys known.

    commands      one function for each task of `fab`, values in, lines out
    trusting      `fab trust`: rounds of keys that are shown, asked for and written down
    dialogue      what it says, and what it asks
    question      a question to who sits at a terminal
    checking      `fab check`: asks all nodes at once, and then each whom it reaches
    survey        what a node says of itself, as data
    diagnosis     what of that is well and what is not, and what to do next
    reach         the same of what nodes say of each other
    findings      what was found, and how it is shown

Nothing here changes anything on a node.
"""
