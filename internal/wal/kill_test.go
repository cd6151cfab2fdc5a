package wal

func runChild() bool { return false }
