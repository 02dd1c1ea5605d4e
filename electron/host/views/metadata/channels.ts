/** Channels of the selection in the hierarchy: those of one stage, or sums over several by channel number. */
import type { MetadataFrame } from '#core/api/padll.ts'
import type { PadllStatus } from '#core/padll/status.ts'
import { channelSeries, type PadllSeries } from '../../../cluster/metadata/padll-series.ts'
import { emptyChannels } from './empty.ts'
import type { StagesFound } from './filter.ts'
import { operationsOf } from './scope.ts'
import { localKey, stageKey, sumOfLimits, type Stage } from './tree.ts'

type Channel = Stage['channels'][number]
type Channels = MetadataFrame['channels']

const SPARK_POINTS = 60
const SPARK_MS = 300_000
/** Most rows of the table, and most series summed for one sparkline. */
const ROWS_MAX = 200
const ADDED_MAX = 200

interface Found {
  readonly local: string
  readonly stage: Stage
}

/** Stages of a selection, and its title; all stages if the selection does not exist (any more). */
function select(status: PadllStatus, selected: string): { of: string; stages: Found[] } {
  const all: Found[] = status.locals.flatMap((l) =>
    l.state === 'lost' ? [] : l.stages.map((stage) => ({ local: l.id, stage })),
  )
  const whole = { of: '', stages: all }
  const count = (n: number): string => `${n} ${n === 1 ? 'stage' : 'stages'}`
  if (selected.startsWith('job:')) {
    const job = selected.slice(4)
    const stages = all.filter((f) => f.stage.job === job)
    return stages.length === 0 ? whole : { of: `${job}, ${count(stages.length)}`, stages }
  }
  const local = status.locals.find((l) => localKey(l) === selected)
  if (local) {
    const stages = all.filter((f) => f.local === local.id)
    return { of: `${local.hostname}, ${count(stages.length)}`, stages }
  }
  const one = all.find((f) => stageKey({ id: f.local }, f.stage) === selected)
  return one ? { of: `${one.stage.job} · ${one.stage.instance} on ${one.stage.hostname}`, stages: [one] } : whole
}

/** Mean weighted by served operations; null if nothing was served. */
function weighted(list: readonly Channel[], of: (c: Channel) => number): number | null {
  const served = list.reduce((n, c) => n + c.served, 0)
  return served === 0 ? null : list.reduce((n, c) => n + of(c) * c.served, 0) / served
}

const sum = (list: readonly Channel[], of: (c: Channel) => number): number => list.reduce((n, c) => n + of(c), 0)

/** Common value of all, else null. */
function common(values: readonly (number | null)[]): number | null {
  const [first] = values
  return first !== undefined && values.every((v) => v === first) ? first : null
}

function spark(series: PadllSeries, names: readonly string[], atMs: number): (number | null)[] {
  const { channels } = series
  const to = upTo(channels, atMs)
  if (to < channels.oldest || channels.newest === 0) return []
  const { from, step } = channels.window(to, SPARK_MS, SPARK_POINTS)
  const all = names.slice(0, ADDED_MAX).map((n) => channels.downsample(n, 0, from, to, step))
  return (all[0] ?? []).map((_, k) => {
    const there = all.flatMap((one) => one[k] ?? [])
    return there.length === 0 ? null : there.reduce((n, v) => n + v, 0)
  })
}

/** Newest sample of a table at or before an instant. */
export function upTo(
  table: { newest: number; atMs(s: number): number; sampleAt(ms: number): number },
  atMs: number,
): number {
  const at = table.sampleAt(atMs)
  return table.atMs(at) > atMs ? at - 1 : at
}

/** @param found  channels to sum if a filter hides others. */
export function stageChannels(
  status: PadllStatus,
  series: PadllSeries,
  { selected, found }: { readonly selected: string; readonly found?: StagesFound | undefined },
  atMs: number,
): Channels {
  const { of, stages } = select(status, selected)
  const out = emptyChannels(of)
  const groups = new Map<string, { channels: Channel[]; names: string[] }>()
  for (const { local, stage } of stages) {
    for (const c of stage.channels) {
      if (found && !found.channels.has(c)) continue
      const key = `${c.channel}.${c.object} ${c.scope}`
      let group = groups.get(key)
      if (!group) {
        if (groups.size >= ROWS_MAX) continue
        groups.set(key, (group = { channels: [], names: [] }))
      }
      group.channels.push(c)
      group.names.push(channelSeries(local, stage.key, c.channel, c.object))
    }
  }
  const ordered = [...groups].sort(([, a], [, b]) => order(a.channels[0]) - order(b.channels[0]))
  for (const [key, { channels, names }] of ordered) {
    const [first] = channels
    if (!first) continue
    out.key.push(key)
    out.channel.push(String(first.channel))
    out.scope.push(first.scope)
    out.operations.push(operationsOf(first.scope))
    out.asked.push(sum(channels, (c) => c.arrived))
    out.limit.push(sumOfLimits(channels))
    out.measured.push(sum(channels, (c) => c.served))
    out.waited.push(weighted(channels, (c) => c.waited))
    out.waitMs.push(weighted(channels, (c) => c.waitMs))
    out.queued.push(sum(channels, (c) => c.queued))
    out.refillMs.push(common(channels.map((c) => c.refillMs)))
    out.spark.push(spark(series, names, atMs))
  }
  return out
}

const order = (c: Channel | undefined): number => (c ? c.channel * 1000 + c.object : 0)
