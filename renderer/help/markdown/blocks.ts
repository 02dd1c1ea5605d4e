/**
 * Parser for the subset of Markdown used by the handbook in docs/. HTML is neither accepted nor produced: unknown
 * syntax stays text.
 */
import { inlineOf, type Inline } from './inline.ts'

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly id: string; readonly text: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly text: readonly Inline[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'table'; readonly head: readonly Cell[]; readonly rows: readonly (readonly Cell[])[] }

export type Cell = readonly Inline[]

const FENCE = /^```/
const HEADING = /^(#{1,4}) +(.+)$/
const ITEM = /^(?:[-*]|(\d+)\.) +(.*)$/
const IMAGE = /^!\[[^\]]*\]\([^)]*\)$/
const INDENTED = /^ {4}/
const RULE = /^\|(?: *:?-+:? *\|)+$/

/** Anchor of a heading, as on public code hosts. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replace(/ /g, '-')

/** Splits a table row into cells; a bar in a cell is written `\|`. */
function cellsOf(line: string): Cell[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => inlineOf(cell.trim().replaceAll('\\|', '|')))
}

class Lines {
  readonly #lines: readonly string[]
  #at = 0
  constructor(text: string) {
    this.#lines = text.split(/\r?\n/)
  }
  get now(): string | undefined {
    return this.#lines[this.#at]
  }
  get next(): string | undefined {
    return this.#lines[this.#at + 1]
  }
  take(): string {
    return this.#lines[this.#at++] ?? ''
  }
  /** Takes lines while the predicate is true. */
  takeWhile(isWanted: (line: string) => boolean): string[] {
    const taken: string[] = []
    while (this.now !== undefined && isWanted(this.now)) taken.push(this.take())
    return taken
  }
}

const startsBlock = (line: string): boolean =>
  line.trim() === '' || FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || line.startsWith('|')

function code(lines: Lines): Block {
  lines.take()
  const text = lines.takeWhile((l) => !FENCE.test(l)).join('\n')
  lines.take()
  return { kind: 'code', text }
}

function list(lines: Lines): Block {
  const isOrdered = ITEM.exec(lines.now ?? '')?.[1] !== undefined
  const items: string[] = []
  for (;;) {
    const item = ITEM.exec(lines.now ?? '')
    if (item && (item[1] !== undefined) === isOrdered) {
      lines.take()
      items.push(item[2] ?? '')
    } else if (items.length > 0 && /^ {2,}\S/.test(lines.now ?? '')) {
      items.push(`${items.pop() ?? ''} ${lines.take().trim()}`)
    } else return { kind: 'list', isOrdered, items: items.map(inlineOf) }
  }
}

function table(lines: Lines): Block {
  const head = cellsOf(lines.take())
  lines.take()
  const rows = lines.takeWhile((l) => l.startsWith('|')).map(cellsOf)
  return { kind: 'table', head, rows }
}

export function blocksOf(text: string): Block[] {
  const lines = new Lines(text)
  const blocks = [] as Block[]
  for (let line = lines.now; line !== undefined; line = lines.now) {
    const heading = HEADING.exec(line)
    if (line.trim() === '' || IMAGE.test(line.trim())) lines.take()
    else if (FENCE.test(line)) blocks.push(code(lines))
    else if (heading) {
      lines.take()
      const title = inlineOf(heading[2] ?? '')
      const id = slug(title.map((w) => w.text).join(''))
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, id, text: title })
    } else if (ITEM.test(line)) blocks.push(list(lines))
    else if (line.startsWith('|') && RULE.test(lines.next?.trim() ?? '')) blocks.push(table(lines))
    else if (INDENTED.test(line)) {
      const text = lines.takeWhile((l) => INDENTED.test(l)).map((l) => l.slice(4))
      blocks.push({ kind: 'code', text: text.join('\n') })
    } else {
      const first = lines.take()
      blocks.push({
        kind: 'paragraph',
        text: inlineOf([first, ...lines.takeWhile((l) => !startsBlock(l))].map((l) => l.trim()).join(' ')),
      })
    }
  }
  return blocks
}

/** Full text of a page, for the search. */
export function textOf(blocks: readonly Block[]): string {
  const plain = (text: readonly Inline[]): string => text.map((t) => t.text).join('')
  return blocks
    .map((b) => {
      if (b.kind === 'code') return b.text
      if (b.kind === 'list') return b.items.map(plain).join(' ')
      if (b.kind === 'table') return [b.head, ...b.rows].map((row) => row.map(plain).join(' ')).join(' ')
      return plain(b.text)
    })
    .join('\n')
}
