/** Pathname patterns of glob(3) and the shell: braces, `*`, `?` and `[...]`. */

/** A word, and which of its characters are quoted and so literal. */
export interface MaskedText {
  readonly text: string
  /** True for each quoted character, by position; undefined: none are quoted. */
  readonly quoted?: readonly boolean[]
}

const sliceOf = ({ text, quoted }: MaskedText, from: number, to?: number): MaskedText => ({
  text: text.slice(from, to),
  ...(quoted ? { quoted: quoted.slice(from, to) } : {}),
})

function join(parts: readonly MaskedText[]): MaskedText {
  const text = parts.map((p) => p.text).join('')
  if (!parts.some((p) => p.quoted)) return { text }
  return { text, quoted: parts.flatMap((p) => p.quoted ?? Array.from({ length: p.text.length }, () => false)) }
}

/** Positions of a brace group's separators: its `{`, the commas between its alternatives, its `}`. */
function groupAt(word: MaskedText, open: number): number[] | undefined {
  const marks = [open]
  let depth = 0
  for (let i = open; i < word.text.length; i++) {
    if (word.quoted?.[i] === true) continue
    const c = word.text[i]
    if (c === '{') depth++
    else if (c === ',' && depth === 1) marks.push(i)
    else if (c === '}' && --depth === 0) return [...marks, i]
  }
  return undefined
}

/**
 * Expands `{a,b}` to all alternatives, in order; groups may be nested. Unbalanced braces are literal.
 *
 * @param needsComma  true as in a shell, where `{a}` stays; glob(3) expands it to `a`.
 */
export function expandBraces(word: MaskedText, needsComma = false): MaskedText[] {
  for (let i = 0; i < word.text.length; i++) {
    if (word.text[i] !== '{' || word.quoted?.[i] === true) continue
    const marks = groupAt(word, i)
    if (!marks || (needsComma && marks.length === 2)) continue
    const before = sliceOf(word, 0, i)
    const after = sliceOf(word, (marks.at(-1) as number) + 1)
    return marks.slice(1).flatMap((to, k) => {
      const alternative = sliceOf(word, (marks[k] as number) + 1, to)
      return expandBraces(join([alternative, after]), needsComma).map((rest) => join([before, rest]))
    })
  }
  return [word]
}

const isSpecial = (c: string): boolean => '\\^$.*+?()[]{}|/'.includes(c)
const literal = (c: string): string => (isSpecial(c) ? `\\${c}` : c)

/** True if a path component contains `*`, `?` or `[`. */
export const hasGlob = (part: string): boolean => /[*?[]/.test(part)

/** Source of the character class that starts at `[`, and its end; undefined if unterminated. */
function classAt(part: string, open: number): { source: string; end: number } | undefined {
  let i = open + 1
  const isNegated = part[i] === '!' || part[i] === '^'
  if (isNegated) i++
  // A leading `]` is a literal member.
  const end = part.indexOf(']', i + 1)
  if (end < 0) return undefined
  const inside = part.slice(i, end).replace(/[\\\]^[]/g, '\\$&')
  return { source: `[${isNegated ? '^' : ''}${inside}]`, end }
}

/** Pattern for one path component. A backslash makes the next character literal, as is an unbalanced `[`. */
export function globPattern(part: string): RegExp {
  let source = ''
  for (let i = 0; i < part.length; i++) {
    const c = part[i] as string
    if (c === '*') source += '.*'
    else if (c === '?') source += '.'
    else if (c === '\\' && i + 1 < part.length) source += literal(part[++i] as string)
    else if (c === '[') {
      const found = classAt(part, i)
      source += found ? found.source : '\\['
      i = found?.end ?? i
    } else source += literal(c)
  }
  try {
    return new RegExp(`^${source}$`, 's')
  } catch {
    return /^(?!)/ // a reversed range matches nothing
  }
}
