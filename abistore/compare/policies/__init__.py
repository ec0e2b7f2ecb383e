"""What findings are judged by: policies move impacts, suppressions take findings out of the verdict."""
