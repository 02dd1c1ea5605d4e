/**
 * Files of a node by path: matches of globs, files for the shell, and the directories above them.
 *
 * A directory exists because a file below it does. Debugfs is readable by root only (mode 0700 of its root).
 */
import { globPattern, hasGlob } from './glob.ts'
import { modeOf, type Parameter } from './parameter.ts'

export interface TreeEntry {
  readonly path: string
  /** Absent on a directory. */
  readonly file?: Parameter
}

interface Directory {
  readonly children: Map<string, Directory | Parameter>
}

const isDirectory = (n: Directory | Parameter): n is Directory => 'children' in n

/** Permission bits that a listing shows: 0755 for directories. */
export const entryMode = (e: TreeEntry): number => (e.file ? modeOf(e.file) : 0o755)

const DEBUGFS = '/sys/kernel/debug'
/** Number of cached patterns: a console reads the same few again and again. */
const CACHED_PATTERNS = 256

export class ParameterFiles {
  readonly #root: Directory = { children: new Map() }
  /** Matches of earlier patterns, separate for root and other users; the files stay the same. */
  readonly #matches = [new Map<string, readonly TreeEntry[]>(), new Map<string, readonly TreeEntry[]>()] as const

  constructor(parameters: readonly Parameter[]) {
    for (const p of parameters) {
      const parts = p.path.split('/').slice(1)
      const last = parts.pop() as string
      let at = this.#root
      for (const part of parts) {
        const next = at.children.get(part)
        if (next && isDirectory(next)) at = next
        else {
          const made: Directory = { children: new Map() }
          at.children.set(part, made)
          at = made
        }
      }
      if (p.kind !== 'directory') at.children.set(last, p)
      else if (!at.children.has(last)) at.children.set(last, { children: new Map() })
    }
  }

  /** Files and directories that match an absolute path pattern, sorted by path bytewise, as glob(3) does in the C locale. */
  match(pattern: string, isRoot: boolean): readonly TreeEntry[] {
    const cache = this.#matches[isRoot ? 0 : 1]
    const known = cache.get(pattern)
    if (known) return known
    const found = this.#walk(pattern, isRoot)
    if (cache.size >= CACHED_PATTERNS) cache.clear()
    cache.set(pattern, found)
    return found
  }

  #walk(pattern: string, isRoot: boolean): TreeEntry[] {
    const parts = pattern.split('/').slice(1)
    const found: TreeEntry[] = []
    const walk = (node: Directory | Parameter, path: string, depth: number): void => {
      if (!isRoot && path === DEBUGFS) return
      if (depth === parts.length) {
        found.push(isDirectory(node) ? { path } : { path, file: node })
        return
      }
      if (!isDirectory(node)) return
      const part = parts[depth] as string
      if (!hasGlob(part)) {
        const next = node.children.get(part.replaceAll('\\', ''))
        if (next) walk(next, `${path}/${part.replaceAll('\\', '')}`, depth + 1)
        return
      }
      const g = globPattern(part)
      for (const [name, next] of node.children) if (g.test(name)) walk(next, `${path}/${name}`, depth + 1)
    }
    walk(this.#root, '', 0)
    return found.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  }

  /** The file or directory at an absolute path. */
  at(path: string): TreeEntry | undefined {
    let node: Directory | Parameter = this.#root
    for (const part of path.split('/').slice(1)) {
      const next: Directory | Parameter | undefined = isDirectory(node) ? node.children.get(part) : undefined
      if (!next) return undefined
      node = next
    }
    return isDirectory(node) ? { path } : { path, file: node }
  }
}

const made = new WeakMap<readonly Parameter[], ParameterFiles>()

/** Files of a list of parameters; built once per list, which is not changed afterwards. */
export function filesOf(parameters: readonly Parameter[]): ParameterFiles {
  let files = made.get(parameters)
  if (!files) {
    files = new ParameterFiles(parameters)
    made.set(parameters, files)
  }
  return files
}

/** True if a user sees nothing below a path. */
export const isHidden = (path: string, isRoot: boolean): boolean => !isRoot && path.startsWith(`${DEBUGFS}/`)
