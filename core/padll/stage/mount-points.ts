/**
 * Mount points that a stage manages, and lookup of a path's: whole components, longest prefix, after `.`, `..` and `//`
 * are resolved as text. Paths under none are not managed.
 *
 * Source: spec/padll 1.2 [R]. Deviation: a symbolic link is not followed, so a managed file reached through a link from
 * outside is not recognised (nor is it upstream). Option `substring`: upstream's test, the mount's text anywhere in the
 * path as given.
 */
import { fail, ok, type Result } from '../../base/result.ts'

/** PATH_MAX of Linux, which includes the NUL: a path has fewer characters. */
export const PATH_MAX = 4096
export const MOUNTS_MAX = 256
/** Index of a path under no mount point. */
export const UNMANAGED = -1

/** Recently resolved paths, in two generations, so that a full cache is not cleared at once. */
const CACHED = 16_384
const CACHED_LENGTH = 512

/** Normalizes an absolute path: no `.`, `..`, `//` or trailing slash; `..` at the root stays there. */
export function normalPath(path: string): string {
  if (!path.includes('//') && !path.includes('/.') && (path.length === 1 || !path.endsWith('/'))) return path
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

/** Resolves `path` from the directory `from`, normalized; undefined if the kernel would not take it. */
export function resolvedPath(path: string, from: string): string | undefined {
  if (path.length >= PATH_MAX || path.includes('\0')) return undefined
  return normalPath(path.startsWith('/') ? path : `${from}/${path}`)
}

export class MountPoints {
  readonly paths: readonly string[]
  readonly substring: boolean
  /** Longest first, with their index in `paths`. */
  readonly #longest: readonly { readonly path: string; readonly below: string; readonly index: number }[]
  #young = new Map<string, number>()
  #old = new Map<string, number>()

  private constructor(paths: readonly string[], substring: boolean) {
    this.paths = paths
    this.substring = substring
    this.#longest = paths
      .map((path, index) => ({ path, below: path === '/' ? '/' : `${path}/`, index }))
      .sort((a, b) => b.path.length - a.path.length)
  }

  /** @returns E_MOUNT for a path that is not absolute, too long or named twice, or for more than MOUNTS_MAX. */
  static of(paths: readonly string[], substring = false): Result<MountPoints> {
    const refused = (what: string): Result<MountPoints> => fail({ code: 'E_MOUNT', what })
    if (paths.length > MOUNTS_MAX) return refused(`more than ${MOUNTS_MAX} mount points`)
    const normal: string[] = []
    for (const path of paths) {
      const one = path.startsWith('/') ? resolvedPath(path, '/') : undefined
      if (one === undefined) return refused(`mount point ${JSON.stringify(path.slice(0, 80))} is not an absolute path`)
      if (normal.includes(one)) return refused(`mount point ${JSON.stringify(one.slice(0, 80))} is named twice`)
      normal.push(one)
    }
    return ok(new MountPoints(normal, substring))
  }

  /** Returns the index in `paths` of the mount point of a normalized absolute path; UNMANAGED for none. */
  mountOfNormal(path: string): number {
    for (const mount of this.#longest) {
      if (path === mount.path || path.startsWith(mount.below)) return mount.index
    }
    return UNMANAGED
  }

  /** The same for a path as a process passes it; a relative one starts at the directory `from`. */
  mountOf(path: string, from: string): number {
    if (this.substring) return this.#substringOf(path)
    if (path.charCodeAt(0) !== 47) {
      const resolved = resolvedPath(path, from)
      return resolved === undefined ? UNMANAGED : this.mountOfNormal(resolved)
    }
    const known = this.#young.get(path)
    return known === undefined ? this.#lookUp(path) : known
  }

  #lookUp(path: string): number {
    let mount = this.#old.get(path)
    if (mount === undefined) {
      const resolved = resolvedPath(path, '/')
      mount = resolved === undefined ? UNMANAGED : this.mountOfNormal(resolved)
    }
    if (path.length <= CACHED_LENGTH) {
      if (this.#young.size === CACHED) {
        this.#old = this.#young
        this.#young = new Map()
      }
      this.#young.set(path, mount)
    }
    return mount
  }

  #substringOf(path: string): number {
    for (const mount of this.#longest) if (path.includes(mount.path)) return mount.index
    return UNMANAGED
  }
}
