/** Names of bundles: as stored by the host, without extension, and as file names for display. */
import { isFileName } from '#core/base/file-name.ts'

const MOST = 120

export const bareName = (name: string): string => name.replace(/\.zip$/i, '')
export const fileName = (name: string): string => `${bareName(name)}.zip`

/** Validates a name as typed; undefined if no fault is known here. */
export function nameFault(typed: string, taken: ReadonlySet<string>): string | undefined {
  const name = bareName(typed.trim())
  if (name === '') return 'Enter a name'
  if (name.length > MOST) return `At most ${MOST} characters`
  if (!isFileName(name, MOST)) return 'Letters, digits, blanks, dots, dashes and underscores only'
  return taken.has(name) ? 'This name is already in use' : undefined
}

/** Bundle name for an external file: `INC-0042 (1).zip`, a browser's second copy, becomes `INC-0042 1`. */
export function nameFor(file: string): string {
  const plain = bareName(file)
    .replace(/[^\p{L}\p{N} ._-]+/gu, '')
    .replace(/\.{2,}/g, '.')
    .replace(/^[ ._-]+/, '')
  // Cut by characters, so that none is split.
  const name = [...plain]
    .slice(0, MOST / 2)
    .join('')
    .replace(/[ .]+$/, '')
  return name === '' ? 'bundle' : name
}

/** First free name: `INC-0042` -> `INC-0042-2` -> `INC-0042-3`. */
export function nextFreeName(name: string, taken: ReadonlySet<string> = new Set()): string {
  const stem = bareName(name)
  const [, plain = stem, n] = /^(.*?)-(\d{1,3})$/.exec(stem) ?? []
  const from = Number(n ?? 1)
  for (let i = from + 1; ; i++) {
    const next = `${plain.slice(0, MOST - 8)}-${i}`
    if (!taken.has(next)) return next
  }
}
