/**
 * CPU time that the commands of the login's shell on a server have cost so far: the kernel's sum for the children that
 * a process has waited for, including sudo and lctl.
 */

/**
 * Reads the line of the long-lived shell without a process. With a shell of its own for every command, it differs each
 * time.
 */
export const READ_SHELL_CPU = 'read -r t </proc/$$/stat; echo "$t"'

/** USER_HZ, which is 100 on every machine that runs Lustre. */
const MS_PER_CLOCK = 10

export interface ShellCpu {
  readonly pid: number
  /** Total of the shell and the children it has waited for, ms; in steps of 10. */
  readonly ms: number
}

/** Parses the line; undefined for anything else. */
export function parseShellCpu(text: string): ShellCpu | undefined {
  const close = text.lastIndexOf(')')
  const pid = /^(\d{1,10}) \(/.exec(text)?.[1]
  if (pid === undefined || close < 0) return undefined
  // After the name: state is field 3, utime 14, stime 15, cutime 16, cstime 17.
  const fields = text
    .slice(close + 2)
    .trimEnd()
    .split(' ')
    .slice(11, 15)
  if (fields.length < 4 || !fields.every((f) => /^\d{1,15}$/.test(f))) return undefined
  return { pid: Number(pid), ms: fields.reduce((n, f) => n + Number(f), 0) * MS_PER_CLOCK }
}
