"""The agent: what every carrier starts on a node. It runs the node's roles and leaves no process behind.

It is started by path, ``python -I -S .../_launch/agent``, so that nothing of ours but this folder is loaded,
and it is standard library only: to be kept clean, a node needs a Python and no more. It must never know what
a job is for. It starts commands, keeps their logs, passes on what they report, and ends them.

With a command as its arguments it does nothing else than run that one: see errand.py. With ``--receive`` it
receives a workspace: see receiver.py.

It speaks JSON, one object per line. The launcher says on standard input

    {"do": "plan", "node", "workspace", "life", "lease_s", "secrets", "roles"}    before all else
        life: of the job; in one that is not the first logs are appended to
        roles: {name: {"argv", "env", "prepend", "log", "folder"}}  env: null unsets, NAME* all that begin so
                                                                    prepend: for paths; folder: where it runs,
                                                                    if not in the workspace; hears: whether it
                                                                    is told things, by PADDLE_NEWS_FD
        secrets: {"token"} by which the job's processes know each other, and {"tls_ca", "tls_cert", "tls_key"}
        where they encrypt; they find each in a file of the workspace that only their user may read, and its
        path in PADDLE_TOKEN_FILE, PADDLE_TLS_CA, PADDLE_TLS_CERT and PADDLE_TLS_KEY
    {"do": "start", "role"}
    {"do": "tell", "role", "said"}                                  one that runs, and hears
    {"do": "stop", "grace_s"}                                       a second one may only hasten the end
    {"do": "beat"}

and hears on standard output

    {"event": "begun", "pid", "start"}                              the first one: which process it is
    {"event": "up"}                                                 the plan is accepted
    {"event": "started", "role", "pid"}
    {"event": "report", "role", "report"}                           what the runtime said to PADDLE_REPORT_FD
    {"event": "lines", "role", "lines", "lost"}                     what the role printed, and lost before
    {"event": "grown", "file", "text"}                              what was added to a file of the log folder
    {"event": "exit", "role", "status"}                             status: minus n for signal n
    {"event": "beat"}
    {"event": "trouble", "text"}                                    the job goes on
    {"event": "failed", "text"}                                     an order that could not be obeyed
    {"event": "ended", "why"}                                       the last one

Guarantee, by six rules:

1. Leash: when standard input ends, every process of every role is stopped. So a killed launcher is noticed.
2. Lease: likewise when nothing was heard for ``lease_s``, because launchers hang and networks are cut. Time
   in which the agent itself stood still, as a paused machine does, is not counted.
3. Stopping means every descendant found in /proc, whatever session it made for itself: SIGTERM, and SIGKILL
   after the grace. As a subreaper the agent remains the ancestor of processes whose parents died. A process
   is known by its pid and start time together, so a reused pid is never signalled.
4. The agent is two halves, each the subreaper of all below it. When one is killed, the other ends the rest.
5. A launcher that does not read, or a disk that is full or stands still, never blocks a role for longer than
   seconds, and the agent not at all: lines are lost, and that is said. Where it takes a workspace or starts a
   role it does wait for the disk; if that lasts for half a minute, the outer half ends everything.
6. ``log/agent.log`` says how it ended: ``stopped: leash``, ``stopped: lease``, ``stopped: signal 15``...
"""
