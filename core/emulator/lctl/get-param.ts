/**
 * `lctl get_param` and `lctl list_param`.
 *
 * Exit code: the first failing argument; within one argument, the last file read (spec/lustre 7.1). Options for which no
 * server's answer was recorded (`-b`, colors) are refused by name.
 */
import { errnoNumber, errnoText, type Errno } from '../../lustre/errno.ts'
import { noSuchListing, noSuchParam, readRefused, formatParam } from '../../lustre/lctl.ts'
import { exitWith, type ExecResult } from '../exec.ts'
import { readEntry } from '../file-access.ts'
import { entryMode, type TreeEntry } from '../parameter-tree.ts'
import type { LctlDialect } from '../../lustre/lctl-dialect.ts'
import type { ByteText } from '../../lustre/text.ts'
import { entryName, findEntries, pathPattern, typeSuffix } from './find.ts'
import { isLoaded, isRoot, type LctlHost } from './host.ts'
import { Listing, type Section } from './listing.ts'
import { parseOptions } from './options.ts'
import { LONG_NAMES, usage } from './usage.ts'

interface ValueLayout {
  /** False with `-n`. */
  readonly hasName: boolean
  /** `-H`: prefixes every line of a multi-line value with the name. */
  readonly isHeaded: boolean
  /** `-y`: `name: value`, on one line if the value is a single line. */
  readonly isYaml: boolean
}

const chomp = (text: ByteText): ByteText => (text.endsWith('\n') ? text.slice(0, -1) : text)

/** Up to 2.16 a value starts on a new line if it would extend past column 80, newline included. */
function formatOld(name: string, value: ByteText, hasName: boolean, breakAt: number, printsEmpty: boolean): ByteText {
  if (value === '' && !(printsEmpty && hasName)) return ''
  const inner = chomp(value)
  const isBroken = inner.includes('\n') || name.length + value.length >= breakAt
  return hasName ? `${name}=${isBroken ? '\n' : ''}${inner}\n` : `${inner}\n`
}

/** Formats one parameter as get_param prints it. Source: spec/lustre 0.2 and 7.1, measured A12, A13, A26. */
function formatValue(dialect: LctlDialect, name: string, value: ByteText, layout: ValueLayout): ByteText {
  const { hasName } = layout
  const inner = chomp(value)
  if (layout.isHeaded && inner.includes('\n')) {
    return inner
      .split('\n')
      .map((line) => `${name}=${line}\n`)
      .join('')
  }
  if (layout.isYaml && hasName) return `${name}: ${inner}\n`
  if (dialect.breakAt !== undefined) return formatOld(name, value, hasName, dialect.breakAt, dialect.printsEmpty)
  if (hasName) return formatParam(name, value)
  return inner === '' ? '' : `${inner}\n`
}

/**
 * Table as netlink serves it to users without debugfs: every counter lacks the last character of its line; 2.17.0 also misreads
 * the start of the table as a time since boot.
 *
 * @param bootSeconds  Unix time at which the node's monotonic clock was 0.
 */
function throughNetlink(dialect: LctlDialect, table: ByteText, bootSeconds: number): ByteText {
  const cut = table.replace(/^(\S+ +\d+ samples .*).$/gm, '$1')
  if (!dialect.netlinkElapsedIsAbsolute) return cut
  const ns = (name: string): bigint | undefined => {
    const m = new RegExp(`^${name} +(\\d+)\\.(\\d{9}) `, 'm').exec(table)
    return m ? BigInt(`${m[1]}${m[2]}`) : undefined
  }
  const snapshot = ns('snapshot_time')
  const start = ns('start_time')
  if (snapshot === undefined || start === undefined) return cut
  const bogus = String(snapshot - (start - BigInt(Math.trunc(bootSeconds)) * 1_000_000_000n)).padStart(10, '0')
  return cut.replace(/^(elapsed_time +)\d+\.\d{9} /m, `$1${bogus.slice(0, -9)}.${bogus.slice(-9)} `)
}

type Command = 'get_param' | 'list_param'

interface Request {
  readonly host: LctlHost
  readonly command: Command
  readonly has: (letter: string) => boolean
  /** True to read and print values, false for names alone. */
  readonly wantsValues: boolean
  /** True to read files, if only to check that they are readable. */
  readonly reads: boolean
  readonly listing: Listing
  stderr: string
}

/** Path components that `-t` does not treat as settings. */
const NO_SETTING = /console|debug_|fail_|force|import|panic_|peers|srpc_sepol|stats|target_obd/

const OWNER_READ = 0o400
const OWNER_WRITE = 0o200

function isWanted({ has }: Request, e: TreeEntry): boolean {
  if (has('L') && e.file?.kind === 'link') return false
  if (has('D') && e.file) return false
  if (has('r') && (entryMode(e) & OWNER_READ) === 0) return false
  if (has('w') && (entryMode(e) & OWNER_WRITE) === 0) return false
  return !has('t') || (e.file !== undefined && !NO_SETTING.test(e.path))
}

