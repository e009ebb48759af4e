"""What several estimators need: results, intervals, clusters, the Davidson model, words."""
