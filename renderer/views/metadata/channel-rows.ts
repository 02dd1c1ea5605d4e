/** Channels of the stages, or rules of a metadata server, as rows of text. */
import type { Expression } from '#core/api/frames.ts'
import type { MetadataFrame } from '#core/api/padll.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatPercent, NOTHING } from '../../format/units.ts'
import { perSecond } from './op-unit.ts'

export interface ChannelRow {
  readonly key: string
  readonly channel: string
  readonly scope: string
  readonly operations: string
  /** What its figures count. */
  readonly unit: 'op/s' | 'B/s'
  readonly asked: string
  readonly limit: string
  readonly measured: string
  /** Of the limit, 0..1; null without a limit. */
  readonly used: number | null
  readonly usedText: string
  /** Share of operations that waited; null where nobody tells. */
  readonly waited: number | null
  readonly waitedText: string
  readonly wait: string
  readonly queued: string
  readonly spark: readonly (number | null)[]
  /** Of a rule: its service and its condition. */
  readonly service: string
  readonly expressions: readonly Expression[]
}

/** Mean wait: tenths below ten ms, seconds from ten of them on. */
export function waitWords(ms: number | null): string {
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
    const [limit, measured] = [channels.limit[i] ?? null, channels.measured[i] ?? null]
    const used = limit === null || measured === null || limit <= 0 ? null : measured / limit
    const name = channels.channel[i] ?? ''
    const waited = channels.waited[i] ?? null
    const rules = isRules ? (byName.get(name) ?? []) : []
    // A name is a rule's own on one service of one server, which the key names, too.
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
      used,
      usedText: formatPercent(used),
      waited,
      waitedText: formatPercent(waited),
      wait: waitWords(channels.waitMs[i] ?? null),
      queued: formatNumber(channels.queued[i] ?? null),
      spark: channels.spark[i] ?? [],
      service: rule?.service ?? '',
      expressions: rule?.expressions ?? [],
    }
  })
}

/** `refill 10 ms` where all channels have one; a range else; empty where there is none. */
export function refillWords(refillMs: readonly (number | null)[]): string {
  const known = refillMs.filter((v) => v !== null)
  if (known.length === 0) return ''
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return low === high ? `refill ${formatNumber(low)} ms` : `refill ${formatNumber(low)}\u2013${formatNumber(high)} ms`
}
