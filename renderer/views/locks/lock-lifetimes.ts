/** Lock lifetimes as objects, from the host's columns, and their phase and mode at a time. */
import type { LocksFrame } from '#core/api/locks.ts'
import type { Token } from '../../theme/palette.ts'

type Resource = NonNullable<LocksFrame['resource']>
export type LockMode = Resource['lives']['mode'][number]
export const lockModes: readonly LockMode[] = ['PR', 'NBW', 'BW', 'PW']
export const modeInk: Readonly<Record<LockMode, Token>> = { PR: 'ink-4', NBW: 'ink-3', BW: 'ink-1', PW: 'ink-6' }
export const modeVar = (mode: LockMode): string => `var(--${modeInk[mode]})`

/** Lock or request that blocks a request, and the step of it that ends the block. */
export interface Obstacle {
  readonly id: number
  readonly until: 'canceling' | 'release'
}

/** Lifetime of a lock from request to end. Times are ms from the start of the range; null: not yet. */
export interface Life {
  readonly id: number
  /** Number of the client node. */
  readonly client: number
  readonly name: string
  readonly jobId: string
  readonly requested: number
  readonly granted: number | null
  readonly canceling: number | null
  readonly ended: number | null
  readonly dataAt: number | null
  readonly requestedMode: LockMode
  /** Granted mode; differs from the requested one after an upgrade. */
  readonly mode: LockMode
  readonly downgradedAt: number | null
  readonly downgradedTo: LockMode | null
  readonly sn: number | null
  readonly minSn: number | null
  readonly start: number
  /** Inclusive; null is the end of the file. */
  readonly requiredEnd: number | null
  readonly end: number | null
  readonly isEarlyGrant: boolean
  readonly isEarlyRevocation: boolean
  readonly dirtyBytes: number
  readonly bytes: number
  readonly behind: readonly Obstacle[]
  readonly rule: string
  readonly ending: string
}

export function livesOf({ lives, clients }: Pick<Resource, 'lives' | 'clients'>): Life[] {
  const known = new Map(clients.map((client) => [client.number, client]))
  return lives.id.map((id, i) => {
    const client = lives.client[i] ?? 0
    const requestedMode = lives.askedMode[i] ?? 'PR'
    return {
      id,
      client,
      name: known.get(client)?.name ?? `#${client}`,
      jobId: known.get(client)?.jobId ?? '',
      requested: lives.asked[i] ?? 0,
      granted: lives.granted[i] ?? null,
      canceling: lives.canceling[i] ?? null,
      ended: lives.released[i] ?? null,
      dataAt: lives.dataAt[i] ?? null,
      requestedMode,
      mode: lives.mode[i] ?? requestedMode,
      downgradedAt: lives.downgradedAt[i] ?? null,
      downgradedTo: lives.downgradedTo[i] ?? null,
      sn: lives.sn[i] ?? null,
      minSn: lives.minSn[i] ?? null,
      start: lives.start[i] ?? 0,
      requiredEnd: lives.requiredEnd[i] ?? null,
      end: lives.end[i] ?? null,
      isEarlyGrant: lives.isEarlyGrant[i] ?? false,
      isEarlyRevocation: lives.isEarlyRevocation[i] ?? false,
      dirtyBytes: lives.dirtyBytes[i] ?? 0,
      bytes: lives.bytes[i] ?? 0,
      behind: (lives.behind[i] ?? []).map((obstacle, k) => ({
        id: obstacle,
        until: lives.behindUntil[i]?.[k] ?? ('release' as const),
      })),
      rule: lives.rule[i] ?? '',
      ending: lives.ending[i] ?? '',
    }
  })
}

export type Phase = 'future' | 'waiting' | 'granted' | 'canceling' | 'gone'

/** Half a microsecond, in ms: precision of a time that was converted to Unix ms. */
export const NEAR_MS = 0.0005
const isPast = (step: number | null, t: number): step is number => step !== null && step <= t + NEAR_MS

/** @param t  ms from the start of the range. A step at `t` has happened. */
export function phaseAt(life: Life, t: number): Phase {
  if (!isPast(life.requested, t)) return 'future'
  if (isPast(life.ended, t)) return 'gone'
  if (!isPast(life.granted, t)) return 'waiting'
  return isPast(life.canceling, t) ? 'canceling' : 'granted'
}

/** Mode at a time: requested before the grant, then granted, then downgraded. */
export function modeAt(life: Life, t: number): LockMode {
  if (!isPast(life.granted, t)) return life.requestedMode
  return isPast(life.downgradedAt, t) ? (life.downgradedTo ?? life.mode) : life.mode
}

/** Formats the byte range of a lock: `0 .. 65 535`, `4 096 .. EOF`. */
export function rangeText(start: number, end: number | null): string {
  const spaced = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, '\u202F')
  return `${spaced(start)} .. ${end === null ? 'EOF' : spaced(end)}`
}
