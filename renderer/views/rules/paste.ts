/** Parser of text pasted into the view: an lctl line, or the value alone. */
import type { ServiceName } from '#core/api/rule-edits.ts'

/** Longest draft that the host reads, characters. */
const TEXT_MAX = 8192

export interface PastedRule {
  readonly text: string
  /** Service that the line names; null if none. */
  readonly service: ServiceName | null
  /** Number of further pasted lines. */
  readonly more: number
}

/** Returns the first line that can be a rule; null if there is none. */
export function readPaste(pasted: string): PastedRule | null {
  const lines = pasted
    .split(/\r\n|\r|\n/)
    .map((line) => line.replace(/^\s*[$#>]\s+/, '').trim()) // the prompt of a shell
    .filter((line) => line !== '' && !line.startsWith('#'))
  const at = lines.findIndex((line) =>
    /\blctl\b|nrs_tbf_rule|^["']?(?:(?:reg|hp)\s+)?(?:start|change|stop)\b/.test(line),
  )
  const text = lines[at]
  if (text === undefined || text.length > TEXT_MAX) return null
  const named = /\bmds\.MDS\.(mdt|mdt_readpage)\b/.exec(text)?.[1]
  const service =
    named === undefined ? (/\bost\.OSS\.ost_io\b/.test(text) ? 'ost_io' : null) : (named as 'mdt' | 'mdt_readpage')
  return { text, service, more: lines.length - 1 }
}
