"""What-if: an edit of headers, judged against the baselines of a library before anything is built."""
