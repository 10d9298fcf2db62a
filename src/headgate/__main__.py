"""`python -m headgate`, the same as `headgate`."""

from headgate.cli.main import main

main()
