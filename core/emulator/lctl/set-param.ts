/**
 * `lctl set_param`.
 *
 * Assignments run left to right and all are tried; a name without a value takes the next argument as its value, even if that
 * was meant as an assignment (measured A8), and only a last argument without a value ends the command.
 */
import { errnoNumber, errnoText, type Errno } from '../../lustre/errno.ts'
import { assignmentFailed, noSuchParam, openRefused, writeRefused } from '../../lustre/lctl.ts'
import { done, exitWith, type ExecResult } from '../exec.ts'
import { openEntry } from '../file-access.ts'
import { entryName, findEntries, pathPattern } from './find.ts'
import { isRoot, type LctlHost } from './host.ts'
import { parseOptions } from './options.ts'
import { setPermanently } from './permanent.ts'
import { LONG_NAMES, usage } from './usage.ts'

interface Outcome {
  stdout: string
  stderr: string
  errno: Errno | undefined
}

function assign(host: LctlHost, name: string, value: string, has: (letter: string) => boolean): Outcome {
  const { lctl } = host.profile
  const pattern = pathPattern(name)
  const out: Outcome = { stdout: '', stderr: '', errno: undefined }
  const entries = findEntries(host, pattern, has('o'))
  if (entries.length === 0) {
    // Without debugfs, path errors are not reported: lctl falls back to netlink, which cannot write it.
    if (isRoot(host) || !lctl.hasNetlink) out.stderr += noSuchParam('set_param', pattern)
    out.errno = 'ENOENT'
  }
  for (const e of entries) {
    if (!e.file) continue
    const opened = openEntry(e, isRoot(host))
    const errno = opened.ok ? opened.value(value) : opened.error
    if (errno === undefined) {
      if (!has('n')) out.stdout += `${entryName(e)}=${value}\n`
      continue
    }
    out.errno ??= errno
    if (!opened.ok) out.stderr += openRefused(e.path, errno)
    else if (errno !== 'EIO') out.stderr += writeRefused(e.path, value, errno)
  }
  if (out.errno && lctl.repeatsFailure) out.stderr += assignmentFailed(pattern, value, out.errno)
  return out
}

/** Name and value of the next assignment, and the number of arguments consumed; without a value it is malformed. */
function nextAssignment(args: readonly string[]): { name: string; value: string | undefined; taken: number } {
  const word = args[0] as string
  const eq = word.indexOf('=')
  if (eq < 0) return { name: word, value: args[1], taken: 2 }
  const value = word.slice(eq + 1)
  return { name: word.slice(0, eq), value: value === '' ? undefined : value, taken: 1 }
}

/** Runs the command with its arguments. */
export function writeParams(host: LctlHost, args: readonly string[]): ExecResult {
  const { lctl } = host.profile
  const options = parseOptions(
    'set_param',
    args,
    lctl.options.set,
    lctl.hasLongOptions ? LONG_NAMES.set_param : undefined,
  )
  // set_param disables getopt's messages.
  if (!options.ok) return usage(host.profile, 'set_param')
  const { values, rest } = options.value
  if (rest.length === 0) return usage(host.profile, 'set_param')
  const has = (letter: string): boolean => values.has(letter)
  if (has('C') && has('P')) {
    return usage(host.profile, 'set_param', 'error: set_param: -C cannot be used with -P\n')
  }
  if (has('F')) return done() // measured A32: unknown keys in the file are not an error, and emulated nodes have no files
  if (has('C')) return writtenForMount(rest, has('d'), has('n'), values.get('C') ?? '')
  const warning = has('d') && !has('P') ? "warning: setting '-P' option with '-d'\n" : ''
  if (has('P') || has('d')) {
    const r = setPermanently(host, rest, has('d'))
    return { ...r, stderr: warning + r.stderr }
  }

  let stdout = ''
  let stderr = ''
  let code = 0
  for (let i = 0; i < rest.length;) {
    const { name, value, taken } = nextAssignment(rest.slice(i))
    i += taken
    let errno: Errno | undefined
    if (value === undefined) {
      stderr += `error: set_param: setting ${name}: ${lctl.noValueText}\n`
      errno = 'EINVAL'
      i = rest.length
    } else {
      const r = assign(host, name, value, has)
      stdout += r.stdout
      stderr += r.stderr
      errno = r.errno
    }
    const errorNumber = errno ? errnoNumber(errno) : 0
    if (lctl.setParamExit === 'last' || code === 0) code = errorNumber
  }
  return { stdout, stderr, code }
}

/** `-C`: writes to the file that is read when a client mounts; nothing changes now. Layout from the tool's documentation. */
function writtenForMount(rest: readonly string[], isDelete: boolean, isQuiet: boolean, fsName: string): ExecResult {
  const wrong = isDelete ? undefined : rest.find((a) => !a.includes('='))
  if (wrong !== undefined) {
    const why = `argument '${wrong}\n' does not contain '=': ${errnoText('EINVAL')}`
    return exitWith(errnoNumber('EINVAL'), `error: set_param: client: ${why}\n`)
  }
  if (isQuiet) return done()
  const file = `/etc/lustre/mount.${fsName.replace(/^=/, '') || 'client'}.params`
  const lines = rest.map((a) => (isDelete ? `${a.replace(/=.*$/s, '')}=` : a))
  return done(`params ${isDelete ? 'deleted from' : 'written to'} ${file}:\n${lines.map((l) => `${l}\n`).join('')}`)
}
