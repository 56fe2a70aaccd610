"""The report: tables and figures beside the paper's, as a page and as Markdown."""
