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


def name_of(resource: pulumi.Resource, name: str) -> pulumi.Output[str]:
    """Return the name of an object that is made with a fixed one, for another object that refers to it.

    It depends on the object as the object's output does: what refers to it is deleted before it, and made
    after it. But it is known in a preview too. The output is not, where the object is replaced, and the API
    server refuses another reference in a pod that is there.
    """
    return resource.urn.apply(lambda _: name)
