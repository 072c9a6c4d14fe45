"""dsgui's rules held against the real DeepSpeed: of many releases, over examples and over folders of real configs."""
