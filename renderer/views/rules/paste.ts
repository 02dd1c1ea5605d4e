/** What is pasted into the view: a line of lctl, or a value as it stands in somebody's notes. */
import type { ServiceName } from '#core/api/rule-edits.ts'

/** Most that the host reads of one draft. */
const TEXT_MAX = 8192

export interface PastedRule {
  readonly text: string
  /** The service that the line names; null when it names none. */
  readonly service: ServiceName | null
  /** Further lines that were pasted with it. */
  readonly more: number
}

/** The first line that can be a rule; null when there is none. */
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
