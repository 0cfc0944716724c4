"""Pictures of models, records and predictions, in scikit-learn's Display style."""
