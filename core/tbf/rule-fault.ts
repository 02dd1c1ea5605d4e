/** Fault of a value that cannot be written: the server's errno, the place, and a message for the user. */
import { fail } from '../base/result.ts'
import type { Errno } from '../lustre/errno.ts'

/** Part of a command that a fault lies in. */
export type CommandPart = 'queue' | 'verb' | 'name' | 'conditions' | 'rate' | 'rank' | 'realtime'

export interface RuleFault {
  readonly errno: Errno
  /** Offset in the input text, and length of the marked text; 0 = something is missing there. */
  readonly at: number
  readonly length: number
  /** Message, for example `rate 0 is below 1`. */
  readonly why: string
  /** Absent if the text is not a command at all. */
  readonly part?: CommandPart
  /** Accepted and mishandled by servers; Sluice does not send it. */
  readonly isMishandled?: true
}

export const fault = (
  at: number,
  length: number,
  why: string,
  errno: Errno = 'EINVAL',
): { readonly ok: false; readonly error: RuleFault } => fail({ errno, at, length, why })

/** Moves a fault found in a piece of a text to the offsets of the whole text. */
export const moved = (f: RuleFault, by: number, part?: CommandPart): RuleFault => ({
  ...f,
  at: f.at + by,
  ...(part === undefined || f.part !== undefined ? {} : { part }),
})

/** Text as quoted in a message: unprintable characters escaped, long text cut. */
export function shown(text: string): string {
  const cut = text.length > 40 ? `${text.slice(0, 40)}...` : text
  const plain = cut.replace(/[^\x21-\x7e]/g, (c) =>
    c === ' ' ? c : c === '\n' ? '\\n' : c === '\t' ? '\\t' : `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return plain === '' || plain.startsWith(' ') || plain.endsWith(' ') ? `"${plain}"` : plain
}

/** Edit distance of two words, counting two swapped neighbors as one edit. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let k = 1; k <= b.length; k++) {
      const isSame = a[i - 1] === b[k - 1]
      let least = Math.min(
        (last[k] as number) + 1,
        (row[k - 1] as number) + 1,
        (last[k - 1] as number) + (isSame ? 0 : 1),
      )
      if (i > 1 && k > 1 && a[i - 1] === b[k - 2] && a[i - 2] === b[k - 1])
        least = Math.min(least, (before[k - 2] as number) + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return last[b.length] as number
}

/** `, nearest is X` for the candidate that was probably meant; '' if none is close. */
export function nearest(word: string, candidates: readonly string[]): string {
  if (word.length > 40) return ''
  const typed = word.toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const c of candidates) {
    const d = distance(typed, c)
    if (d < least) {
      least = d
      best = c
    }
  }
  return best === undefined ? '' : `, nearest is ${best}`
}
