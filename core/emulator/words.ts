/**
 * The part of a POSIX shell's grammar that Sluice's own commands use: words with quotes, joined by `;`, `&&` or `||`.
 * Expansions, pipes and redirections are refused by name rather than misread.
 */
import { fail, ok, type Result } from '../base/result.ts'

export interface ShellStep {
  readonly words: readonly string[]
  /** When to run it, given the exit code of the step before: always, on success, on failure. */
  readonly after: ';' | '&&' | '||'
}

/** Splits a command line into steps; the error is what a shell would print. */
export function parseCommandLine(line: string): Result<ShellStep[], string> {
  const steps: { words: string[]; after: ShellStep['after'] }[] = [{ words: [], after: ';' }]
  /** Whether both sides of every `&&` and `||` so far are there; a blank line or a `;` too many is nothing. */
  const isWhole = (): boolean => steps.at(-1)?.after === ';' || (steps.at(-1)?.words.length ?? 0) > 0
  let word: string | undefined
  const endWord = (): void => {
    if (word !== undefined) steps.at(-1)?.words.push(word)
    word = undefined
  }
  for (let i = 0; i < line.length; i++) {
    const c = line[i] as string
    if (c === ' ' || c === '\t') endWord()
    else if (c === "'") {
      const end = line.indexOf("'", i + 1)
      if (end < 0) return fail('Unterminated quoted string')
      word = (word ?? '') + line.slice(i + 1, end)
      i = end
    } else if (c === '"') {
      word ??= ''
      for (i++; line[i] !== '"'; i++) {
        if (i >= line.length) return fail('Unterminated quoted string')
        if (line[i] === '$' || line[i] === '`') return fail('expansions are not supported by this emulated shell')
        if (line[i] === '\\' && /["\\$`]/.test(line[i + 1] ?? '')) i++
        word += line[i]
      }
    } else if (c === '\\') {
      word = (word ?? '') + (line[++i] ?? '')
    } else if (c === ';' || c === '\n') {
      endWord()
      if (!isWhole()) return fail(`"${c === ';' ? c : 'newline'}" unexpected`)
      steps.push({ words: [], after: ';' })
    } else if ((c === '&' || c === '|') && line[i + 1] === c) {
      endWord()
      if (steps.at(-1)?.words.length === 0) return fail(`"${c}${c}" unexpected`)
      i++
      steps.push({ words: [], after: c === '&' ? '&&' : '||' })
    } else if ('&|<>$`()'.includes(c)) return fail(`"${c}" is not supported by this emulated shell`)
    else word = (word ?? '') + c
  }
  endWord()
  if (!isWhole()) return fail('end of file unexpected')
  return ok(steps.filter((s) => s.words.length > 0))
}