function labelOf({ has, command, host }: Request, e: TreeEntry): string {
  if (has('p')) return e.path
  const showsType = has('F') && (host.profile.lctl.hasLongOptions || command === 'list_param' || has('N'))
  return `${entryName(e)}${showsType ? typeSuffix(e) : ''}`
}

/** Reads one file into the listing; returns its error, if any. */
function take(r: Request, e: TreeEntry, section: Section): Errno | undefined {
  const name = labelOf(r, e)
  let text = `${name}\n`
  if (r.reads && e.file) {
    const value = readEntry(e, isRoot(r.host))
    if (!value.ok) {
      r.stderr += readRefused(e.path, value.error)
      return value.error
    }
    const layout = { hasName: !r.has('n'), isHeaded: r.has('H'), isYaml: r.has('y') }
    if (r.wantsValues) text = formatValue(r.host.profile.lctl, name, value.value, layout)
  }
  r.listing.add(section, { name, text })
  return undefined
}

/** Lists everything that matches a path pattern; returns its final error. */
function walk(r: Request, pattern: string, section: Section, isBelow = false): Errno | undefined {
  const entries = findEntries(r.host, pattern, r.has('o') && !isBelow)
  if (entries.length === 0) {
    // An empty directory is not an error; with -R, names without files are not reported either.
    const isSilent = r.has('R') || (r.host.profile.lctl.hasNetlink && !isRoot(r.host))
    if (!isSilent) r.stderr += noSuchParam(r.command, pattern)
    return 'ENOENT'
  }
  let last: Errno | undefined
  for (const e of entries) {
    if (!isWanted(r, e)) continue
    if (e.file) {
      last = take(r, e, section)
      continue
    }
    const isKnown = r.listing.has(labelOf(r, e))
    if (!r.wantsValues && !(r.reads && r.command === 'get_param')) take(r, e, section)
    if (!r.has('R') || isKnown) continue
    const below = e.path.replace(/^\/(?:proc|sys)\/(?:fs|kernel\/debug)\/(?:lustre|lnet)\//, '')
    walk(r, `${below}/*`, r.listing.section(`${below}/`), true)
  }
  return last
}

/** Serves tables over netlink to users who cannot see the files; no message if there are none. */
function serveByNetlink(r: Request, pattern: string): void {
  const asRoot = { ...r.host, user: { name: 'root', uid: 0 } }
  for (const e of findEntries(asRoot, pattern)) {
    const value = e.file?.netlink ? e.file.read() : undefined
    if (!value?.ok) continue
    const table = throughNetlink(r.host.profile.lctl, value.value, r.host.bootSeconds ?? 0)
    const layout = { hasName: !r.has('n'), isHeaded: false, isYaml: r.has('y') }
    r.listing.add(r.listing.root, {
      name: entryName(e),
      text: formatValue(r.host.profile.lctl, entryName(e), table, layout),
    })
  }
}

function afterFailure(r: Request, pattern: string, errno: Errno): void {
  const { host } = r
  const isForNetlink = errno === 'ENOENT' && host.profile.lctl.hasNetlink && !isRoot(host) && isLoaded(host)
  if (r.command === 'list_param') {
    r.stderr += isForNetlink
      ? `error: list_param: listing '${pattern.replaceAll('/', '.')}': ${errnoText('EOPNOTSUPP')}\n`
      : noSuchListing(pattern)
  } else if (isForNetlink && r.wantsValues) serveByNetlink(r, pattern)
}

/** Runs the command with its arguments. */
export function readParams(host: LctlHost, command: Command, args: readonly string[]): ExecResult {
  const { lctl } = host.profile
  const letters = command === 'get_param' ? lctl.options.get : lctl.options.list
  const options = parseOptions(command, args, letters, lctl.hasLongOptions ? LONG_NAMES[command] : undefined)
  if (!options.ok) return usage(host.profile, command, options.error)
  const { values, rest } = options.value
  if (rest.length === 0) return usage(host.profile, command)
  const colour = values.get('c')
  if (values.has('b')) return refuse(command, '-b')
  if (colour !== undefined && !['auto', 'never', 'no'].includes(colour)) return refuse(command, `-c ${colour}`)

  const has = (letter: string): boolean => values.has(letter)
  const wantsValues = command === 'get_param' && !has('N')
  let stdout = ''
  let stderr = ''
  let code = 0
  for (const typed of rest) {
    const pattern = pathPattern(typed, has('F'))
    const r: Request = {
      host,
      command,
      has,
      wantsValues,
      reads: command === 'get_param' && (wantsValues || lctl.namesAreRead),
      listing: new Listing({
        dropsRepeats: (command === 'list_param' || has('m') || (!wantsValues && !lctl.namesAreRead)) && !has('M'),
        isCollected: lctl.collectsTree,
      }),
      stderr: '',
    }
    const errno = walk(r, pattern, r.listing.root)
    if (errno) afterFailure(r, pattern, errno)
    stdout += r.listing.toString()
    stderr += r.stderr
    if (code === 0 && errno) code = errnoNumber(errno)
  }
  return { stdout, stderr, code }
}

const refuse = (command: Command, option: string): ExecResult =>
  exitWith(1, `lctl ${command}: ${option} is not known to this emulated node\n`)
