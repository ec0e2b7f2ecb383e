"""The history as pages: charts, tables and a site of static HTML, which needs no server and no network."""
