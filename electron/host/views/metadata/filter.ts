/**
 * Filter of metadata QoS: `job:train op:open limit>1k is:waiting`. Evaluated per channel of each stage, or per rule of
 * the metadata servers: the tree shows stages with a match, the table sums the matches, their jobs are listed. Totals
 * are not filtered.
 */
import type { MetadataFrame } from '#core/api/padll.ts'
import type { PadllStatus } from '#core/padll/status.ts'
import type { MetadataRule, MetadataState } from '../../../cluster/metadata/state.ts'
import { readFilter, type FilterFields } from '../../row-filter.ts'
import { operationsOf } from './scope.ts'

type Local = PadllStatus['locals'][number]
type Stage = Local['stages'][number]
type Channel = Stage['channels'][number]

/** Fields of a channel or a rule that filter terms can use. */
export interface ChannelRow {
  readonly job: string
  /** `job · instance` of a stage, name of a rule. */
  readonly name: string
  readonly server: string
  readonly channel: string
  readonly scopes: readonly string[]
  readonly operations: string
  readonly limit: number | null
  readonly measured: number | null
  readonly asked: number | null
  readonly queued: number | null
  /** Share of the operations that waited, 0..1. */
  readonly waited: number | null
  readonly isWaiting: boolean
  readonly isSilent: boolean
}

const CHANNEL_FIELDS: FilterFields<ChannelRow> = {
  word: (r) => [r.job, r.name, r.server, ...r.scopes, r.operations],
  text: {
    job: (r) => [r.job],
    stage: (r) => [r.name],
    server: (r) => [r.server],
    channel: (r) => [r.channel],
    scope: (r) => r.scopes,
    op: (r) => [...r.scopes, r.operations],
  },
  number: {
    limit: (r) => r.limit,
    measured: (r) => r.measured,
    asked: (r) => r.asked,
    queued: (r) => r.queued,
    waited: (r) => (r.waited === null ? null : r.waited * 100),
  },
  state: {
    waiting: (r) => r.isWaiting,
    limited: (r) => r.limit !== null,
    idle: (r) => r.measured === 0 && (r.asked ?? 0) === 0,
    silent: (r) => r.isSilent,
  },
}

/** Test of a filter; undefined if it is empty or invalid. */
export function channelTest(filter: string | undefined): {
  readonly test: ((row: ChannelRow) => boolean) | undefined
  readonly filterResult: Pick<MetadataFrame, 'filterError'>
} {
  const { test, error } = readFilter(filter, CHANNEL_FIELDS)
  return { test, filterResult: error }
}

/** Matches among the stages. */
export interface StagesFound {
  readonly stages: ReadonlySet<Stage>
  readonly channels: ReadonlySet<Channel>
  readonly jobs: ReadonlySet<string>
}
/** Matches among the rules. */
export interface RulesFound {
  readonly rules: ReadonlySet<MetadataRule>
  readonly jobs: ReadonlySet<string>
}
/** found: undefined if nothing is hidden. */
export interface Found<F> {
  readonly found: F | undefined
  readonly filterResult: Pick<MetadataFrame, 'filtered' | 'filterError'>
}

/** A stage without a channel yet is matched by its names alone. */
function stageRow(l: Local, s: Stage, c: Channel | undefined): ChannelRow {
  const isSilent = l.state !== 'ok' || s.state === 'silent'
  return {
    job: s.job,
    name: `${s.job} · ${s.instance}`,
    server: l.hostname,
    isSilent,
    channel: c ? String(c.channel) : '',
    scopes: c ? [c.scope] : [],
    operations: c ? operationsOf(c.scope) : '',
    limit: c?.limit ?? null,
    measured: c?.served ?? null,
    asked: c?.arrived ?? null,
    queued: c?.queued ?? null,
    waited: c?.waited ?? null,
    isWaiting: c !== undefined && (c.queued > 0 || c.waited > 0),
  }
}

export function stagesFound(status: PadllStatus, filter: string | undefined): Found<StagesFound> {
  const { test, error } = readFilter(filter, CHANNEL_FIELDS)
  if (!test) return { found: undefined, filterResult: error }
  const stages = new Set<Stage>()
  const channels = new Set<Channel>()
  const jobs = new Set<string>()
  let of = 0
  for (const l of status.locals) {
    of += l.stages.length
    for (const s of l.stages) {
      const passing = s.channels.filter((c) => test(stageRow(l, s, c)))
      for (const c of passing) channels.add(c)
      if (passing.length === 0 && !(s.channels.length === 0 && test(stageRow(l, s, undefined)))) continue
      stages.add(s)
      jobs.add(s.job)
    }
  }
  return {
    found: { stages, channels, jobs },
    filterResult: { filtered: { filter: filter ?? '', passing: stages.size, of } },
  }
}

const ruleRow = (r: MetadataRule, isSilent: boolean): ChannelRow => ({
  job: r.job,
  name: r.name,
  server: r.host,
  channel: r.name,
  scopes: r.scopes,
  operations: `${r.operations} ${r.conditions}`,
  limit: r.limit,
  measured: r.measured,
  asked: null,
  queued: null,
  waited: null,
  isWaiting: r.atLimit,
  isSilent,
})
/** Row of a job without a rule. */
const freeRow = (job: string, measured: number | null): ChannelRow => ({
  job,
  name: '',
  server: '',
  channel: '',
  scopes: [],
  operations: '',
  limit: null,
  measured,
  asked: null,
  queued: null,
  waited: null,
  isWaiting: false,
  isSilent: false,
})

/** @param scope  shown scope, whose rules are counted. */
export function rulesFound(state: MetadataState, scope: string, filter: string | undefined): Found<RulesFound> {
  const { test, error } = readFilter(filter, CHANNEL_FIELDS)
  if (!test) return { found: undefined, filterResult: error }
  const all = state.servers.flatMap((s) => s.rules.map((r) => ({ r, isSilent: s.state === 'silent' })))
  const rules = new Set(all.filter(({ r, isSilent }) => test(ruleRow(r, isSilent))).map(({ r }) => r))
  const held = new Set(all.map(({ r }) => r.job))
  const inScope = (list: readonly MetadataRule[]): number =>
    list.filter((r) => r.scopes.some((s) => s === scope)).length
  const free = state.jobs.filter((j) => !held.has(j.job) && test(freeRow(j.job, j.measured)))
  return {
    found: { rules, jobs: new Set([...[...rules].map((r) => r.job), ...free.map((j) => j.job)]) },
    filterResult: {
      filtered: { filter: filter ?? '', passing: inScope([...rules]), of: inScope(all.map(({ r }) => r)) },
    },
  }
}
