"""dsgui: author, check, launch and watch DeepSpeed runs in the browser."""
