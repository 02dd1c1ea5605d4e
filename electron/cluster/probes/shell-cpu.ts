/**
 * CPU time that the commands of our shell on a server have cost so far: what the kernel adds up for the children that a process
 * has waited for. sudo and lctl are among them.
 */

/** The line of the long-lived shell, read without a process. Where every command has a shell of its own, it is another each time. */
export const READ_SHELL_CPU = 'read -r t </proc/$$/stat; echo "$t"'

/** USER_HZ, which is 100 on every machine that runs Lustre. */
const MS_PER_CLOCK = 10

export interface ShellCpu {
  readonly pid: number
  /** Of the shell and of all it has waited for, ms; in steps of 10. */
  readonly ms: number
}

/** Reads the line; undefined for anything else. */
export function parseShellCpu(text: string): ShellCpu | undefined {
  const close = text.lastIndexOf(')')
  const pid = /^(\d{1,10}) \(/.exec(text)?.[1]
  if (pid === undefined || close < 0) return undefined
  // Behind the name: state is field 3, utime 14, stime 15, cutime 16, cstime 17.
  const fields = text
    .slice(close + 2)
    .trimEnd()
    .split(' ')
    .slice(11, 15)
  if (fields.length < 4 || !fields.every((f) => /^\d{1,15}$/.test(f))) return undefined
  return { pid: Number(pid), ms: fields.reduce((n, f) => n + Number(f), 0) * MS_PER_CLOCK }
}
