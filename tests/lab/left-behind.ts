/** Files and processes left by a login on a server that is this machine: files where one would leave them, and processes. */
import { readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'

/** Folders writable for all users, or for the login. */
const SHARED = ['/tmp', '/var/tmp', '/run', '/run/lock', '/dev/shm', homedir()]
/** Names of files that tests of other processes create there. */
const BY_TESTS = /^(?:sluice-(?:ssh|emulate)-|sluice test )/

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * Files: everything in `/` and in the login's own folders; elsewhere, where other programs are active, files with Sluice's name.
 *
 * @param own  its HOME and its TMPDIR.
 */
export function filesOf(own: readonly (string | undefined)[]): string[] {
  const all = ['/', ...own.filter((f) => f !== undefined)].flatMap((f) => namesIn(f).map((n) => `${f}/${n}`))
  const ours = SHARED.flatMap((f) =>
    namesIn(f).flatMap((n) => (/sluice|lctl|expir/i.test(n) && !BY_TESTS.test(n) ? [`${f}/${n}`] : [])),
  )
  return [...all, ...ours].sort()
}

function withMarks(marks: readonly string[]): { pid: number; line: string }[] {
  return namesIn('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
      if (!marks.every((m) => environment.includes(m))) return []
      return [{ pid: Number(pid), line: readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim() }]
    } catch {
      return []
    }
  })
}

/** Command lines of processes with these texts in their environment, which only logins of one lab have. */
export const processesWith = (marks: readonly string[]): string[] => withMarks(marks).map((p) => p.line)

/** Ends them if a test did not complete. */
export function endProcessesWith(marks: readonly string[]): void {
  for (const { pid } of withMarks(marks)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // Already ended.
    }
  }
}
