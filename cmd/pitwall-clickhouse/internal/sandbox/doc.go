// Package sandbox confines the process with Landlock: to named paths, and to
// connections that others make to it.
//
// It is there because the engine's grants are not enough. The function file()
// reads any file of the process without asking for a privilege, and SQL can reach
// it from inside string arguments where no check of the text finds it.
//
// What bites: Landlock binds a thread and what it starts, not a process that
// already has several. A Go program has, so it confines one thread and has that
// thread replace the program with itself.
package sandbox
