/** Labels of a bundle: its parts, treatments of fields, kinds of names, ranges and hashes. */
import type { BundleRow, ExportPreview, MemberGroup } from '#core/api/incidents.ts'
import { formatClock, formatDate, formatSpan } from '../../format/units.ts'

export const groupLabels: Readonly<Record<MemberGroup, string>> = {
  notebook: 'Notebook',
  history: 'Samples',
  csv: 'CSV',
  rules: 'Rules',
  audit: 'Audit',
  readings: 'Raw readings',
  charts: 'Charts',
}
export const treatmentLabels: Readonly<Record<ExportPreview['fields'][number]['how'], string>> = {
  kept: 'unchanged',
  pseudonym: 'pseudonym',
  'names replaced': 'names replaced',
}

/** Order of kinds of names: the most familiar first. */
const KINDS = ['user', 'users', 'job', 'jobs', 'host', 'hosts', 'account', 'accounts']
const rank = (kind: string): number => {
  const at = KINDS.indexOf(kind)
  return at < 0 ? KINDS.length : at
}
/** Three names with their pseudonyms, from as many kinds as possible. */
export function pairsOf(names: ExportPreview['names']): readonly { kind: string; from: string; to: string }[] {
  const kinds = names.filter(({ samples }) => samples.length > 0).sort((a, b) => rank(a.kind) - rank(b.kind))
  const most = Math.max(0, ...kinds.map(({ samples }) => samples.length))
  const pairs: { kind: string; from: string; to: string }[] = []
  for (let turn = 0; turn < most && pairs.length < 3; turn++)
    for (const { kind, samples } of kinds) {
      const sample = samples[turn]
      if (sample !== undefined && pairs.length < 3) pairs.push({ kind, ...sample })
    }
  return pairs
}

/** Formats a range as `19 Nov 14:27, 10 min`. */
export const bundleRangeText = ({ fromMs, toMs }: Pick<BundleRow, 'fromMs' | 'toMs'>): string =>
  `${formatDate(fromMs).slice(4)} ${formatClock(fromMs, false)}, ${formatSpan(toMs - fromMs)}`
/** Short form without date, rounded to the minute. */
export const rangeShort = ({ fromMs, toMs }: Pick<BundleRow, 'fromMs' | 'toMs'>): string => {
  const durationMs = toMs - fromMs
  return `${formatClock(fromMs, false)}, ${formatSpan(durationMs < 60_000 ? durationMs : Math.round(durationMs / 60_000) * 60_000)}`
}

/** Kind of names as a heading. */
export const kindLabel = (kind: string): string => kind.charAt(0).toUpperCase() + kind.slice(1)

/** `9c417be0\u202622d7a1f5`: both ends of the hash, for comparison by eye. */
export const shortHash = (hash: string): string =>
  hash.length <= 20 ? hash : `${hash.slice(0, 8)}\u2026${hash.slice(-8)}`
