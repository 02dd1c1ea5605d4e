/**
 * Parser of `sudo -n -l`: commands that run as root without a password, and the resulting scope for the console.
 *
 * Source: sudoers(5); the listing of sudo 1.8 and 1.9. Entries begin with four blanks and `(`, long ones continue
 * behind eight; a tag applies until the next one of its kind; `:`, `,`, `=`, `#`, `"` and `\` are preceded by a
 * backslash. Headings are in the language of the login and are ignored.
 */
import { plainLine } from '../../ssh/failures.ts'
import { SERVICES } from '../../base/service.ts'
import { isGranted } from '../remote/sudo-grants.ts'
import { LCTL_PATH, noScope, type SudoGrant, type SudoScope } from '../remote/sudo-scope.ts'

const TEXT_BYTES = 64 << 10
const GRANTS = 256
const ARGS = 1000
/** Longest path of a program. */
const PROGRAM = 4096

export interface SudoListing {
  /** Commands that run as root without a password, and denied ones, in order. */
  readonly grants: readonly SudoGrant[]
  /** Entries that ask for a password. */
  readonly withPassword: number
  /** Set if Defaults refuse a session without a terminal. */
  readonly wantsTty: boolean
}

const TAG = /^(?:(?:NO)?(PASSWD|EXEC|SETENV|LOG_INPUT|LOG_OUTPUT|MAIL|FOLLOW|INTERCEPT)):\s*/
const OPTION = /^(?:[A-Z]+=\S*|sha\d+:[A-Za-z0-9+/=]+)\s+/

