/** Control hierarchy of PADLL's stages as rows: the global controller, its local controllers, their stages. */
import type { MetadataFrame } from '#core/api/padll.ts'
import { isSuperseded, type PadllStatus } from '#core/padll/status.ts'
import type { JobColors } from '#core/series/job-colors.ts'
import { emptyTree } from './empty.ts'
import type { StagesFound } from './filter.ts'
import { about } from './scope.ts'

type Local = PadllStatus['locals'][number]
export type Stage = Local['stages'][number]
type Channel = Stage['channels'][number]
type Tree = MetadataFrame['tree']
type Level = Tree['level'][number]

/** Most stages sent of one local controller, and most rows in all. */
const STAGES_MAX = 64
const ROWS_MAX = 600

export const localKey = (l: Pick<Local, 'id'>): string => `local:${l.id}`
export const stageKey = (l: Pick<Local, 'id'>, s: Pick<Stage, 'key'>): string => `stage:${l.id}/${s.key}`

const sum = <T>(list: readonly T[], of: (t: T) => number): number => list.reduce((n, x) => n + of(x), 0)

/** Sum of limits; null if there is none. */
export function sumOfLimits(list: readonly { readonly limit: number | null }[]): number | null {
  const known = list.filter((c) => c.limit !== null)
  return known.length === 0 ? null : sum(known, (c) => c.limit ?? 0)
}

interface Health {
  readonly level: Level
  readonly why: string
}

const FINE: Health = { level: 'ok', why: '' }

const OVERRULED: Health = { level: 'unknown', why: 'another controller commands it: no newer status' }

function stageHealth(l: Local, s: Stage, channels: readonly Channel[], status: PadllStatus): Health {
  if (l.state === 'lost') return { level: 'unknown', why: 'unreachable: its rate stays reserved' }
  if (l.state === 'silent') {
    return status.lease.onExpiry === 'hold'
      ? { level: 'unknown', why: 'its controller is silent: the last rates apply' }
      : { level: 'unknown', why: 'its controller is silent: the lease rate applies' }
  }
  if (s.state === 'silent') return { level: 'bad', why: 'it does not answer' }
  if (s.state === 'joining') return { level: 'watch', why: 'joining: not limited yet' }
  const queued = sum(channels, (c) => c.queued)
  if (queued > 0) return { level: 'watch', why: `at its limit, ${queued} waiting` }
  if (channels.some((c) => c.waited > 0)) return { level: 'watch', why: 'at its limit' }
  return channels.every((c) => c.arrived === 0 && c.served === 0) ? { level: 'idle', why: 'idle' } : FINE
}

function localHealth(l: Local, atMs: number): Health {
  if (l.state === 'ok') return l.stages.length === 0 ? { level: 'idle', why: 'no stage' } : FINE
  if (l.state === 'lost') return { level: 'bad', why: 'lost: the rate of its stages stays reserved' }
  return { level: 'bad', why: `silent for ${Math.max(0, Math.round((atMs - l.lastSeenMs) / 1000))} s` }
}

interface Row {
  readonly key: string
  readonly kind: Tree['kind'][number]
  readonly depth: number
  readonly name: string
  readonly jobId?: string
  readonly measured: number | null
  readonly limit: number | null
  readonly health: Health
  readonly more?: number
}

/**
 * @param failure  reason why the global controller does not answer, at present.
 * @param found    stages that are shown if a filter hides others; totals are not filtered.
 */
export function stageTree(
  status: PadllStatus,
  {
    scope,
    limit,
    failure,
    found,
  }: { scope: string; limit: number | null; failure: string | undefined; found?: StagesFound | undefined },
  jobColors: JobColors,
): Tree {
  const tree = emptyTree()
  const add = (r: Row): void => {
    tree.key.push(r.key)
    tree.kind.push(r.kind)
    tree.depth.push(r.depth)
    tree.name.push(r.name)
    tree.jobId.push(r.jobId ?? '')
    tree.colour.push(jobColors.of(r.jobId ?? ''))
    tree.measured.push(r.measured)
    tree.limit.push(r.limit)
    tree.level.push(r.health.level)
    tree.why.push(r.health.why)
    tree.more.push(r.more ?? 0)
  }
  const isFrozen = isSuperseded(status)
  const locals = status.locals.map((l) => {
    const stages = l.stages.map((s) => ({ s, channels: about(s.channels, scope) }))
    const channels = stages.flatMap((x) => x.channels)
    const isKnown = l.state === 'ok' && !isFrozen
    return { l, stages, channels, isKnown, measured: isKnown ? sum(channels, (c) => c.served) : null }
  })
  const why = failure ?? (isFrozen ? 'another controller has taken over' : undefined)
  add({
    key: 'global',
    kind: 'global',
    depth: 0,
    name: status.controller,
    measured: locals.length > 0 && !locals.some((x) => x.isKnown) ? null : sum(locals, (x) => x.measured ?? 0),
    limit,
    health: why === undefined ? FINE : { level: 'bad', why },
  })
  for (const { l, stages, channels, isKnown, measured } of locals) {
    if (tree.key.length >= ROWS_MAX) break
    const passing = found ? stages.filter(({ s }) => found.stages.has(s)) : stages
    if (found && passing.length === 0) continue
    const shown = passing.slice(0, Math.min(STAGES_MAX, ROWS_MAX - tree.key.length - 1))
    add({
      key: localKey(l),
      kind: 'local',
      depth: 1,
      name: l.hostname,
      measured,
      limit: sumOfLimits(channels),
      health: isFrozen ? OVERRULED : localHealth(l, status.atMs),
      more: passing.length - shown.length,
    })
    for (const { s, channels: own } of shown) {
      add({
        key: stageKey(l, s),
        kind: 'stage',
        depth: 2,
        name: `${s.job} · ${s.instance}`,
        jobId: s.job,
        measured: isKnown && s.state !== 'silent' ? sum(own, (c) => c.served) : null,
        limit: sumOfLimits(own),
        health: isFrozen ? OVERRULED : stageHealth(l, s, own, status),
      })
    }
  }
  return tree
}
