/**
 * `sudo` of an emulated node, as sudo 1.9 behaves without a terminal: commands allowed by the user's sudoers entries run as
 * root without a password, all others fail because a password is required. Entries are in sudoers syntax, `/usr/sbin/lctl
 * get_param version`, with its wildcards and backslashes, or `ALL`.
 */
import { done, exitWith, type ExecResult } from './exec.ts'
import type { NodeUser } from './lctl/host.ts'
import { matchesGlob } from './shell/match-glob.ts'

const SECURE_PATH = String.raw`/usr/local/sbin\:/usr/local/bin\:/usr/sbin\:/usr/bin\:/sbin\:/bin`
const USAGE = 'usage: sudo [-n] [-l] | sudo [-n] [--] command [arg ...]\n'

export interface SudoSite {
  readonly hostname: string
  /** Path of a program on root's PATH, or of one given by its path. */
  readonly pathOf: (name: string) => string | undefined
  readonly runAsRoot: (argv: readonly string[]) => ExecResult
}

function list(user: NodeUser, grants: readonly string[], hostname: string): ExecResult {
  const entries =
    user.uid === 0
      ? '    (ALL : ALL) ALL\n'
      : `    (${grants.includes('ALL') ? 'ALL' : 'root'}) NOPASSWD: ${grants.join(', ')}\n`
  return done(
    `Matching Defaults entries for ${user.name} on ${hostname}:\n` +
      `    env_reset, mail_badpass, secure_path=${SECURE_PATH}, use_pty\n\n` +
      `User ${user.name} may run the following commands on ${hostname}:\n${entries}`,
  )
}

export function sudo(args: readonly string[], user: NodeUser, site: SudoSite): ExecResult {
  const grants = user.sudo ?? []
  const isRoot = user.uid === 0
  let i = 0
  let isListing = false
  for (; i < args.length && (args[i] as string).startsWith('-'); i++) {
    const arg = args[i] as string
    if (arg === '--') {
      i++
      break
    }
    if (!/^-[nl]+$/.test(arg)) return exitWith(1, `sudo: ${arg} is not known to this emulated shell\n${USAGE}`)
    isListing ||= arg.includes('l')
  }
  const [name, ...rest] = args.slice(i)
  // Without any NOPASSWD entry, even the list of permitted commands requires a password.
  const refused = exitWith(1, 'sudo: a password is required\n')
  if (isListing && name === undefined)
    return grants.length === 0 && !isRoot ? refused : list(user, grants, site.hostname)
  if (isListing || name === undefined) return exitWith(1, USAGE)
  const path = site.pathOf(name)
  if (path === undefined) return exitWith(1, `sudo: ${name}: command not found\n`)
  const commandLine = [path, ...rest].join(' ')
  const isGranted =
    isRoot || grants.some((g) => g === 'ALL' || g === path || g === `${commandLine} ""` || matchesGlob(g, commandLine))
  return isGranted ? site.runAsRoot([path, ...rest]) : refused
}
