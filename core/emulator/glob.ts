/** Names as lctl takes them: braces, `*`, `?` and `[...]`, expanded by the tool itself. */

/** All texts that a word with `{a,b}` stands for, in order. */
export function expandBraces(word: string): string[] {
  const m = /^([^{]*)\{([^{}]*)\}(.*)$/s.exec(word)
  if (!m) return [word]
  return (m[2] as string).split(',').flatMap((part) => expandBraces(`${m[1]}${part}${m[3]}`))
}

export const hasGlob = (word: string): boolean => /[*?[{]/.test(word)

/** A pattern for one dotted name; `*` and `?` stay within one part of it. */
export function globPattern(word: string): RegExp {
  const source = word
    .replace(/[.+^$()|\\]/g, '\\$&')
    .replaceAll('*', '[^.]*')
    .replaceAll('?', '[^.]')
    .replaceAll('[!', '[^')
  try {
    return new RegExp(`^${source}$`, 's')
  } catch {
    return /^(?!)/ // an unbalanced bracket matches nothing
  }
}
