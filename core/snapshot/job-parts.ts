/**
 * Splits a job id into parts and separators. Sites choose the format (`%j.%e.%u`, `%e.%u.%h`); this module only determines part
 * boundaries, the same way in an id and in the pattern of a rule.
 */

/**
 * Separators and their replacements: parts of pseudonyms contain no underscore and no dot. All other characters belong to a
 * part.
 */
const SEPARATORS: ReadonlyMap<string, string> = new Map([
  ['.', '.'],
  [':', '_'],
  ['@', '__'],
])

export interface JobParts {
  readonly parts: readonly string[]
  /** Separator after each part except the last. */
  readonly separators: readonly string[]
}

export const pseudonymSeparator = (separator: string): string => SEPARATORS.get(separator) ?? '.'

/**
 * @param isName  true if a text with separators inside is one part: `train.py` is a program.
 * @complexity    O(n * k^2) for ids of k separators; k is small, and ranges longer than four parts are not looked up.
 */
export function splitJob(id: string, isName: (text: string) => boolean): JobParts {
  const atoms: string[] = []
  const between: string[] = []
  let from = 0
  for (let i = 0; i < id.length; i++) {
    if (!SEPARATORS.has(id[i] as string)) continue
    atoms.push(id.slice(from, i))
    between.push(id[i] as string)
    from = i + 1
  }
  atoms.push(id.slice(from))
  if (atoms.length < 2) return { parts: atoms, separators: [] }
  const parts: string[] = []
  const separators: string[] = []
  for (let i = 0; i < atoms.length;) {
    let next = i + 1
    let part = atoms[i] as string
    let longer = part
    for (let k = i + 1; k < Math.min(atoms.length, i + 5); k++) {
      longer += (between[k - 1] as string) + (atoms[k] as string)
      // The whole id is not one of its parts.
      if (isName(longer) && !(i === 0 && k === atoms.length - 1)) {
        part = longer
        next = k + 1
      }
    }
    parts.push(part)
    if (next < atoms.length) separators.push(between[next - 1] as string)
    i = next
  }
  return { parts, separators }
}
