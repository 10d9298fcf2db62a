import click

from headgate.cli import completions, failures, kinds, listing, options, output, pairs
from headgate.cli.client import ApiClient


@click.command("get")
@click.argument("kind", shell_complete=completions.kinds)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completions.names_of_kind)
@click.option("-l", "--cel", metavar="CEL", help="Only those for which it is true: resource.kind == 'Node'.")
@click.option("--filter", "filters", multiple=True, metavar="FIELD=VALUE", help="Only those with that value.")
@click.option("--sort", metavar="FIELD", help="name or createdAt; -createdAt for newest first.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option("--watch", is_flag=True, help="Go on and print what changes.")
@options.list_output
@options.with_server
def command(
    client: ApiClient,
    kind: str,
    names: tuple[str, ...],
    cel: str | None,
    filters: tuple[str, ...],
    sort: str | None,
    limit: int | None,
    watch: bool,
    form: str,
    no_headers: bool,
) -> None:
    """Lists objects of KIND, or shows those with the given names or ids.

    Kinds go by plural, singular and short names: resources, resource, res.

    Exit codes: 0 shown; 1 there is none of that name, or the filter is refused; 2 called wrongly;
    4 the server cannot be reached; 5 not allowed.
    """
    chosen = kinds.find(kind)
    if names and (cel or filters or sort or limit):
        raise failures.misused("NAME and filters: allowed is one of them")
    query = listing.query(chosen, cel, pairs.split("--filter", filters), sort, limit)
    if form in ("wide", "csv"):
        query |= chosen.wide_query
    if watch:
        from headgate.cli import watching_lists

        watching_lists.follow(client, chosen, names, query, form, header=not no_headers)
        return
    items = listing.fetch(client, chosen, names, query)
    if len(names) == 1:
        output.single_row(chosen, items[0], form, header=not no_headers)
    else:
        output.rows(chosen, items, form, header=not no_headers)
