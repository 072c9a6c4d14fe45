"""What the recipes share: sentences, scores, and manners of one rank among several."""
