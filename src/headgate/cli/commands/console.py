import click

from headgate.cli import options, output
from headgate.cli.client import ApiClient, path


@click.command("console")
@options.output()
@options.with_server
def command(client: ApiClient, form: str) -> None:
    """Prints a link that opens the console in a browser and logs in as you.

    It works once, within ten minutes; your token is not in it.

    Exit codes: 0 printed; 2 called wrongly; 4 the server cannot be reached; 5 the token is not accepted.
    """
    answer = client.send("POST", path("session", "codes"), scoped=False)
    link = f"{client.connection.url.rstrip('/')}/#login={answer['code']}"
    output.result({**answer, "link": link}, form, lambda: link, link)
