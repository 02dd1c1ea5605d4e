/** For tests: what a login leaves on a server, which here is this machine: files where one would leave them, and processes. */
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
export function filesOf(own: readonly string[]): string[] {
  const all = ['/', ...own].flatMap((f) => namesIn(f).map((n) => `${f}/${n}`))
  const ours = SHARED.flatMap((f) =>
    namesIn(f).flatMap((n) => (/sluice|lctl|expir/i.test(n) && !BY_TESTS.test(n) ? [`${f}/${n}`] : [])),
  )
  return [...all, ...ours].sort()
}

function withMark(mark: string): { pid: number; line: string }[] {
  return namesIn('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)) return []
      return [{ pid: Number(pid), line: readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim() }]
    } catch {
      return []
    }
  })
}

/** Processes whose environment has this text, which only logins of one lab have: their command lines. */
export const processesWith = (mark: string): string[] => withMark(mark).map((p) => p.line)

/** Ends them, where a test did not come to its end. */
export function endProcessesWith(mark: string): void {
  for (const { pid } of withMark(mark)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}
