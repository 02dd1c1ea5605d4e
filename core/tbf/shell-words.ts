/** Splits a pasted command line into words: removes quotes and tolerates text that a shell would reject. */

export interface ShellWord {
  readonly text: string
  /** Offset in the line. */
  readonly at: number
  /** True if any of it was quoted. */
  readonly isQuoted: boolean
}

/** True for redirections and pipes between blanks. */
export const isOperator = (w: ShellWord): boolean =>
  !w.isQuoted && ['>', '>>', '|', '<<<', ';', '&&', '||', '2>&1'].includes(w.text)

/** Splits a line; `isOpen` if a quote is unterminated, which then extends to the end. */
export function splitWords(line: string): { words: ShellWord[]; isOpen: boolean } {
  const words: ShellWord[] = []
  let isOpen = false
  let i = 0
  const isSpace = (c: string | undefined): boolean => c === ' ' || c === '\t' || c === '\n'
  while (i < line.length) {
    if (isSpace(line[i])) {
      i++
      continue
    }
    const at = i
    let text = ''
    let isQuoted = false
    while (i < line.length && !isSpace(line[i])) {
      const c = line[i] as string
      if (c === "'" || c === '"') {
        isQuoted = true
        let end = i + 1
        for (; end < line.length && line[end] !== c; end++) {
          if (c === '"' && line[end] === '\\' && '"\\$`'.includes(line[end + 1] ?? ' ')) end++
          text += line[end] ?? ''
        }
        if (end >= line.length) isOpen = true
        i = end + 1
      } else if (c === '\\' && i + 1 < line.length) {
        text += line[i + 1] as string
        i += 2
      } else {
        text += c
        i++
      }
    }
    words.push({ text, at, isQuoted })
  }
  return { words, isOpen }
}
