/** Whether a process runs on this machine, whoever it is of. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (e) {
    // Somebody else's process: it is one that runs.
    return e instanceof Error && 'code' in e && e.code === 'EPERM'
  }
}
