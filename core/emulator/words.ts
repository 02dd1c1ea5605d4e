/**
 * The part of a shell's grammar that an operator and Sluice's own commands use: words with quotes, braces and globs,
 * joined by `;`, `&&` or `||`, piped into other commands, with redirections.
 *
 * What it does not know (expansions, jobs, subshells, assignments, keywords) is refused by name rather than misread.
 */
import { fail, ok, type Result } from '../base/result.ts'
import { expandBraces, hasGlob, type MaskedText } from './glob.ts'

/** `2>/dev/null`, `2>&1`, `> /path`, `>> /path`, `< /path`. */
export interface Redirection {
  readonly fd: 0 | 1 | 2
  /** `&1` and `&2` are the other stream; everything else is a path. */
  readonly to: string
}

export interface ShellCommand {
  readonly words: readonly string[]
  /** In the order in which they were written, which is the order in which they take effect. */
  readonly redirections?: readonly Redirection[]
}

export interface ShellStep extends ShellCommand {
  /** When to run it, given the exit code of the step before: always, on success, on failure. */
  readonly after: ';' | '&&' | '||'
  /** Commands that its output is piped through, in order. */
  readonly pipe?: readonly ShellCommand[]
}

/** Paths that a pattern names, as the shell that runs the line sees them. */
export type PathGlob = (pattern: string) => readonly string[]

const UNSUPPORTED = (what: string): string => `"${what}" is not supported by this emulated shell`
const KEYWORDS = new Set(
  'if then else elif fi case esac for select while until do done in function time coproc { } ! [[ ]]'.split(' '),
)

interface OpenCommand {
  words: string[]
  redirections: Redirection[]
}

interface OpenStep {
  after: ShellStep['after']
  commands: OpenCommand[]
}

class LineParser {
  readonly #line: string
  readonly #glob: PathGlob
  readonly #steps: OpenStep[] = []
  #at = 0
  #text = ''
  #quoted: boolean[] = []
  #hasWord = false
  /** A redirection whose target is still to come. */
  #pending: Redirection['fd'] | undefined

  constructor(line: string, glob: PathGlob) {
    this.#line = line
    this.#glob = glob
    this.#begin(';')
  }

