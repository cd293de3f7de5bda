"""What the faces of fleet share: who a process is, how a job trains, what a server and a trainer do."""
