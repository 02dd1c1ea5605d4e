/** Rows of channels of the stages, or of rules of a metadata server. */
import type { Expression } from '#core/api/frames.ts'
import type { MetadataFrame } from '#core/api/padll.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatPercent, NOTHING } from '../../format/units.ts'
import { comparedValue, type Compared } from '../compared.ts'
import { perSecond } from './op-unit.ts'

export interface ChannelRow {
  readonly key: string
  readonly channel: string
  readonly scope: string
  readonly operations: string
  /** Unit of its rates. */
  readonly unit: 'op/s' | 'B/s'
  readonly asked: string
  readonly limit: string
  readonly measured: string
  /** Measured rate at A and B; undefined: not compared. */
  readonly compared: Compared | undefined
  /** Measured as a share of the limit, 0..1; null without a limit. */
  readonly used: number | null
  readonly usedText: string
  /** Share of operations that waited; null if unknown. */
  readonly waited: number | null
  readonly waitedText: string
  readonly wait: string
  readonly queued: string
  readonly spark: readonly (number | null)[]
  /** Service of a rule; empty for a channel. */
  readonly service: string
  readonly expressions: readonly Expression[]
}

/** Formats a mean wait: tenths below 10 ms, seconds from 10 s on. */
export function waitText(ms: number | null): string {
  if (ms === null) return NOTHING
  return ms >= 10_000 ? `${formatNumber(ms / 1000, 1)} s` : `${formatNumber(ms, ms < 10 ? 1 : 0)} ms`
}

export function channelRows({
  channels,
  compiled,
  plane,
}: Pick<MetadataFrame, 'channels' | 'compiled' | 'plane'>): ChannelRow[] {
  const isRules = plane === 'mds'
  const byName = Map.groupBy(compiled, ({ name }) => name)
  return channels.key.map((key, i) => {
    const limit = channels.limit[i] ?? null
    const measured = channels.measured[i] ?? null
    const used = limit === null || measured === null || limit <= 0 ? null : measured / limit
    const name = channels.channel[i] ?? ''
    const waited = channels.waited[i] ?? null
    const rules = isRules ? (byName.get(name) ?? []) : []
    // Rule names are unique on one service of one server, which the key contains.
    const words = new Set(key.split(/[\s/]+/))
    const rule = rules.find(({ service }) => service.split(' ').every((word) => words.has(word))) ?? rules[0]
    return {
      key,
      channel: plainText(name),
      scope: plainText(channels.scope[i] ?? ''),
      operations: plainText(channels.operations[i] ?? ''),
      unit: perSecond(channels.scope[i] ?? ''),
      asked: formatNumber(channels.asked[i] ?? null),
      limit: formatNumber(limit),
      measured: formatNumber(measured),
      compared: channels.against && comparedValue(channels.against.measured[i] ?? null, measured, formatNumber, 1),
      used,
      usedText: formatPercent(used),
      waited,
      waitedText: formatPercent(waited),
      wait: waitText(channels.waitMs[i] ?? null),
      queued: formatNumber(channels.queued[i] ?? null),
      spark: channels.spark[i] ?? [],
      service: rule?.service ?? '',
      expressions: rule?.expressions ?? [],
    }
  })
}

/** Formats the refill interval: `refill 10 ms` if all channels have the same, else a range; empty if none is known. */
export function refillText(refillMs: readonly (number | null)[]): string {
  const known = refillMs.filter((v) => v !== null)
  if (known.length === 0) return ''
  const low = Math.min(...known)
  const high = Math.max(...known)
  return low === high ? `refill ${formatNumber(low)} ms` : `refill ${formatNumber(low)}\u2013${formatNumber(high)} ms`
}
