/** True if a process with this pid runs on this machine, of any user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (e) {
    // EPERM: the process exists and belongs to another user.
    return e instanceof Error && 'code' in e && e.code === 'EPERM'
  }
}
