/**
 * Options of lctl's commands as GNU getopt parses them: grouped letters, values attached or separate, options after the
 * parameters, terminated by `--`.
 */
import { fail, ok, type Result } from '../../base/result.ts'

export interface ParsedOptions {
  /** Value by letter; '' for an option without one. The last occurrence counts. */
  readonly values: ReadonlyMap<string, string>
  /** Non-option arguments, in order. */
  readonly rest: readonly string[]
}

/** Long names of letters; any unambiguous prefix is accepted. */
export type LongNames = Readonly<Record<string, string>>

/** Kind of argument that a letter takes; undefined for an unknown letter. */
function valueOf(letters: string, letter: string): 'none' | 'required' | 'optional' | undefined {
  const at = letter === ':' ? -1 : letters.indexOf(letter)
  if (at < 0) return undefined
  if (letters[at + 1] !== ':') return 'none'
  return letters[at + 2] === ':' ? 'optional' : 'required'
}

function findLong(names: LongNames, typed: string): string | undefined {
  if (Object.hasOwn(names, typed)) return names[typed]
  const begun = Object.keys(names).filter((n) => n.startsWith(typed))
  const letters = new Set(begun.map((n) => names[n]))
  return letters.size > 1 ? 'ambiguous' : [...letters][0]
}

/**
 * Parses options out of arguments.
 *
 * @param command  name for messages.
 * @param letters  as in getopt's option string.
 * @param long     undefined where long options do not exist.
 * @returns        options and the rest, or getopt's message for the first invalid one.
 */
export function parseOptions(
  command: string,
  args: readonly string[],
  letters: string,
  long: LongNames | undefined,
): Result<ParsedOptions, string> {
  const values = new Map<string, string>()
  const rest: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '--') {
      rest.push(...args.slice(i + 1))
      break
    }
    if (!arg.startsWith('-') || arg === '-') {
      rest.push(arg)
      continue
    }
    if (long && arg.startsWith('--')) {
      const eq = arg.indexOf('=')
      const typed = eq < 0 ? arg.slice(2) : arg.slice(2, eq)
      const letter = findLong(long, typed)
      if (letter === undefined) return fail(`${command}: unrecognized option '--${typed}'\n`)
      if (letter === 'ambiguous') return fail(`${command}: option '--${typed}' is ambiguous\n`)
      const kind = valueOf(letters, letter)
      if (eq >= 0 && kind === 'none') return fail(`${command}: option '--${typed}' doesn't allow an argument\n`)
      let value = eq < 0 ? '' : arg.slice(eq + 1)
      if (eq < 0 && kind === 'required') {
        if (i + 1 >= args.length) return fail(`${command}: option '--${typed}' requires an argument\n`)
        value = args[++i] as string
      }
      values.set(letter, value)
      continue
    }
    for (let k = 1; k < arg.length; k++) {
      const letter = arg[k] as string
      const kind = valueOf(letters, letter)
      if (kind === undefined) return fail(`${command}: invalid option -- '${letter}'\n`)
      if (kind === 'none') {
        values.set(letter, '')
        continue
      }
      let value = arg.slice(k + 1)
      if (value === '' && kind === 'required') {
        if (i + 1 >= args.length) return fail(`${command}: option requires an argument -- '${letter}'\n`)
        value = args[++i] as string
      }
      values.set(letter, value)
      break
    }
  }
  return ok({ values, rest })
}
