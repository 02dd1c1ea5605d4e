/**
 * `lctl get_param` and `lctl list_param`.
 *
 * Exit code: the first failing argument; within one argument, the last file read (spec/lustre 7.1). Options that no
 * server was seen to answer (`-b`, colours) are refused by name.
 */
import { errnoNumber, errnoText, type Errno } from '../../lustre/errno.ts'
import { noSuchListing, noSuchParam, readRefused } from '../../lustre/lctl.ts'
import { exitWith, type ExecResult } from '../exec.ts'
import { readEntry } from '../file-access.ts'
import { entryMode, type TreeEntry } from '../parameter-tree.ts'
import { entryName, findEntries, pathPattern, typeSuffix } from './find.ts'
import { formatValue, throughNetlink } from './format.ts'
import { isLoaded, isRoot, type LctlHost } from './host.ts'
import { Listing, type Section } from './listing.ts'
import { parseOptions } from './options.ts'
import { LONG_NAMES, usage } from './usage.ts'

type Command = 'get_param' | 'list_param'

interface Request {
  readonly host: LctlHost
  readonly command: Command
  readonly has: (letter: string) => boolean
  /** Whether values are read and printed, or names alone. */
  readonly wantsValues: boolean
  /** Whether files are read, if only to see whether they can be. */
  readonly reads: boolean
  readonly listing: Listing
  stderr: string
}

/** Parts of paths that `-t` takes for something other than a setting. */
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

/** Reads one file into the listing; its error, if it has one. */
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

/** Everything a path pattern names; the error it ends with. */
function walk(r: Request, pattern: string, section: Section, isBelow = false): Errno | undefined {
  const entries = findEntries(r.host, pattern, r.has('o') && !isBelow)
  if (entries.length === 0) {
    // A directory without content is no error; with -R, nothing is said about a name without a file either.
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

/** What netlink serves to users who cannot see the files; true when it served something. */
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
