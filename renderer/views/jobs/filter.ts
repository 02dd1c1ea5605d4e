/** The filter line as the box paints it and as the facets edit it; what it means is the host's business. */
export interface Token {
  readonly text: string
  readonly kind: 'space' | 'word' | 'term' | 'negated'
  /** Length of the part before the value: `rpc`, `-account:`. */
  readonly keyLength: number
}

/** Every character of the line, in pieces: terms with a key, plain words, and the space between. */
export function tokensOf(line: string): Token[] {
  return (line.match(/\s+|\S+/g) ?? []).map((text) => {
    if (/^\s/.test(text)) return { text, kind: 'space', keyLength: 0 }
    const key = /^-?[A-Za-z]+(?=[:<>=])/.exec(text)?.[0]
    if (key === undefined) return { text, kind: text.startsWith('-') ? 'negated' : 'word', keyLength: 0 }
    const hasColon = text[key.length] === ':'
    return { text, kind: text.startsWith('-') ? 'negated' : 'term', keyLength: key.length + (hasColon ? 1 : 0) }
  })
}

/** `account:aero`; terms end at a blank, so a blank in a value is asked for as `*`. */
export function termOf(key: string, value: string): string {
  if (key === 'rule' && value === 'bound') return 'is:bound' // a state, not the name of a rule
  return `${key}:${value.replace(/\s+/g, '*')}`
}

export const hasTerm = (line: string, term: string): boolean => tokensOf(line).some((t) => t.text === term)

/** The line with the term taken out, or with it at the end. */
export function toggleTerm(line: string, term: string): string {
  const words = tokensOf(line)
    .filter((t) => t.kind !== 'space')
    .map((t) => t.text)
  return (words.includes(term) ? words.filter((w) => w !== term) : [...words, term]).join(' ')
}
