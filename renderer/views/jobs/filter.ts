/** Tokens of the filter line, for highlighting and facets; the host evaluates it. */
export interface Token {
  readonly text: string
  readonly kind: 'space' | 'word' | 'term' | 'negated'
  /** Length of the part before the value: `rpc`, `-account:`. */
  readonly keyLength: number
}

/** Splits the line into terms with a key, plain words and the spaces between; no character is lost. */
export function tokensOf(line: string): Token[] {
  return (line.match(/\s+|\S+/g) ?? []).map((text) => {
    if (/^\s/.test(text)) return { text, kind: 'space', keyLength: 0 }
    const key = /^-?[A-Za-z]+(?=[:<>=])/.exec(text)?.[0]
    if (key === undefined) return { text, kind: text.startsWith('-') ? 'negated' : 'word', keyLength: 0 }
    const hasColon = text[key.length] === ':'
    return { text, kind: text.startsWith('-') ? 'negated' : 'term', keyLength: key.length + (hasColon ? 1 : 0) }
  })
}

/** Formats a term, e.g. `account:aero`; terms end at a blank, so blanks in a value become `*`. */
export function termOf(key: string, value: string): string {
  if (key === 'rule' && value === 'bound') return 'is:bound' // a state, not the name of a rule
  return `${key}:${value.replace(/\s+/g, '*')}`
}

export const hasTerm = (line: string, term: string): boolean => tokensOf(line).some((t) => t.text === term)

/** Removes the term from the line, or appends it. */
export function toggleTerm(line: string, term: string): string {
  const words = tokensOf(line)
    .filter((t) => t.kind !== 'space')
    .map((t) => t.text)
  return (words.includes(term) ? words.filter((w) => w !== term) : [...words, term]).join(' ')
}
