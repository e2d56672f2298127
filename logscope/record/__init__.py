"""Starting, catching, following and bisecting launches."""
