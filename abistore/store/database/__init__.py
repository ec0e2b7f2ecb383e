"""The database: connecting, tables, transactions, errors, the audit, and the checksums that rows carry."""
