/**
 * A job id as parts and what stands between them. Sites choose the shape (`%j.%e.%u`, `%e.%u.%h`); what is told here is only where parts
 * may begin and end, the same way in an id and in the pattern of a rule.
 */

/** What stands for a separator: parts of stand-ins have no underscore and no dot. Everything else belongs to a part. */
const SEPARATORS: ReadonlyMap<string, string> = new Map([
  ['.', '.'],
  [':', '_'],
  ['@', '__'],
])

export interface JobParts {
  readonly parts: readonly string[]
  /** What follows each part but the last. */
  readonly separators: readonly string[]
}

export const standInOfSeparator = (separator: string): string => SEPARATORS.get(separator) ?? '.'

/**
 * @param isName  whether a text with separators inside is one part: `train.py` is a program.
 * @complexity    O(n * k^2) for ids of k separators; k is small, and stretches longer than four parts are not looked up.
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
      // All of an id is no part of it.
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
