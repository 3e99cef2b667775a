"""Resource options of components' children."""

import pulumi


def child_of(
    parent: pulumi.Resource, opts: pulumi.ResourceOptions | None, more: pulumi.ResourceOptions | None = None
) -> pulumi.ResourceOptions:
    """Return the options of a child of a component that was made with `opts`.

    Providers reach children through their parent; what a component is deleted with does not, and is handed
    down here: a cluster that goes takes all that is in it along.
    """
    handed_down = pulumi.ResourceOptions(parent=parent, deleted_with=opts.deleted_with if opts else None)
    return pulumi.ResourceOptions.merge(handed_down, more)
