/**
 * ~/.ssh/config as a list of settings with their locations, with `Include`s followed. ssh-config splits the lines;
 * nothing here, and nothing of that library that is used here, runs a command.
 *
 * A line is parsed by itself, so that an invalid one is reported and affects no other.
 */
import { readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { parse } from 'ssh-config'
import { matchesPattern } from './patterns.ts'
import { readPlainFile } from './plain-file.ts'

const FILE_BYTES = 1 << 20
const LINE_CHARS = 4096
const FILES = 64
const DEPTH = 8

export interface Setting {
  /** Lower case. */
  readonly keyword: string
  readonly values: readonly string[]
  readonly where: string
}

/** Setting without effect, and the reason: the window shows it, so that a different behavior of `ssh` is explained. */
export interface Ignored {
  readonly setting: string
  readonly where: string
  readonly why: string
}

export interface ConfigPlace {
  /** Home directory of the user, for `~` and relative includes. */
  readonly home: string
  readonly note: (ignored: Ignored) => void
}

/** Expands `~` and `~/...`; other users' homes are not looked up. */
export function expandHome(path: string, home: string): string {
  return path === '~' ? home : path.startsWith('~/') ? join(home, path.slice(2)) : path
}

/** Parses one line; undefined for an empty one or a comment, a reason for an invalid one. */
function settingOf(line: string, where: string): Setting | string | undefined {
  if (/^\s*(#.*)?$/.test(line)) return undefined
  if (line.length > LINE_CHARS) return `the line has more than ${LINE_CHARS} characters`
  // ssh-config would join a keyword without a value with the next line.
  if (!/^\s*[A-Za-z0-9]+(\s*=\s*|\s+)\S/.test(line)) return 'it is not a keyword and a value'
  try {
    const parsed = parse(line.trim())[0]
    if (!parsed || !('param' in parsed)) return 'it is not a keyword and a value'
    const { param, value } = parsed
    const values = typeof value === 'string' ? [value] : value.map((v) => v.val)
    return { keyword: param.toLowerCase(), values: values.filter((w) => w !== ''), where }
  } catch {
    return 'its quotes do not match'
  }
}

/** Files that an `Include` names: a path, or a pattern in its last part. */
function includedFiles(value: string, home: string): readonly string[] {
  const expanded = expandHome(value, home)
  const path = isAbsolute(expanded) ? expanded : join(home, '.ssh', expanded)
  const pattern = basename(path)
  if (!/[*?]/.test(pattern)) return [path]
  try {
    const names = readdirSync(dirname(path)).filter((n) => !n.startsWith('.') && matchesPattern(pattern, n))
    return names.sort().map((n) => join(dirname(path), n))
  } catch {
    return []
  }
}

/**
 * Calls `visit` for every setting that may apply, in order. For a `Host` or `Match` line `visit` returns whether the
 * block applies; settings of blocks that do not are skipped, and files included there are not even opened.
 */
export function readConfig(file: string, place: ConfigPlace, visit: (s: Setting) => boolean): void {
  const open: string[] = []
  let files = 0
  const walk = (path: string, depth: number): void => {
    const ignore = (setting: string, where: string, why: string): void => place.note({ setting, where, why })
    if (depth > DEPTH) return ignore('Include', path, `files are nested more than ${DEPTH} deep`)
    if (open.includes(path)) return ignore('Include', path, 'it includes itself')
    if (++files > FILES) return ignore('Include', path, `there are more than ${FILES} files`)
    const found = readPlainFile(path, FILE_BYTES, 'others-cannot-write')
    if (found.kind === 'unreadable') return ignore('file', path, found.why)
    if (found.kind === 'absent') return
    open.push(path)
    let applies = true
    for (const [i, line] of found.bytes.toString('utf8').split(/\r?\n/).entries()) {
      const where = `${path}:${i + 1}`
      const setting = settingOf(line, where)
      if (setting === undefined) continue
      if (typeof setting === 'string') ignore('line', where, setting)
      else if (setting.keyword === 'host' || setting.keyword === 'match') applies = visit(setting)
      else if (!applies) continue
      else if (setting.keyword === 'include') {
        for (const value of setting.values) for (const f of includedFiles(value, place.home)) walk(f, depth + 1)
      } else visit(setting)
    }
    open.pop()
  }
  walk(file, 0)
}
