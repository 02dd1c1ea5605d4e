/**
 * Command lines as the console itself writes them, taken apart: words that are plain or in single quotes, parted by one blank, and
 * simple commands parted by `; `. Everything else that a shell would do something about is not read at all: expansions, double
 * quotes, globs, redirections, pipes, jobs, comments, newlines.
 *
 * Text in single quotes is data to every POSIX shell, whatever is in it. Control characters and NUL are refused even there.
 */

export interface Word {
  /** Without its quotes. */
  readonly text: string
  /** Where it stands in the line. */
  readonly from: number
  readonly to: number
}

/** Longest line, bytes: Linux takes 128 KiB in one word. */
const LINE_BYTES = 120 << 10

/** A piece of a word: plain characters, quoted text, or a quote outside of quotes. As `shellQuote` writes them. */
const PIECE = /[A-Za-z0-9_@%+=:,./-]+|'[^'\x00-\x1f\x7f]*'|\\'/y

function wordAt(line: string, from: number): Word | undefined {
  let text = ''
  let to = from
  for (;;) {
    PIECE.lastIndex = to
    const piece = PIECE.exec(line)?.[0]
    if (piece === undefined) break
    to += piece.length
    text += piece.startsWith("'") ? piece.slice(1, -1) : piece === "\\'" ? "'" : piece
  }
  return to === from ? undefined : { text, from, to }
}

/**
 * The simple commands of a line, each at least one word.
 *
 * @returns  undefined for a line that holds anything else, or that is too long.
 */
export function readLine(line: string): readonly (readonly Word[])[] | undefined {
  if (line.length > LINE_BYTES) return undefined
  const commands: Word[][] = [[]]
  for (let at = 0; ;) {
    const word = wordAt(line, at)
    if (!word) return undefined
    commands.at(-1)?.push(word)
    if (word.to === line.length) return commands
    if (line[word.to] === ' ') at = word.to + 1
    else if (line.startsWith('; ', word.to)) {
      commands.push([])
      at = word.to + 2
    } else return undefined
  }
}
