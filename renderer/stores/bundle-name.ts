/** Names of bundles: as the host keeps them, without an ending, and as the file that a person sees. */
import { isFileName } from '#core/base/file-name.ts'

const MOST = 120

export const bareName = (name: string): string => name.replace(/\.zip$/i, '')
export const fileName = (name: string): string => `${bareName(name)}.zip`

/** What is wrong with a name as it is typed; undefined = nothing that is known here. */
export function nameFault(typed: string, taken: ReadonlySet<string>): string | undefined {
  const name = bareName(typed.trim())
  if (name === '') return 'A name is needed'
  if (name.length > MOST) return `At most ${MOST} characters`
  if (!isFileName(name, MOST)) return 'Letters, digits, blanks, dots, dashes and underscores only'
  return taken.has(name) ? 'There is one of this name' : undefined
}

/** Name for a file from elsewhere: `INC-0042 (1).zip`, as browsers name a second copy, becomes `INC-0042 1`. */
export function nameFor(file: string): string {
  const plain = bareName(file)
    .replace(/[^\p{L}\p{N} ._-]+/gu, '')
    .replace(/\.{2,}/g, '.')
    .replace(/^[ ._-]+/, '')
  // By characters, so that none is cut in half.
  const name = [...plain]
    .slice(0, MOST / 2)
    .join('')
    .replace(/[ .]+$/, '')
  return name === '' ? 'bundle' : name
}

/** `INC-0042` -> `INC-0042-2` -> `INC-0042-3`, the first that is free. */
export function otherName(name: string, taken: ReadonlySet<string> = new Set()): string {
  const stem = bareName(name)
  const [, plain = stem, n] = /^(.*?)-(\d{1,3})$/.exec(stem) ?? []
  const from = Number(n ?? 1)
  for (let i = from + 1; ; i++) {
    const next = `${plain.slice(0, MOST - 8)}-${i}`
    if (!taken.has(next)) return next
  }
}
