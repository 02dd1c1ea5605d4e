/**
 * lctl commands and answers: the commands that Sluice sends (built only here, quoted by one function), and the output of the real tool.
 *
 * Source: spec/lustre 7.1 and 7.2.
 */
import { errnoText, type Errno } from './errno.ts'
import type { ByteText } from './text.ts'

/** Quotes one word for a POSIX shell. Plain words are unchanged; all else is wrapped in single quotes. */
export function shellQuote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Builds the command that reads parameters; globs and braces are expanded by lctl, so they are quoted. */
export const getParamCommand = (...names: readonly string[]): string =>
  `lctl get_param ${names.map(shellQuote).join(' ')}`

/** Names of a command built by `getParamCommand`; undefined for any other text. */
export function readNames(command: string): readonly string[] | undefined {
  const [, words] = /^lctl get_param (.*)$/s.exec(command) ?? []
  const names = words?.split(' ').map((word) => word.replace(/^'(.*)'$/s, '$1'))
  const isPlain = names?.every((name) => !name.startsWith('-')) === true
  return isPlain && getParamCommand(...names) === command ? names : undefined
}

/** Builds the command that writes one value to a parameter. */
export const setParamCommand = (name: string, value: string): string => setParamsCommand(name, [value])

/**
 * Builds the command that writes several values to one parameter, in order. They share one exit code: of the first failure, or since
 * 2.16 of the last value; `assignmentResults` tells them apart.
 */
export const setParamsCommand = (name: string, values: readonly string[]): string =>
  `lctl set_param ${values.map((value) => `${shellQuote(name)}=${shellQuote(value)}`).join(' ')}`

/** Result of one value of a `set_param` with several. */
export interface AssignmentResult {
  readonly isWritten: boolean
  /** Last line of its own messages; empty for none. */
  readonly message: string
}

/**
 * Separates the results of a `set_param` with several different values: lctl prints `NAME=VALUE` for each that was written, and messages
 * with the value for each that was not.
 *
 * @returns  one per value, in order; and the messages of no value, such as those of a shell or of sudo.
 */
export function assignmentResults(
  name: string,
  values: readonly string[],
  { stdout, stderr, code }: { readonly stdout: ByteText; readonly stderr: ByteText; readonly code: number },
): { readonly results: readonly AssignmentResult[]; readonly rest: readonly string[] } {
  const echoed = new Set(stdout.split('\n'))
  const messages = new Map<string, string>()
  const rest: string[] = []
  for (const line of stderr.split('\n').filter((l) => l.trim() !== '')) {
    const value = values.find((v) => line.includes(`=${v}: `) || line.includes(`='${v}': `))
    if (value === undefined) rest.push(line.trim())
    else messages.set(value, line.trim())
  }
  const results = values.map((value): AssignmentResult => {
    const message = messages.get(value) ?? ''
    return { isWritten: message === '' && (code === 0 || echoed.has(`${name}=${value}`)), message }
  })
  return { results, rest }
}

const PARAMETER = /^([A-Za-z0-9_][\w.@:-]*)=/
const SPACE = 32
const DASH = 45

/**
 * Splits the output of a get_param of several parameters.
 *
 * @returns  values by parameter name in the order printed, each without the newline that ends it.
 */
export function splitParams(text: ByteText): Map<string, ByteText> {
  const values = new Map<string, ByteText>()
  const end = text.endsWith('\n') ? text.length - 1 : text.length
  let name: string | undefined
  let valueFrom = 0
  for (let from = 0; from <= end;) {
    let to = text.indexOf('\n', from)
    if (to < 0 || to > end) to = end
    // Parameter names contain no blanks; rule lines and job entries have one before any `=`. Most lines begin with one.
    const first = text.charCodeAt(from)
    const m = first === SPACE || first === DASH ? null : PARAMETER.exec(text.slice(from, to))
    if (m) {
      if (name !== undefined) values.set(name, text.slice(valueFrom, Math.max(valueFrom, from - 1)))
      name = m[1] ?? ''
      valueFrom = from + name.length + 1
      // A value of several lines starts on a separate line.
      if (valueFrom === to && to < end) valueFrom++
    }
    from = to + 1
  }
  if (name !== undefined) values.set(name, text.slice(valueFrom, Math.max(valueFrom, end)))
  return values
}

/** Formats the output of get_param for one parameter since 2.17: values of several lines start on a separate line. */
export function formatParam(name: string, value: ByteText): ByteText {
  const inner = value.endsWith('\n') ? value.slice(0, -1) : value
  return inner.includes('\n') ? `${name}=\n${inner}\n` : `${name}=${inner}\n`
}

/**
 * Last line of a listing of nonexistent parameters. Patterns and paths in messages are those of lctl, with slashes for
 * dots.
 */
export const noSuchListing = (pattern: string): string =>
  `error: list_param: listing '${pattern}': ${errnoText('ENOENT')}\n`

/** stderr for a nonexistent parameter; `tool` is get_param, set_param or list_param. */
export const noSuchParam = (tool: string, pattern: string): string =>
  `error: ${tool}: param_path '${pattern}': ${errnoText('ENOENT')}\n`

/** stderr of a read that the kernel refused. */
export const readRefused = (path: string, errno: Errno): string => `error: read_param: '${path}': ${errnoText(errno)}\n`

/** stderr of a write that the kernel refused, and of a file that may not be written. */
export const writeRefused = (path: string, value: string, errno: Errno): string =>
  `error: set_param: setting ${path}=${value}: ${errnoText(errno)}\n`
export const openRefused = (path: string, errno: Errno): string =>
  `error: set_param: opening '${path}': ${errnoText(errno)}\n`

/** Last line of every failed assignment since 2.16, with the name as requested. */
export const assignmentFailed = (pattern: string, value: string, errno: Errno): string =>
  `error: set_param: setting '${pattern}'='${value}': ${errnoText(errno)}\n`

/** Path of a service's debugfs parameters. */
export const debugfsPath = (name: string): string => `/sys/kernel/debug/lustre/${name.replaceAll('.', '/')}`