  #begin(after: ShellStep['after']): void {
    this.#steps.push({ after, commands: [{ words: [], redirections: [] }] })
  }

  get #step(): OpenStep {
    return this.#steps.at(-1) as OpenStep
  }

  get #command(): OpenCommand {
    return this.#step.commands.at(-1) as OpenCommand
  }

  #take(c: string, isQuoted: boolean): void {
    this.#text += c
    for (let i = 0; i < c.length; i++) this.#quoted.push(isQuoted)
    this.#hasWord = true
  }

  #isEmpty({ words, redirections }: OpenCommand): boolean {
    return words.length === 0 && redirections.length === 0
  }

  /** Ends the word that is being read; an error when it cannot stand where it stands. */
  #endWord(): string | undefined {
    if (!this.#hasWord) return undefined
    const word = { text: this.#text, quoted: this.#quoted }
    this.#text = ''
    this.#quoted = []
    this.#hasWord = false
    const isPlain = !word.quoted.includes(true)
    if (this.#pending !== undefined) {
      this.#command.redirections.push({ fd: this.#pending, to: word.text })
      this.#pending = undefined
      return undefined
    }
    if (isPlain && this.#command.words.length === 0) {
      if (KEYWORDS.has(word.text)) return UNSUPPORTED(word.text)
      if (/^[A-Za-z_]\w*\+?=/.test(word.text)) return UNSUPPORTED(`${word.text.replace(/=.*$/s, '=')}...`)
    }
    this.#command.words.push(...this.#expand(word))
    return undefined
  }

  /** Words that a word stands for: braces, then the paths that a glob names. */
  #expand(word: MaskedText): string[] {
    if (!/[{*?[]/.test(word.text)) return [word.text]
    return expandBraces(word, true).flatMap((w) => {
      // An alternative of nothing is no word, unless it was written with quotes.
      if (w.text === '' && word.quoted?.includes(true) !== true) return []
      const pattern = w.text
        .split('')
        .map((c, i) => (w.quoted?.[i] === true && /[*?[\]\\]/.test(c) ? `\\${c}` : c))
        .join('')
      if (!w.text.startsWith('/') || !hasGlob(pattern.replace(/\\./gs, ''))) return [w.text]
      const paths = this.#glob(pattern)
      return paths.length > 0 ? paths : [w.text]
    })
  }

  /** Whether both sides of every operator so far are there. */
  #isWhole(): boolean {
    const { after, commands } = this.#step
    return !this.#isEmpty(this.#command) || (after === ';' && commands.length === 1)
  }

  #quotedText(): string | undefined {
    const quote = this.#line[this.#at] as string
    this.#take('', true)
    for (this.#at++; this.#line[this.#at] !== quote; this.#at++) {
      if (this.#at >= this.#line.length) return 'Unterminated quoted string'
      let c = this.#line[this.#at] as string
      if (quote === '"') {
        if (c === '$' || c === '`') return 'expansions are not supported by this emulated shell'
        if (c === '\\' && /["\\$`]/.test(this.#line[this.#at + 1] ?? '')) c = this.#line[++this.#at] as string
      }
      this.#take(c, true)
    }
    return undefined
  }

  /** `>`, `>>`, `<`, `>&N`, with the number before it. */
  #redirection(): string | undefined {
    const c = this.#line[this.#at] as string
    let fd: number = c === '<' ? 0 : 1
    if (/^\d+$/.test(this.#text) && !this.#quoted.includes(true)) {
      fd = Number(this.#text)
      this.#text = ''
      this.#quoted = []
      this.#hasWord = false
    }
    const wrong = this.#endWord()
    if (wrong !== undefined) return wrong
    const next = this.#line[this.#at + 1] ?? ''
    if ((c === '<' && '<>&('.includes(next) && next !== '') || (c === '>' && '|('.includes(next) && next !== '')) {
      return UNSUPPORTED(c + next)
    }
    if (fd > 2 || (c === '<' && fd !== 0) || (c === '>' && fd === 0)) return UNSUPPORTED(`${fd}${c}`)
    if (this.#pending !== undefined) return `"${c}" unexpected`
    if (c === '>' && next === '>') this.#at++
    if (c === '>' && next === '&') {
      const to = /^&([12])(?![\w./-])/.exec(this.#line.slice(this.#at + 1))
      if (!to) return UNSUPPORTED('>&')
      this.#command.redirections.push({ fd: fd as 1 | 2, to: `&${to[1]}` })
      this.#at += 2
      return undefined
    }
    this.#pending = fd as Redirection['fd']
    return undefined
  }

  /** `;`, newline, `&&`, `||`, `|`. */
  #operator(): string | undefined {
    const c = this.#line[this.#at] as string
    const isDouble = (c === '&' || c === '|') && this.#line[this.#at + 1] === c
    const name = c === '\n' ? 'newline' : isDouble ? c + c : c
    if (c === '&' && !isDouble) return UNSUPPORTED('&')
    if (c === '|' && this.#line[this.#at + 1] === '&') return UNSUPPORTED('|&')
    const wrong = this.#endWord()
    if (wrong !== undefined) return wrong
    if (this.#pending !== undefined) return `"${name}" unexpected`
    const isEnd = c === ';' || c === '\n'
    if (isEnd ? !this.#isWhole() : this.#isEmpty(this.#command)) return `"${name}" unexpected`
    if (isDouble) this.#at++
    if (c === '|' && !isDouble) this.#step.commands.push({ words: [], redirections: [] })
    else this.#begin(isEnd ? ';' : c === '&' ? '&&' : '||')
    return undefined
  }

  #character(): string | undefined {
    const c = this.#line[this.#at] as string
    if (c === ' ' || c === '\t') return this.#endWord()
    if (c === "'" || c === '"') return this.#quotedText()
    if (c === '\\') {
      this.#take(this.#line[++this.#at] ?? '', true)
      return undefined
    }
    if (c === '<' || c === '>') return this.#redirection()
    if (';\n&|'.includes(c)) return this.#operator()
    if ('$`()'.includes(c)) return UNSUPPORTED(c)
    if (c === '~' && !this.#hasWord) return UNSUPPORTED(c)
    if (c === '#' && !this.#hasWord) {
      const end = this.#line.indexOf('\n', this.#at)
      this.#at = (end < 0 ? this.#line.length : end) - 1
      return undefined
    }
    this.#take(c, false)
    return undefined
  }

  parse(): Result<ShellStep[], string> {
    for (; this.#at < this.#line.length; this.#at++) {
      const wrong = this.#character()
      if (wrong !== undefined) return fail(wrong)
    }
    const wrong = this.#endWord()
    if (wrong !== undefined) return fail(wrong)
    if (this.#pending !== undefined || !this.#isWhole()) return fail('end of file unexpected')
    const close = ({ words, redirections }: OpenCommand): ShellCommand =>
      redirections.length > 0 ? { words, redirections } : { words }
    return ok(
      this.#steps
        .filter((s) => !this.#isEmpty(s.commands[0] as OpenCommand))
        .map(({ after, commands: [first, ...pipe] }) => ({
          ...close(first as OpenCommand),
          after,
          ...(pipe.length > 0 ? { pipe: pipe.map(close) } : {}),
        })),
    )
  }
}

/**
 * Splits a command line into steps; the error is what the shell would print.
 *
 * @param glob  paths that an unquoted absolute pattern names; without it, and where it finds none, the word stays.
 */
export function parseCommandLine(line: string, glob: PathGlob = () => []): Result<ShellStep[], string> {
  return new LineParser(line, glob).parse()
}
