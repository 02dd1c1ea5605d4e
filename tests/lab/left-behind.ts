/** What a login leaves on a server that is this machine: files where one would leave them, and processes. */
import { readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'

/** Folders that anybody, or the login, may write to. */
const SHARED = ['/tmp', '/var/tmp', '/run', '/run/lock', '/dev/shm', homedir()]
/** What tests of other processes make there meanwhile. */
const BY_TESTS = /^(?:sluice-(?:ssh|emulate)-|sluice test )/

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/**
 * Files: all that is in `/` and in folders of the login's own; elsewhere, where other programs come and go, what bears our name.
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

/** Processes whose environment has these texts, which only logins of one lab have: their command lines. */
export const processesWith = (marks: readonly string[]): string[] => withMarks(marks).map((p) => p.line)

/** Ends them, where a test did not come to its end. */
export function endProcessesWith(marks: readonly string[]): void {
  for (const { pid } of withMarks(marks)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}
