/**
 * lctl from both sides: the commands that Sluice sends (built here and nowhere else, quoted by one function), and the
 * answers in the words of the real tool.
 *
 * Source: spec/lustre 7.1 and 7.2, development line.
 */
import { errnoText, type Errno } from './errno.ts'
import type { ByteText } from './text.ts'

/** One word for a POSIX shell. Plain words stay as they are; all else is wrapped in single quotes. */
export function shellQuote(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The command that reads parameters; globs and braces are lctl's own, so they are quoted. */
export const getParamCommand = (...names: readonly string[]): string =>
  `lctl get_param ${names.map(shellQuote).join(' ')}`

/** The command that writes one parameter: one assignment per call, because exit codes of several are not told apart. */
export const setParamCommand = (name: string, value: string): string =>
  `lctl set_param ${shellQuote(name)}=${shellQuote(value)}`

/**
 * Splits the output of a get_param of several parameters.
 *
 * @returns  values by parameter name in the order printed, each without the newline that ends it.
 */
export function splitParams(text: ByteText): Map<string, ByteText> {
  const values = new Map<string, ByteText>()
  let name: string | undefined
  let body: string[] = []
  const close = (): void => {
    if (name !== undefined) values.set(name, body.join('\n'))
  }
  for (const line of (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')) {
    // Parameter names hold no blanks; rule lines and job entries have one before any `=`.
    const m = /^([A-Za-z0-9_][\w.@:-]*)=(.*)$/.exec(line)
    if (m) {
      close()
      name = m[1]
      body = m[2] === '' ? [] : [m[2] as string]
    } else if (name !== undefined) body.push(line)
  }
  close()
  return values
}

/** What get_param prints for one parameter: values of several lines start on a line of their own. */
export function formatParam(name: string, value: ByteText): ByteText {
  const inner = value.endsWith('\n') ? value.slice(0, -1) : value
  return inner.includes('\n') ? `${name}=\n${inner}\n` : `${name}=${inner}\n`
}

const slashed = (name: string): string => name.replaceAll('.', '/')

/** The line that ends a listing of what does not exist. */
export const noSuchListing = (name: string): string =>
  `error: list_param: listing '${slashed(name)}': ${errnoText('ENOENT')}\n`

/** stderr of a parameter that does not exist; `tool` is get_param, set_param or list_param. */
export const noSuchParam = (tool: string, name: string): string =>
  `error: ${tool}: param_path '${slashed(name)}': ${errnoText('ENOENT')}\n`

/** stderr of a read that the kernel refused. */
export const readRefused = (path: string, errno: Errno): string => `error: read_param: '${path}': ${errnoText(errno)}\n`

/** stderr of a write that the kernel refused, and of a file that may not be written. */
export const writeRefused = (path: string, value: string, errno: Errno): string =>
  `error: set_param: setting ${path}=${value}: ${errnoText(errno)}\n`
export const openRefused = (path: string, errno: Errno): string =>
  `error: set_param: opening '${path}': ${errnoText(errno)}\n`

/** The line that ends every failed assignment since 2.16, with the name as it was asked for. */
export const assignmentFailed = (name: string, value: string, errno: Errno): string =>
  `error: set_param: setting '${slashed(name)}'='${value}': ${errnoText(errno)}\n`

/** Where a service's debugfs parameters live. */
export const debugfsPath = (name: string): string => `/sys/kernel/debug/lustre/${slashed(name)}`
