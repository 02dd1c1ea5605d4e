/**
 * Child processes that never outlive boot. A signal that reaches boot, alone or with its whole process group, is forwarded to
 * the child; boot waits for it, then ends the child's remaining processes.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

const SIGNALS = process.platform === 'win32' ? ['SIGINT', 'SIGTERM'] : ['SIGINT', 'SIGTERM', 'SIGHUP']
/** Grace period of a child after a signal, ms; the server itself needs at most two seconds. */
const GRACE_MS = 5000
const KEPT_CHARS = 64 * 1024

/** @type {NodeJS.Signals | undefined} */
let interruptedBy

/** Exit code of a run ended by a signal; undefined without a signal. */
export const interruptCode = () => (interruptedBy ? 128 + constants.signals[interruptedBy] : undefined)

/**
 * Runs a program to its end.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { keep?: boolean, limitMs?: number, priority?: number }} [options]
 *   keep: collect stderr instead of showing it; limitMs: end the child after this time; priority: of its processor time, as of
 *   os.setPriority
 * @returns {Promise<{ code: number, stderr: string, timedOut: boolean, missing: boolean }>}
 *   code is 128 + n after signal n, 127 with missing = true where the program does not exist
 */
export function run(command, args, { keep = false, limitMs, priority, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['inherit', 'inherit', keep ? 'pipe' : 'inherit'], ...options })
    let stderr = ''
    let timedOut = false
    /** @type {number[]} */
    let family = []
    /** @type {NodeJS.Timeout | undefined} */
    let killer
    if (priority !== undefined && child.pid !== undefined) giveWay(child.pid, priority)
    child.stderr?.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-KEPT_CHARS)))

    /** @param {NodeJS.Signals} signal */
    const end = (signal) => {
      family = [...new Set([...family, ...descendants(child.pid)])]
      child.kill(signal)
      killer ??= setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
    }
    const listeners = SIGNALS.map((signal) => {
      const listener = () => {
        interruptedBy ??= /** @type {NodeJS.Signals} */ (signal)
        end(/** @type {NodeJS.Signals} */ (signal))
      }
      process.on(signal, listener)
      return () => process.off(signal, listener)
    })
    const limit = limitMs && setTimeout(() => ((timedOut = true), end('SIGTERM')), limitMs)

    const done = async (/** @type {number} */ code, missing = false) => {
      clearTimeout(limit)
      clearTimeout(killer)
      await sweep(family)
      // A terminal signals the whole group and an outer boot forwards the signal: the later one must not end boot with 130.
      if (interruptedBy) for (const signal of SIGNALS) process.on(signal, () => {})
      for (const off of listeners) off()
      resolve({ code, stderr, timedOut, missing })
    }
    child.once('error', (error) => void done(127, 'code' in error && error.code === 'ENOENT'))
    child.once('exit', (code, signal) => void done(code ?? 128 + constants.signals[signal ?? 'SIGTERM']))
  })
}

/** @param {number} pid @param {number} priority */
function giveWay(pid, priority) {
  try {
    setPriority(pid, priority)
  } catch {
    // it ended already, or the system has no priorities: normal priority
  }
}

/**
 * Ends boot when the npm that started it is gone: npm forwards a signal to its shell, which dies of it alone. Does nothing if
 * boot was not started by npm.
 */
export function endWithNpm() {
  if (process.platform === 'win32' || !process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const shell = processes().find(({ pid }) => pid === parent)
  const watched = shell && /^\S*sh -c /.test(shell.args) ? [parent, shell.ppid] : [parent]
  const timer = setInterval(() => {
    if (process.ppid === parent && watched.every(alive)) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  timer.unref()
}

/** All processes of the machine; /proc first, since small containers have no ps. Empty if neither is available. */
function processes() {
  try {
    if (existsSync('/proc/self/stat'))
      return readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap(fromProc)
    const text = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    return text.split('\n').flatMap((line) => {
      const [, pid, ppid, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)/.exec(line) ?? []
      return pid ? [{ pid: Number(pid), ppid: Number(ppid), args }] : []
    })
  } catch {
    return []
  }
}

/** @param {string} pid */
function fromProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the name in parentheses may contain anything; the state and the parent follow the last one
    const ppid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return [{ pid: Number(pid), ppid, args }]
  } catch {
    return [] // it ended meanwhile
  }
}

/** @param {number} pid */
function alive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Processes below `root`, without `root`. @param {number | undefined} root
 */
export function descendants(root) {
  if (process.platform === 'win32' || root === undefined) return []
  const all = processes()
  const found = [root]
  for (const parent of found) for (const { pid, ppid } of all) if (ppid === parent) found.push(pid)
  return found.slice(1)
}

/** Ends the remaining processes of an ended child after half a second. @param {number[]} pids */
async function sweep(pids) {
  for (let i = 0; i < 10 && pids.some(alive); i++) await new Promise((r) => setTimeout(r, 50))
  for (const pid of pids.filter(alive)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it ended meanwhile
    }
  }
}
