/**
 * Subset of the shell grammar that operators and Sluice's own commands use: words with quotes, braces and globs, joined by `;`,
 * `&&` or `||`, piped into other commands, with redirections, in subshells.
 *
 * Supported expansions are `$?` and `$$`; assignments are accepted alone, and their values cannot be read. Everything else
 * (other expansions, jobs, keywords) is refused by name rather than misread.
 */
import { fail, ok, type Result } from '../../base/result.ts'
import { expandBraces, hasGlob, type MaskedText } from '../glob.ts'

/** `2>/dev/null`, `2>&1`, `> /path`, `>> /path`, `< /path`. */
export interface Redirection {
  readonly fd: 0 | 1 | 2
  /** `&1` and `&2` are the other stream; anything else is a path. */
  readonly to: string
}

/** Placeholders in words for `$?` and `$$` until the command runs. Byte texts do not contain them. */
export const STATUS_MARK = '\u{e000}'
export const PID_MARK = '\u{e001}'

export interface ShellCommand {
  readonly words: readonly string[]
  /** Steps of a subshell; `words` is empty then. */
  readonly group?: readonly ShellStep[]
  /** Redirections in written order, in which they take effect. */
  readonly redirections?: readonly Redirection[]
}

export interface ShellStep extends ShellCommand {
  /** Condition on the exit code of the step before: always, success, failure. */
  readonly after: ';' | '&&' | '||'
  /** Commands that follow it in the pipe, in order. */
  readonly pipe?: readonly ShellCommand[]
}

/** Paths that match a pattern, as the shell that runs the line sees them. */
export type PathGlob = (pattern: string) => readonly string[]

const UNSUPPORTED = (what: string): string => `"${what}" is not supported by this emulated shell`
const KEYWORDS = new Set(
  'if then else elif fi case esac for select while until do done in function time coproc { } ! [[ ]]'.split(' '),
)

const DEPTH_MOST = 16

interface OpenCommand {
  words: string[]
  redirections: Redirection[]
  group?: readonly ShellStep[]
  /** Set if it contains an assignment. */
  assigns?: true
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
  /** Redirection that still needs its target. */
  #pending: Redirection['fd'] | undefined
  /** Number of enclosing subshells. */
  readonly #depth: number
  #isClosed = false

  constructor(line: string, glob: PathGlob, at = 0, depth = 0) {
    this.#line = line
    this.#glob = glob
    this.#at = at
    this.#depth = depth
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

  #isEmpty({ words, redirections, group, assigns }: OpenCommand): boolean {
    return words.length === 0 && redirections.length === 0 && !group && !assigns
  }

  /** Ends the current word; returns an error if it is not allowed at its position. */
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
    const command = this.#command
    if (command.group) return `word unexpected (expecting ")")`
    const isFirst = command.words.length === 0
    if (isFirst && isPlain && KEYWORDS.has(word.text)) return UNSUPPORTED(word.text)
    if (isFirst && /^[A-Za-z_]\w*=/.test(word.text) && !word.quoted.slice(0, word.text.indexOf('=')).includes(true)) {
      command.assigns = true
      return undefined
    }
    if (command.assigns) return UNSUPPORTED('an assignment before a command')
    this.#command.words.push(...this.#expand(word))
    return undefined
  }

  /** Expands a word: braces, then paths that match a glob. */
  #expand(word: MaskedText): string[] {
    if (!/[{*?[]/.test(word.text)) return [word.text]
    return expandBraces(word, true).flatMap((w) => {
      // An empty alternative is not a word, unless it was quoted.
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

  /** True if every operator so far has both operands. */
  #isComplete(): boolean {
    const { after, commands } = this.#step
    return !this.#isEmpty(this.#command) || (after === ';' && commands.length === 1)
  }

  /** Parses `$?` or `$$` at the current position, skipping the first character. */
  #expansion(): string | undefined {
    const two = this.#line.slice(this.#at, this.#at + 2)
    if (two !== '$?' && two !== '$$') return undefined
    this.#at++
    return two === '$?' ? STATUS_MARK : PID_MARK
  }

  /** `( ... )` at the position of a command. */
  #subshell(): string | undefined {
    const command = this.#command
    if (!this.#isEmpty(command) || this.#hasWord || this.#pending !== undefined) return '"(" unexpected'
    if (this.#depth >= DEPTH_MOST) return UNSUPPORTED('a subshell in so many others')
    const inner = new LineParser(this.#line, this.#glob, this.#at + 1, this.#depth + 1)
    const steps = inner.parse()
    if (!steps.ok) return steps.error
    this.#at = inner.#at
    if (!inner.#isClosed) return 'end of file unexpected (expecting ")")'
    if (steps.value.length === 0) return '")" unexpected'
    command.group = steps.value
    return undefined
  }

  #quotedText(): string | undefined {
    const quote = this.#line[this.#at] as string
    this.#take('', true)
    for (this.#at++; this.#line[this.#at] !== quote; this.#at++) {
      if (this.#at >= this.#line.length) return 'Unterminated quoted string'
      let c = this.#line[this.#at] as string
      if (quote === '"') {
        const mark = this.#expansion()
        if (mark !== undefined) {
          this.#take(mark, true)
          continue
        }
        if (c === '$' || c === '`') return 'expansions are not supported by this emulated shell'
        if (c === '\\' && /["\\$`]/.test(this.#line[this.#at + 1] ?? '')) c = this.#line[++this.#at] as string
      }
      this.#take(c, true)
    }
    return undefined
  }

  /** `>`, `>>`, `<`, `>&N`, with an optional number before it. */
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
    if (isEnd ? !this.#isComplete() : this.#isEmpty(this.#command)) return `"${name}" unexpected`
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
    const mark = this.#expansion()
    if (mark !== undefined) {
      this.#take(mark, false)
      return undefined
    }
    if (c === '(') return this.#subshell()
    if (c === ')') return '")" unexpected'
    if ('$`'.includes(c)) return UNSUPPORTED(c)
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
    if (this.#depth === 0 && (this.#line.includes(STATUS_MARK) || this.#line.includes(PID_MARK))) {
      return fail(UNSUPPORTED('a character that is not a byte'))
    }
    for (; this.#at < this.#line.length; this.#at++) {
      if (this.#depth > 0 && this.#line[this.#at] === ')') {
        this.#isClosed = true
        break
      }
      const wrong = this.#character()
      if (wrong !== undefined) return fail(wrong)
    }
    const wrong = this.#endWord()
    if (wrong !== undefined) return fail(wrong)
    if (this.#pending !== undefined || !this.#isComplete()) return fail('end of file unexpected')
    const close = ({ words, redirections, group }: OpenCommand): ShellCommand => ({
      words,
      ...(group ? { group } : {}),
      ...(redirections.length > 0 ? { redirections } : {}),
    })
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
 * Splits a command line into steps; the error is the message of the shell.
 *
 * @param glob  paths that match an unquoted absolute pattern; without it or without matches, the word stays.
 */
export function parseCommandLine(line: string, glob: PathGlob = () => []): Result<ShellStep[], string> {
  return new LineParser(line, glob).parse()
}