const unescaped = (text: string): string => text.replace(/\\([:\\,=#"\s])/g, '$1')

/** Runas lists: `root`, `ALL`, `ALL : ALL`, `ALL, !root`. */
function runsAsRoot(runas: string): boolean {
  const users = (runas.split(':')[0] ?? '').split(',').map((u) => u.trim())
  return !users.includes('!root') && users.some((u) => u === 'root' || u === 'ALL' || u === '#0')
}

/** Pieces between commas that are not preceded by a backslash. */
const commandsOf = (text: string): readonly string[] => text.match(/(?:[^\\,]|\\.)+/g)?.map((c) => c.trim()) ?? []

function grantOf(command: string): SudoGrant | undefined {
  const isDenied = command.startsWith('!')
  const [, program = '', rest] = /^!?\s*((?:[^\\\s]|\\.)+)(?:\s+(.*))?$/.exec(command) ?? []
  if (program === '' || program.length > PROGRAM || (rest?.length ?? 0) > ARGS) return undefined
  const args = rest === undefined ? undefined : rest === '""' ? '' : unescaped(rest)
  return { program: unescaped(program), args, isDenied }
}

/** Unwrapped lines of entries. */
function entriesOf(text: string): readonly string[] {
  const entries: string[] = []
  let isOpen = false
  for (const line of text.slice(0, TEXT_BYTES).split('\n')) {
    if (/^(?: {4}|\t)\(/.test(line)) {
      entries.push(line.trim())
      isOpen = true
    } else if (isOpen && /^(?: {5,}|\t\t)\S/.test(line)) entries.push(`${entries.pop() ?? ''} ${line.trim()}`)
    else isOpen = false
  }
  return entries
}

export function parseSudoList(text: string): SudoListing {
  const entries = entriesOf(text)
  const defaults = text.slice(0, TEXT_BYTES).split(/\n {4}\(/)[0] ?? ''
  const isFree = /(?:^|[\s,])!authenticate\b/.test(defaults)
  const grants: SudoGrant[] = []
  let withPassword = 0
  for (const entry of entries) {
    const [, runas = '', rest = ''] = /^\(([^)]*)\)\s*(.*)$/.exec(entry) ?? []
    let needsNone = isFree
    for (const piece of commandsOf(rest)) {
      let command = piece
      for (;;) {
        const tag = TAG.exec(command) ?? OPTION.exec(command)
        if (!tag) break
        if (tag[1] === 'PASSWD') needsNone = tag[0].startsWith('NO')
        command = command.slice(tag[0].length)
      }
      const grant = runsAsRoot(runas) ? grantOf(command) : undefined
      if (!grant || grants.length >= GRANTS) continue
      if (grant.isDenied || needsNone) grants.push(grant)
      else withPassword++
    }
  }
  return { grants, withPassword, wantsTty: /(?:^|[\s,])requiretty\b/.test(defaults) }
}

/** Programs that can run any other: granting one of them as root grants everything. */
const AS_GOOD_AS_ANY =
  /\/(?:ba|da|z|k|c|tc)?sh$|\/(?:env|su|sudo|systemd-run|python[0-9.]*|perl|vim?|find|tee|nsenter|chroot)$/

const ABSENT_PARAMETER = ['sluice-asks-for-what-is-not-there', 'x=y'] as const

const isExpression = (g: SudoGrant): boolean => g.args?.startsWith('^') === true

/** True if a sample can be read: one of its parameters, alone or among others. */
function readsSamples(grants: readonly SudoGrant[], lctl: string): boolean {
  const names = Object.values(SERVICES).flatMap((s) => [s.jobStats, s.policies, s.rules])
  const isListed = (g: SudoGrant): boolean =>
    !g.isDenied && g.program === lctl && /^get_param .*(?:job_stats|nrs_)/.test(g.args ?? '')
  return grants.some(isListed) || names.some((n) => isGranted(grants, lctl, ['get_param', n]))
}

/** Scope of a listing. */
export function scopeOf({ grants, withPassword, wantsTty }: SudoListing): SudoScope {
  const named = grants.find((g) => !g.isDenied && g.program.endsWith('/lctl') && !/[*?[\\]/.test(g.program))
  const lctl = named && /^\/[A-Za-z0-9_./-]{1,200}$/.test(named.program) ? named.program : LCTL_PATH
  const can = (...args: readonly string[]): boolean => isGranted(grants, lctl, args)
  const helper =
    grants.find(
      (g) =>
        !g.isDenied && /^\/[A-Za-z0-9_./-]{1,200}\/sluice-rule$/.test(g.program) && isGranted(grants, g.program, ['x']),
    )?.program ?? ''
  const reader = grants.find(
    (g) => !g.isDenied && /^\/[A-Za-z0-9_./-]{1,200}\/sluice-read$/.test(g.program) && isGranted(grants, g.program, []),
  )?.program
  const shell = grants.find((g) => !g.isDenied && g.args === undefined && AS_GOOD_AS_ANY.test(g.program))
  const relevant = grants
    .filter((g) => g.program === 'ALL' || /lctl|sluice-rule|[*?[]|\/$/.test(g.program))
    .slice(0, 128)
  const base = { watch: '', hasHelper: helper !== '', helper, reader, lctl, grants: relevant }
  const broad = (text: string): SudoScope => ({
    ...base,
    kind: 'broad',
    text,
    watch: 'More is granted than the console needs; the sudoers sample has exact parameters.',
  })
  if (wantsTty) return { ...noScope('sudo requires a terminal (requiretty)', lctl), grants: relevant }
  if (isGranted(grants, '/sluice/asks', ABSENT_PARAMETER)) return broad('any command, without a password')
  if (shell) return broad(`${plainLine(shell.program, 80)} can run any command`)
  if (can(...ABSENT_PARAMETER)) return broad('any command of lctl, without a password')
  if (can('set_param', 'sluice.asks=y')) return broad('any parameter may be written with lctl set_param')
  if (!readsSamples(grants, lctl)) {
    const missing = withPassword > 0 ? 'sudo asks for a password for what it grants' : 'no reading of lctl is granted'
    return { ...noScope(missing, lctl), grants: relevant }
  }
  const plain = grants.filter((g) => !isExpression(g))
  const readsAll = isGranted(plain, lctl, ['get_param', ...ABSENT_PARAMETER])
  const watch = readsAll ? 'Any parameter may be read; the sudoers sample has exact parameters.' : ''
  const what = readsAll ? 'lctl get_param of any parameter' : 'lctl get_param of listed parameters'
  if (helper !== '') return { ...base, kind: 'write', text: `${what}; rules through ${helper}`, watch }
  const writes = Object.values(SERVICES).some((s) => can('set_param', `${s.rules}=reg stop x`))
  if (!writes) return { ...base, kind: 'read', text: what, watch }
  return {
    ...base,
    kind: 'write',
    text: `${what}; lctl set_param of rules`,
    watch: 'The wildcard allows writing any parameter after a rule; the helper accepts only rules of Sluice.',
  }
}

/** sudo does not distinguish the two without a password. */
export const PASSWORD_NEEDED = 'sudo asks for a password, or grants this login nothing'

/** Scope if sudo refused to list. */
export function scopeOfRefusal(stdout: string, stderr: string, code: number): SudoScope {
  const output = `${stderr}\n${stdout}`
  const line = plainLine(stderr.trim() === '' ? stdout : stderr)
  // sudo prints the same for a login without any grant.
  if (/password is required|a password|askpass|no tty present/i.test(output)) return noScope(PASSWORD_NEEDED)
  if (/must have a tty/i.test(output)) return noScope('sudo requires a terminal (requiretty)')
  if (code === 127 || /not found/i.test(output)) return noScope('there is no sudo')
  if (/not in the sudoers file|may not run sudo|not allowed/i.test(output))
    return noScope('sudo grants this login nothing')
  return noScope(line === '' ? `sudo exited with ${code}` : line)
}
