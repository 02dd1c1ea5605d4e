/**
 * Parameter names: the path pattern of a typed name, the files that it matches, and the names printed for them.
 *
 * Source: spec/lustre 0.1 and 7.1, measured A12, A20, A23.
 */
import { expandBraces } from '../glob.ts'
import { entryMode, filesOf, type TreeEntry } from '../parameter-tree.ts'
import { isLoaded, isRoot, type LctlHost } from './host.ts'

/** Mount points of the trees, in lctl's search order. */
const MOUNTS = {
  proc: ['/proc/fs/lustre'],
  sysfs: ['/sys/fs/lustre'],
  debugfs: ['/sys/kernel/debug/lnet', '/sys/kernel/debug/lustre'],
} as const

const MODULES = '/sys/module/*/parameters'

/**
 * Path pattern of a typed name: dots become slashes, except those of a NID below `exports` or in the name of an MGC;
 * backslashes vanish; `ignoresSuffix` drops one `/`, `@` or `=` that `-F` printed before.
 */
export function pathPattern(typed: string, ignoresSuffix = false): string {
  let text = ignoresSuffix ? typed.replace(/[/@=]$/, '') : typed
  text = text.replaceAll('\\', '')
  const nid = nidSpan(text)
  return text.replace(/\./g, (c, i: number) => (nid && i >= nid.from && i < nid.to ? c : '/'))
}

function nidSpan(text: string): { from: number; to: number } | undefined {
  if (!text.includes('@')) return undefined
  const exports = text.indexOf('.exports.')
  const mgc = text.indexOf('.MGC')
  const from = exports >= 0 ? exports + '.exports.'.length : mgc >= 0 ? mgc + 1 : -1
  const at = from < 0 ? -1 : text.indexOf('@', from)
  if (at < 0) return undefined
  const end = text.indexOf('.', at)
  return { from, to: end < 0 ? text.length : end }
}

/** Files and directories that match a path pattern, in lctl's order; repeated if braces name one twice. */
export function findEntries(host: LctlHost, pattern: string, withModules = false): TreeEntry[] {
  if (!isLoaded(host)) return []
  const files = filesOf(host.parameters())
  const alternatives = expandBraces({ text: pattern }).map((w) => w.text)
  const under = (mount: string): TreeEntry[] => alternatives.flatMap((a) => files.match(`${mount}/${a}`, isRoot(host)))
  const mounts = host.profile.lctl.trees.flatMap((t): readonly string[] => MOUNTS[t])
  return [...mounts.flatMap(under), ...(withModules ? under(MODULES) : [])]
}

/** lctl's name of a file or directory: its path below the tree, with dots. */
export function entryName(e: TreeEntry): string {
  if (e.path.startsWith('/sys/module/')) return e.path.slice(e.path.lastIndexOf('/') + 1)
  for (const mark of ['/lustre/', '/lnet/']) {
    const at = e.path.indexOf(mark)
    if (at >= 0) return e.path.slice(at + mark.length).replaceAll('/', '.')
  }
  return e.path
}

const OWNER_WRITE = 0o200

/** Suffix that `-F` appends to a name. */
export function typeSuffix(e: TreeEntry): string {
  if (!e.file) return '/'
  return (entryMode(e) & OWNER_WRITE) !== 0 ? '=' : ''
}
