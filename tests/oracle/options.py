"""Options of the oracle's commands."""


def numbers(arguments, *names):
    """Takes these options and their numbers out of the list; of one that is not there 0."""
    values = []
    for name in names:
        values.append(0)
        if name in arguments:
            at = arguments.index(name)
            values[-1] = int(arguments[at + 1])
            del arguments[at:at + 2]
    return values
