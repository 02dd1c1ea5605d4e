/**
 * `grep` on bytes: -c -v -i -q -n -h -F -E -A N -B N, POSIX patterns with the classes that JavaScript also has.
 *
 * Lines that are not UTF-8 are omitted, and "binary file matches" is printed at the end, as by GNU grep 3.8; job ids can
 * contain such bytes (measured A2).
 */
import { exitWith, type ExecResult } from '../exec.ts'
import { linesOf, readAll, unknownOption, type TextTool } from './text-input.ts'

const CLASSES: Readonly<Record<string, string>> = {
  space: '\\s',
  digit: '0-9',
  alpha: 'A-Za-z',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  xdigit: '0-9A-Fa-f',
}

/** Translates to a JavaScript pattern; in a basic one braces, bars and signs are special only after a backslash. */
function toSource(pattern: string, isExtended: boolean): string {
  const classes = pattern.replace(/\[:(\w+):\]/g, (all, name: string) => CLASSES[name] ?? all)
  if (isExtended) return classes
  return classes.replace(/\\([(){}|+?])|([(){}|+?])/g, (_, escaped?: string, bare?: string) =>
    escaped !== undefined ? escaped : `\\${bare ?? ''}`,
  )
}

function toRegExp(pattern: string, has: (c: string) => boolean): RegExp | undefined {
  const source = has('F') ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : toSource(pattern, has('E'))
  try {
    return new RegExp(source, has('i') ? 'i' : '')
  } catch {
    return undefined
  }
}

/** True if bytes are UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
const isUtf8 = (bytes: string): boolean =>
  /^(?:[\x01-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})*$/.test(
    bytes,
  )

interface Options {
  readonly has: (c: string) => boolean
  /** True if -A or -B was given, even with 0: groups of lines are then separated by `--`. */
  readonly hasContext: boolean
  readonly before: number
  readonly after: number
}

/** Matching lines of one text with their context, and whether any was omitted because it is not UTF-8. */
function search(lines: readonly string[], hits: readonly number[], o: Options, label: string): [string, boolean] {
  let text = ''
  let isBinary = false
  let printedTo = -1
  for (const [k, hit] of hits.entries()) {
    const from = Math.max(printedTo + 1, hit - o.before)
    const nextHit = hits[k + 1] ?? Infinity
    const to = Math.min(lines.length - 1, hit + o.after, nextHit - 1)
    if (o.hasContext && printedTo >= 0 && from > printedTo + 1) text += '--\n'
    for (let i = from; i <= to; i++) {
      const line = lines[i] as string
      if (!isUtf8(line)) {
        isBinary = true
        continue
      }
      const sign = i === hit ? ':' : '-'
      text += `${label === '' ? '' : `${label}${sign}`}${o.has('n') ? `${i + 1}${sign}` : ''}${line}\n`
    }
    printedTo = Math.max(printedTo, to)
  }
  return [text, isBinary]
}

export const grep: TextTool = (args, stdin, readFile): ExecResult => {
  const letters = new Set<string>()
  const context = { A: 0, B: 0 }
  let hasContext = false
  const rest: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    const m = /^-([cviqnhFE]*)(?:([AB])(\d*))?$/.exec(arg)
    if (!arg.startsWith('-') || arg === '-') rest.push(arg)
    else if (!m) return unknownOption('grep', arg)
    else {
      for (const c of m[1] ?? '') letters.add(c)
      if (m[2] === undefined) continue
      const count = m[3] === '' ? (args[++i] ?? '') : (m[3] as string)
      if (!/^\d+$/.test(count)) return exitWith(2, `grep: ${count}: invalid context length argument\n`)
      context[m[2] as 'A' | 'B'] = Number(count)
      hasContext = true
    }
  }
  const has = (c: string): boolean => letters.has(c)
  const [pattern, ...files] = rest
  if (pattern === undefined) return exitWith(2, 'Usage: grep [OPTION]... PATTERNS [FILE]...\n')
  const regExp = toRegExp(pattern, has)
  if (!regExp) return unknownOption('grep', `the pattern ${pattern}`)
  const read = readAll('grep', files, stdin, readFile)
  let { stderr } = read
  let stdout = ''
  let isFound = false
  for (const { path, text } of read.texts) {
    const lines = linesOf(text)
    const hits = lines.flatMap((l, i) => (regExp.test(l) === has('v') ? [] : [i]))
    isFound ||= hits.length > 0
    if (has('q')) continue
    const label = files.length > 1 && !has('h') ? path : ''
    if (has('c')) {
      stdout += `${label === '' ? '' : `${label}:`}${hits.length}\n`
      continue
    }
    const [printed, isBinary] = search(lines, hits, { has, hasContext, before: context.B, after: context.A }, label)
    stdout += printed
    if (isBinary) stderr += `grep: ${path === '-' ? '(standard input)' : path}: binary file matches\n`
  }
  const code = read.stderr !== '' ? 2 : isFound ? 0 : 1
  return exitWith(code, stderr, stdout)
}
