"""Processing of lines in shards by Ray actors: input, workers, retries, output, progress. The commands define what a worker does."""
