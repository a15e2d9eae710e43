"""Games written once more from their rules alone, slow and plain, to check the engines by."""
