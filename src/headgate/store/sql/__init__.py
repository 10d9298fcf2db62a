"""The store on any SQL database: SQLite and PostgreSQL."""
