"""On which terms findings are judged: policies move impacts, suppressions take findings out of the verdict."""
